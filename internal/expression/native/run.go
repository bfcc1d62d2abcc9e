package native

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/expr-lang/expr/vm"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/native/operate"
	"github.com/weft-run/weft/internal/expression/turns"
	"github.com/weft-run/weft/pkg/engine"
)

// exprMemory bounds the bytes that one evaluation makes, counting every list
// and object by all that it holds.
const exprMemory = 64 << 20

// exprElements is the library's own bound on list elements.
const exprElements = 1_000_000

// run is the state of one evaluation. Runs are reused; the functions that a
// program calls are bound to their run once.
type run struct {
	ctx     context.Context
	scope   engine.Scope
	code    *code
	gauge   evaluation.Gauge // of the result
	memory  int              // bytes left
	ticks   uint
	pace    turns.Pace
	machine vm.VM
	env     map[string]any
}

var runs = sync.Pool{New: func() any { return newRun() }}

// declared tells the checker which names exist.
var declared = func() map[string]any {
	env := newRun().env
	for name := range refNames {
		env[name] = nil
	}
	return env
}()

func newRun() *run {
	r := &run{}
	r.machine.MemoryBudget = exprElements
	r.env = map[string]any{
		fnRef: r.ref, fnAt: r.at, fnTick: r.tick, fnCharge: r.charge, fnWalk: r.walk, fnAdd: r.add, fnEqual: r.equal, fnIn: r.in,
		fnMatches: r.matches, fnRepeat: r.repeat, fnJoin: r.join, fnReplace: r.replace, fnUniq: r.uniq, fnString: r.text, fnParse: r.parse, fnDate: r.date,
		fnList: r.list, fnGroup: r.group, fnSlice: r.slice, fnIndex: r.index, fnOnly: r.only, fnOperate: r.operate, fnMinus: minus, fnMethod: method, fnCall: r.call,
		fnWhole: wholeOf, fnText: textOf, fnBits: bits, fnSum: r.sum, fnSortBy: r.sortBy, "sort!": r.sort, "max!": r.extreme("max"), "min!": r.extreme("min"),
		"mean!": said(operate.Mean), "median!": said(operate.Median), "abs!": said(operate.Absolute), "type!": said(operate.Type),
		"keys!": r.keys, "values!": r.values, "toPairs!": r.toPairs,
		"indexOf!": r.indexOf, "lastIndexOf!": r.lastIndexOf, "int!": said(operate.Int), "float!": said(operate.Float), "toJSON!": r.toJSON, "duration!": r.duration, "timezone!": r.timezone,
		"fromPairs!": r.fromPairs, "get!": r.get, "take!": r.take,
		"round!": said(operate.Rounding("round", math.Round)), "floor!": said(operate.Rounding("floor", math.Floor)), "ceil!": said(operate.Rounding("ceil", math.Ceil)),
		"outputs": r.outputs, "now": r.now, "newId": r.newID, "resumeUrl": r.resumeURL,
	}
	return r
}

func (r *run) begin(ctx context.Context, s engine.Scope) {
	l := evaluation.Limits(s.Limits())
	r.ctx, r.scope, r.gauge = ctx, s, evaluation.Gauge{Left: l.Output}
	r.memory, r.ticks = exprMemory, 0
	r.pace.Begin(s.DefinitionID(), l.Script)
}

// done lets go of everything that belongs to an instance.
func (r *run) done() {
	r.pace.End()
	clear(r.machine.Stack[:cap(r.machine.Stack)])
	clear(r.machine.Variables)
	if cap(r.machine.Stack) > 1024 || len(r.machine.Scopes) > 0 {
		r.machine = vm.VM{MemoryBudget: exprElements}
	}
	r.ctx, r.scope, r.code = nil, nil, nil
	runs.Put(r)
}

func (r *run) run(k *code) (any, error) {
	if r.ctx.Err() != nil {
		return nil, evaluation.Ended(r.ctx)
	}
	r.code = k
	return r.machine.Run(k.program, r.env)
}

// stop ends the evaluation: the machine turns the panic into an error with the
// place in the source.
func stop(err error) { panic(saidError{err}) }

// saidError is an error in our words, which are not looked through for those of expr.
type saidError struct{ error }

// Unwrap gives the cause.
func (e saidError) Unwrap() error { return e.error }

// check ends a run that is over its time. It looks at the clock now and then.
func (r *run) check() {
	if r.ticks++; r.ticks%64 == 0 {
		r.checkNow()
	}
}

