package js

import (
	"context"
	"errors"

	"reflect"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/js/check"
	"github.com/weft-run/weft/internal/expression/js/mend"
	"github.com/weft-run/weft/internal/expression/js/rewrite"
	"github.com/weft-run/weft/internal/expression/turns"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

var _ engine.Evaluator = Evaluator{}

// Evaluator evaluates scripts with goja, each in a virtual machine of its own.
type Evaluator struct{}

// Kinds implements [engine.Evaluator].
func (Evaluator) Kinds() []string { return []string{workflow.JavaScript} }

// Compile parses the script. Its value is its completion value; a script that
// has a return at its top is the body of a function, whose result counts.
func (Evaluator) Compile(e workflow.Expression) (engine.Compiled, error) {
	source, err := evaluation.Source(e)
	if err != nil {
		return nil, err
	}
	s := &script{source: source, secrets: secretsIn(source)}
	if at, deep := evaluation.TooDeep(source); deep {
		return nil, s.problem(at, evaluation.ErrDepth.Error(), evaluation.ErrDepth)
	}
	if at, err := rewrite.Reread(source); err != nil {
		return nil, s.problem(at, err.Error(), err)
	}
	if len(source) > quickSource {
		var slow atomic.Bool
		u, err := turns.Take(context.Background(), "", turns.Long, &slow) // those before it end by their limits
		if err != nil {
			return nil, err
		}
		began := time.Now()
		defer func() { u.Done(time.Since(began)) }()
	}
	if err := s.compile(); err != nil {
		return nil, err
	}
	return s, nil
}

// script is a compiled script, shared by all its evaluations.
type script struct {
	source  string
	program *goja.Program
	wrapped int             // bytes that were put before line 1
	plain   bool            // it needs no hardening
	names   map[string]bool // of builtins, that it mentions
	pattern bool            // it has a regular expression
	rest    bool            // it has a pattern that takes the rest of an object
	secrets []string        // that it names
	slow    atomic.Bool     // its last evaluation was long
}

// quickSource is how many bytes of a script are compiled without a turn.
const quickSource = 8 << 10

func (s *script) compile() (err error) {
	defer func() {
		if r := recover(); r != nil { // a bug of the library must not end the node
			err = &evaluation.Error{Kind: workflow.JavaScript, Source: evaluation.Excerpt(s.source), Message: "this cannot be read: the parser of scripts failed here"}
		}
	}()
	tree, err := rewrite.Parse(s.source)
	if err != nil && rewrite.IsReturn(err) {
		s.wrapped = len(rewrite.WrapHead)
		tree, err = rewrite.Parse(rewrite.WrapHead + s.source + rewrite.WrapTail)
	}
	if err != nil {
		return s.syntax(err)
	}
	w := rewrite.Rewriter{Seen: map[any]bool{}}
	w.Walk(reflect.ValueOf(tree))
	if strings.Contains(s.source, "function") {
		w.Blocks(tree)
	}
	if r := w.Refused; r != nil {
		p := tree.File.Position(int(r.At) - 1)
		return s.at(p.Line, p.Column, r.Message, r.Cause)
	}
	s.plain, s.names, s.pattern, s.rest = !w.Fancy, w.Names, w.Pattern, w.Rest
	if s.program, err = goja.CompileAST(tree, false); err != nil {
		return s.syntax(err)
	}
	return nil
}

// syntax gives the first error of the parser or the compiler with its place.
func (s *script) syntax(err error) error {
	var list parser.ErrorList
	if errors.As(err, &list) && len(list) > 0 {
		return s.at(list[0].Position.Line, list[0].Position.Column, mend.Words(list[0].Message), nil)
	}
	var ce *goja.CompilerSyntaxError
	if errors.As(err, &ce) && ce.File != nil {
		p := ce.File.Position(ce.Offset)
		return s.at(p.Line, p.Column, mend.Words(ce.Message), nil)
	}
	return &evaluation.Error{Kind: workflow.JavaScript, Source: evaluation.Excerpt(s.source), Message: mend.Words(err.Error())}
}

// at makes an error for a place in the program that was compiled.
func (s *script) at(line, column int, message string, cause error) *evaluation.Error {
	if line == 1 {
		column = max(column-s.wrapped, 1)
	}
	if last := strings.Count(s.source, "\n") + 1; line > last { // within wrapTail
		line, column = last, len(evaluation.NthLine(s.source, last))+1
	}
	return &evaluation.Error{Kind: workflow.JavaScript, Source: evaluation.NthLine(s.source, line), Line: line, Column: column, Message: message, Err: cause}
}

func (s *script) problem(offset int, message string, cause error) *evaluation.Error {
	e := &evaluation.Error{Kind: workflow.JavaScript, Message: message, Err: cause}
	e.Line, e.Column, e.Source = evaluation.LineAt(s.source, offset)
	return e
}

// Secrets names what the script reads, as far as it shows.
func (s *script) Secrets() []string { return s.secrets }

// Eval implements [engine.Compiled]. A script that was ended for memory that
// another may have taken, or for time where it is not known whose it was, runs
// once more without any other beside it, unless it has changed something already.
func (s *script) Eval(ctx context.Context, scope engine.Scope) (any, error) {
	noted := &effects{Scope: scope}
	v, shared, err := s.attempt(ctx, noted, turns.Quick)
	unclear := errors.Is(err, evaluation.ErrMemory) || errors.Is(err, errMatch) || errors.Is(err, evaluation.ErrTime) && !turns.OwnTime
	if shared && unclear && !noted.any {
		v, _, err = s.attempt(ctx, noted, turns.Alone)
	}
	return v, err
}

// attempt runs the script once, in its turn; shared tells whether others ran
// at the same time.
func (s *script) attempt(ctx context.Context, scope engine.Scope, k turns.Kind) (v any, shared bool, err error) {
	if ctx.Err() != nil {
		return nil, false, s.stopped(evaluation.Ended(ctx))
	}
	u, err := turns.Take(ctx, scope.DefinitionID(), k, &s.slow)
	if err != nil {
		return nil, false, s.stopped(err)
	}
	runtime.LockOSThread() // so that its time is the thread's
	defer runtime.UnlockOSThread()
	x := newScriptRun(s, scope)
	x.watcher = watch(ctx, x.vm, u, x.limits.Script)
	defer func() {
		x.watcher.stop()
		if r := recover(); r != nil {
			if stopped, ok := r.(error); ok && isInterrupt(stopped) {
				v, err = nil, x.problem(stopped)
			} else {
				v, err = nil, &evaluation.Error{Kind: workflow.JavaScript, Source: evaluation.Excerpt(s.source), Message: "this cannot be evaluated: the machine that runs scripts failed here"}
			}
		}
		shared = err != nil && u.Shared()
		u.Done(x.watcher.spent.Read())
	}()
	v, err = x.eval()
	return v, false, err
}

func (s *script) stopped(err error) *evaluation.Error {
	return &evaluation.Error{Kind: workflow.JavaScript, Source: evaluation.Excerpt(s.source), Message: "the evaluation was stopped", Err: err}
}

// effects is a scope that notes whether anything was changed.
type effects struct {
	engine.Scope
	any bool
}

func (e *effects) SetVariable(name string, v any) error {
	e.any = true
	return e.Scope.SetVariable(name, v)
}

func (e *effects) SetCorrelationID(id string) { e.any = true; e.Scope.SetCorrelationID(id) }

func (e *effects) SetInstanceName(name string) { e.any = true; e.Scope.SetInstanceName(name) }

func (e *effects) SetOutcomes(out ...string) { e.any = true; e.Scope.SetOutcomes(out...) }

func (e *effects) SetOutput(name string, v any) { e.any = true; e.Scope.SetOutput(name, v) }

func (e *effects) NewID() string { e.any = true; return e.Scope.NewID() }

// isInterrupt reports whether err is how the machine ends a script from outside;
// where the script was called back from Go, it comes as a panic.
func isInterrupt(err error) bool {
	var interrupted *goja.InterruptedError
	var overflow *goja.StackOverflowError
	return errors.As(err, &interrupted) || errors.As(err, &overflow)
}

var _ engine.Checker = Evaluator{}

// Check implements [engine.Checker]. Types are not known.
func (Evaluator) Check(e workflow.Expression, names *engine.Names) ([]engine.Mistake, string) {
	source, err := evaluation.Source(e)
	if err != nil {
		return nil, ""
	}
	return check.Script(source, names, isHostName, Functions), ""
}
