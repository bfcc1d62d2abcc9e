package js

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/dop251/goja"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/js/exact"
	"github.com/weft-run/weft/internal/expression/js/mend"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// maxCalls bounds the depth of calls in a script.
const maxCalls = 1500

// scriptRun is one evaluation of a script. Its machine is made for it and
// thrown away after it, so nothing can pass from one evaluation to another.
type scriptRun struct {
	script     *script
	scope      engine.Scope
	vm         *goja.Runtime
	limits     engine.Limits
	calls      map[string]goja.Value // host functions that were looked up
	read       map[string]*borrowed  // variables that hold lists or objects
	inputs     map[string]goja.Value
	exact      exact.Numbers
	add        goja.Callable // a + b
	descriptor goja.Callable // Object.getOwnPropertyDescriptor, the builtin
	watcher    *watcher
	causes     map[*goja.Object]error // of errors that are thrown
	fully      bool                   // every builtin is hardened
	patterns   bool                   // regular expressions are
}

// borrowed is the script's copy of a variable, and what the variable held when
// the copy was made.
type borrowed struct {
	value goja.Value
	was   any
}

func newScriptRun(s *script, scope engine.Scope) *scriptRun {
	x := &scriptRun{script: s, scope: scope, vm: goja.New(), limits: evaluation.Limits(scope.Limits())}
	x.vm.SetMaxCallStackSize(maxCalls)
	x.vm.SetTimeSource(scope.Now)
	x.vm.SetRandSource(x.random())
	_ = x.vm.GlobalObject().SetPrototype(x.vm.NewDynamicObject(globals{x}))
	return x
}

// random gives Math.random's source, seeded at its first use with an id of the
// burst: a repeated burst draws the same numbers.
func (x *scriptRun) random() goja.RandSource {
	var r *rand.Rand
	return func() float64 {
		if r == nil {
			h := fnv.New64a()
			_, _ = h.Write([]byte(x.scope.NewID()))
			r = rand.New(rand.NewPCG(h.Sum64(), 0)) // repeatable; it keeps no secret
		}
		return r.Float64()
	}
}

func (x *scriptRun) eval() (any, error) {
	if !x.script.plain {
		x.harden()
	}
	result, err := x.vm.RunProgram(x.script.program)
	if err == nil {
		var v any
		if caught := x.vm.Try(func() {
			v, err = x.out(result)
			if err == nil {
				err = x.giveBack()
			}
		}); caught != nil {
			err = caught
		}
		if err == nil {
			return v, nil
		}
	}
	return nil, x.problem(err)
}

// giveBack writes the variables whose content the script changed in place.
func (x *scriptRun) giveBack() error {
	names := make([]string, 0, len(x.read))
	for n := range x.read {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		b := x.read[n]
		v, err := x.out(b.value)
		if err != nil {
			return fmt.Errorf("variable %s: %w", n, err)
		}
		if reflect.DeepEqual(v, b.was) {
			continue
		}
		if err := x.scope.SetVariable(n, v); err != nil {
			return err
		}
	}
	return nil
}

// problem describes what ended the script. It may run code of the script, such
// as the toString of what was thrown, so it runs under the limits too.
func (x *scriptRun) problem(err error) error {
	var known *evaluation.Error
	if errors.As(err, &known) {
		return known
	}
	var (
		interrupted *goja.InterruptedError
		overflow    *goja.StackOverflowError
		thrown      *goja.Exception
		stack       []goja.StackFrame
		message     string
		cause       error
	)
	switch {
	case errors.As(err, &interrupted):
		cause, _ = interrupted.Value().(error)
		stack = interrupted.Stack()
	case errors.As(err, &overflow):
		cause, stack = fmt.Errorf("too many calls within calls: %w", evaluation.ErrDepth), overflow.Stack()
	case errors.As(err, &thrown):
		if cause, stack = x.cause(thrown), thrown.Stack(); errors.As(cause, &known) {
			return known
		}
		message = x.thrown(thrown)
	default:
		cause = err
	}
	if message == "" {
		message = "it was stopped"
		if cause != nil {
			message = cause.Error()
		}
	}
	for _, f := range stack {
		if p := f.Position(); p.Line > 0 {
			return x.script.at(p.Line, p.Column, message, cause)
		}
	}
	return &evaluation.Error{Kind: "JavaScript", Source: evaluation.Excerpt(x.script.source), Message: message, Err: cause}
}

// cause is what an error that was thrown stands for, nil if it is the script's own.
func (x *scriptRun) cause(e *goja.Exception) error {
	if o, ok := e.Value().(*goja.Object); ok && x.causes[o] != nil {
		return x.causes[o]
	}
	return e.Unwrap()
}

// thrown gives the message of a thrown value.
func (x *scriptRun) thrown(e *goja.Exception) (message string) {
	message = "it threw a value that has no text"
	_ = x.vm.Try(func() {
		v := e.Value()
		if o, ok := v.(*goja.Object); ok {
			if m := o.Get("message"); m != nil && !goja.IsUndefined(m) {
				name := ""
				if n := o.Get("name"); x.causes[o] == nil && n != nil && !goja.IsUndefined(n) && n.String() != "Error" && n.String() != "GoError" {
					name = n.String() + ": "
				}
				message = workflow.CutBytes(name+mend.Words(m.String()), 2000)
				return
			}
		}
		if v != nil {
			message = workflow.CutBytes(mend.Words(v.String()), 2000)
		}
	})
	return message
}