func (r *run) checkNow() {
	if r.ctx.Err() != nil {
		stop(evaluation.Ended(r.ctx))
	}
	if err := r.pace.Check(r.ctx); err != nil {
		stop(err)
	}
}

func (r *run) ref(args ...any) any {
	ref := r.code.refs[args[0].(int)]
	switch ref.kind {
	case refInputs:
		return r.scope.Inputs()
	case refVariables:
		return r.scope.Variables()
	case refInput, refVariable:
		return r.named(ref.kind, ref.name)
	case refSecret:
		v, ok := r.scope.Secret(ref.name)
		if !ok {
			stop(evaluation.NoSecret(ref.name))
		}
		return v
	case refLastResult:
		return r.scope.LastResult()
	case refInstanceID:
		return r.scope.InstanceID()
	case refCorrelationID:
		return r.scope.CorrelationID()
	case refDefinitionID:
		return r.scope.DefinitionID()
	case refVersion:
		return r.scope.DefinitionVersion()
	case refName:
		return r.scope.InstanceName()
	case refSecrets:
	}
	stop(errors.New("a secret has to be named, as in secrets.NAME"))
	return nil
}

func (r *run) named(kind refKind, name string) any {
	if kind == refInput {
		v, _ := r.scope.Input(name)
		return v
	}
	v, _ := r.scope.Variable(name)
	return v
}

func (r *run) at(args ...any) any {
	name, ok := args[1].(string)
	if !ok {
		stop(fmt.Errorf("a name has to be text, not %v", operate.Kind(args[1])))
	}
	return r.named(refKind(args[0].(int)), name)
}

func (r *run) outputs(args ...any) any {
	if len(args) < 1 || len(args) > 2 {
		stop(errors.New("outputs takes an activity's id or name, and the name of an output"))
	}
	names := make([]string, 2)
	for i, a := range args {
		s, ok := a.(string)
		if !ok {
			stop(errors.New("outputs takes names as text"))
		}
		names[i] = s
	}
	v, _ := r.scope.ActivityOutput(names[0], names[1])
	return v
}

func (r *run) now(args ...any) any {
	if len(args) > 0 {
		stop(errors.New("now takes nothing"))
	}
	return r.scope.Now().UTC()
}

func (r *run) newID(args ...any) any {
	if len(args) > 0 {
		stop(errors.New("newId takes nothing"))
	}
	return r.scope.NewID()
}

func (r *run) resumeURL(args ...any) any {
	texts := make([]string, len(args))
	for i, a := range args {
		s, ok := a.(string)
		if !ok {
			stop(evaluation.ErrResumeURL)
		}
		texts[i] = s
	}
	url, err := evaluation.ResumeURL(r.scope, texts)
	if err != nil {
		stop(err)
	}
	return url
}

// tick is called with the result of every round of a loop.
func (r *run) tick(args ...any) any {
	r.check()
	return r.charge(args...)
}

// walk looks at the clock before a builtin goes through a whole list: its result may be
// a number, which costs nothing, and each step of a loop one more walk.
func (r *run) walk(args ...any) any {
	r.heavy(args[0])
	return args[0]
}

// charge counts the bytes of a value that was just made.
func (r *run) charge(args ...any) any {
	switch v := args[0].(type) {
	case nil, bool, int, int64, float64, json.Number:
		return v
	}
	r.check()
	r.weigh(args[0], 0)
	return args[0]
}

func (r *run) spend(n int) {
	if r.memory -= n; r.memory < 0 {
		stop(evaluation.ErrMemory)
	}
}

// weigh spends the bytes of v and of all that it holds, shared or not: so no
// value exists that would take more than the budget to walk.
func (r *run) weigh(v any, depth int) {
	if depth > evaluation.MaxDepth {
		stop(evaluation.ErrDepth)
	}
	switch v := v.(type) {
	case string:
		r.spend(16 + len(v))
	case []any:
		r.spend(24 + 16*len(v))
		for _, e := range v {
			r.weigh(e, depth+1)
		}
	case map[string]any:
		r.spend(48)
		for k, e := range v {
			r.spend(32 + len(k))
			r.weigh(e, depth+1)
		}
	case []int:
		r.spend(24 + 8*len(v))
	case []string:
		r.spend(24)
		for _, s := range v {
			r.spend(16 + len(s))
		}
	case groups:
		for k, e := range v {
			r.spend(32 + len(k))
			r.weigh(e, depth+1)
		}
	case [][2]any:
		for i := range v {
			r.weigh(v[i][0], depth+1)
			r.weigh(v[i][1], depth+1)
		}
	default:
		r.spend(16)
	}
}
