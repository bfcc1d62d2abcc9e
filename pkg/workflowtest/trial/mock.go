package trial

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/activities/web"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml"
	"github.com/weft-run/weft/pkg/workflowtest/standin"
)

// Mocks replaces activities, by id, name or type.
type Mocks map[string]Mock

// Mock is what an activity does instead of what it would: [Reply], [Replies] or
// [Func].
type Mock interface {
	// reply answers the call number n, from 0.
	reply(n int, c Call) Reply
	// known are the replies that can be checked before the run.
	known() []Reply
}

// Reply is how a mocked activity ends. The zero value completes with Done and
// gives nothing.
type Reply struct {
	Result   any // the first output; nil: not given
	Outputs  map[string]any
	Outcomes []string // none: Done
	Branch   string   // a branch of the activity that runs, such as then, unmatchedStatusCode or the label of a case
	Fault    string   // the activity faults with this message; the other fields do not count

	After time.Duration // how long the call takes, by the clock of the test; calls beside it may end before. 0: it is answered at once
}

func (r Reply) reply(int, Call) Reply { return r }
func (r Reply) known() []Reply        { return []Reply{r} }

// Replies answers one call after the other; the last one stays. None is the
// zero [Reply].
type Replies []Reply

func (rs Replies) reply(n int, _ Call) Reply {
	if len(rs) == 0 {
		return Reply{}
	}
	return rs[min(n, len(rs)-1)]
}

func (rs Replies) known() []Reply { return rs }

// Func answers each call as it likes.
type Func func(Call) Reply

func (f Func) reply(_ int, c Call) Reply { return f(c) }
func (f Func) known() []Reply            { return nil }

// Call is one execution of an activity, mocked or not.
type Call struct {
	ActivityID string // as the journal has it
	Name, Type string
	Inputs     map[string]any // evaluated; JSON-like. Conditions of loops and cases are not among them
	Time       time.Time

	asked, losing bool // a request was made in it; its mock has no answer, as that is lost
}

// stage is what the wrapped activities of one run share.
type stage struct {
	mocks   Mocks
	answers map[string]int // calls so far, by the mock's name
	calls   []Call
	online  bool // there is an HTTP client
	bounds  *Bounds
	nodes   *nodes // nil: they do not fail

	now  *time.Time
	back time.Time // when the call comes back that is made; zero: now
}

// until is when the call that was made last comes back.
func (s *stage) until(*engine.Execution) time.Time {
	at := cmp.Or(s.back, *s.now)
	s.back = time.Time{}
	return at
}

// registry wraps every activity.
func (s *stage) registry(r *engine.Registry) *engine.Registry {
	return r.Wrapped(func(d *workflow.Descriptor, a engine.Activity) engine.Activity {
		if _, ok := a.(engine.Undoer); ok {
			return a // it has no effect, and the engine knows it by what it can do
		}
		w := watched{s, d, a}
		if _, ok := a.(engine.Triggerer); ok {
			return watchedTrigger{w}
		}
		return w
	})
}

// find gives the mock for a node, and the name it was given under.
func (s *stage) find(n *engine.Node) (name string, m Mock) {
	for _, name := range namesOf(n) {
		if m, ok := s.mocks[name]; ok {
			return name, m
		}
	}
	for name, m := range s.mocks { // types are compared without regard to case
		if strings.EqualFold(name, n.Type()) {
			return name, m
		}
	}
	return "", nil
}

// namesOf are the words that choose a node, the strongest first.
func namesOf(n *engine.Node) []string {
	names := []string{n.ID(), n.LocalID()}
	if n.Name() != "" {
		names = append(names, n.Name())
	}
	return append(names, n.Type(), n.Descriptor().ShortName())
}

// watched is an activity that notes its calls and may be mocked. It has every
// optional method, and without one of its own does what the engine does without.
type watched struct {
	s     *stage
	d     *workflow.Descriptor
	inner engine.Activity
}

var (
	_ engine.Resumer       = watched{}
	_ engine.Parent        = watched{}
	_ engine.SignalHandler = watched{}
	_ engine.Preparer      = watched{}
)

func (w watched) Execute(ctx context.Context, x *engine.Execution) error {
	call := w.callOf(x)
	for _, in := range w.d.Inputs {
		if in.Raw || in.Type == "Go" || !x.Given(in.Name) {
			continue
		}
		v, err := engine.Normalize(x.Value(in.Name))
		if err != nil {
			return fmt.Errorf("%s: %w", in.Name, err)
		}
		call.Inputs[in.Name] = v
		if err := w.s.bounds.keep(engine.Weigh(v)); err != nil {
			return err
		}
	}
	if w.s.nodes != nil && !w.d.NoEffect && !w.d.Container {
		_, m := w.s.find(x.Node())
		return w.effect(ctx, x, call, m, func(ctx context.Context) error { return w.do(ctx, x, call) }, func() error { return w.lose(ctx, x, call, m) })
	}
	return w.asking(ctx, call, func(ctx context.Context) error { return w.do(ctx, x, call) })
}

// asking does do, of whose requests call is told.
func (w watched) asking(ctx context.Context, call *Call, do func(context.Context) error) error {
	if w.s.nodes == nil {
		return do(ctx)
	}
	n := w.s.nodes.now
	defer func(before *Call) { n.call = before }(n.call)
	n.call = call // for a request that has another context
	return do(context.WithValue(ctx, callKey{}, call))
}

// callKey is the key of the call that the requests of a context belong to.
type callKey struct{}

// effect does do, which calls the outside, on a node that may fail. m is the mock of the call; nil: it has none.
func (w watched) effect(ctx context.Context, x *engine.Execution, call *Call, m Mock, do func(context.Context) error, lose func() error) error {
	ns, n := w.s.nodes, w.s.nodes.now
	if err := ns.reach(n, BeforeCall, call.ActivityID); err != nil {
		return err
	}
	var err error
	if m == nil {
		err = w.asking(ctx, call, do)
	}
	if !call.asked { // no request told of the call
		ns.noteCall(n, x, call)
		switch during := ns.reach(n, DuringCall, call.ActivityID); {
		case during == nil:
		case !errors.Is(during, errLost):
			return during
		case m != nil && w.d.Asks == workflow.AsksHTTP && web.Retries(x) > 0:
			ns.noteCall(n, x, call) // it asked again
		default:
			return lose()
		}
	}
	if m != nil {
		err = do(ctx)
	}
	if err != nil {
		return err
	}
	return ns.reach(n, AfterCall, call.ActivityID)
}

// lose is the call of x without its answer, for which an activity that sends requests has branches.
func (w watched) lose(ctx context.Context, x *engine.Execution, call *Call, m Mock) error {
	if m == nil || w.d.Asks != workflow.AsksHTTP {
		return errLost
	}
	call.losing = true
	return w.inner.Execute(context.WithValue(ctx, callKey{}, call), x)
}

// do does what the activity does, or its mock.
func (w watched) do(ctx context.Context, x *engine.Execution, call *Call) error {
	if !w.s.nodes.silent() {
		w.s.calls = append(w.s.calls, *call)
	}
	name, m := w.s.find(x.Node())
	if m == nil {
		switch {
		case !w.s.online && w.d.Asks == workflow.AsksHTTP:
			return fmt.Errorf("a test sends no HTTP requests: mock %s, or give the answers of the other side", call.ActivityID)
		case w.d.Asks == workflow.AsksMail:
			return fmt.Errorf("a test sends no mail: mock %s", call.ActivityID)
		case w.d.Asks == workflow.AsksDatabase:
			return fmt.Errorf("a test asks no databases: mock %s", call.ActivityID)
		}
		return w.inner.Execute(ctx, x)
	}
	n := w.s.answers[name]
	if !w.s.nodes.silent() {
		w.s.answers[name]++
	}
	x.TriggerInput() // it is consumed, as by the activity itself
	var reply Reply
	at := *w.s.now
	err := engine.Outside(ctx, x, func(context.Context) error {
		reply = m.reply(n, *call)
		at = at.Add(max(reply.After, 0))
		w.s.back = at
		return nil
	})
	if w.s.back = (time.Time{}); at.After(*w.s.now) {
		*w.s.now = at
	}
	if err != nil {
		return err
	}
	return reply.apply(x)
}

func (r Reply) apply(x *engine.Execution) error {
	if r.Fault != "" {
		return &engine.FaultError{Message: r.Fault}
	}
	if outputs := x.Node().Descriptor().Outputs; r.Result != nil && len(outputs) > 0 {
		x.SetOutput(outputs[0].Name, r.Result)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Outputs)) {
		x.SetOutput(name, r.Outputs[name])
	}
	if len(r.Outcomes) > 0 {
		x.SetOutcomes(r.Outcomes...)
	}
	if r.Branch == "" {
		return nil
	}
	if n := x.Node().Port(r.Branch); n != nil {
		x.Schedule(n, engine.Child{})
		return nil
	}
	for _, c := range x.Node().Cases() {
		if c.Label == r.Branch {
			x.Schedule(c.Node, engine.Child{})
			return nil
		}
	}
	return fmt.Errorf("the mock wants the branch %s, and %s has none of that name", r.Branch, x.Node().ID())
}

func (w watched) Resume(ctx context.Context, x *engine.Execution, r engine.Resume) error {
	a, ok := w.inner.(engine.Resumer)
	switch {
	case !ok:
		return nil
	case w.s.nodes == nil || w.d.NoEffect || w.d.Container:
		return w.asking(ctx, w.callOf(x), func(ctx context.Context) error { return a.Resume(ctx, x, r) })
	}
	call := w.callOf(x)
	call.Inputs = r.Input
	return w.effect(ctx, x, call, nil, func(ctx context.Context) error { return a.Resume(ctx, x, r) }, func() error { return errLost })
}

func (w watched) ChildCompleted(ctx context.Context, x *engine.Execution, done engine.Completed) error {
	if a, ok := w.inner.(engine.Parent); ok {
		return w.asking(ctx, w.callOf(x), func(ctx context.Context) error { return a.ChildCompleted(ctx, x, done) })
	}
	return nil
}

func (w watched) Signal(ctx context.Context, x *engine.Execution, s engine.Signal) (handled bool, err error) {
	if a, ok := w.inner.(engine.SignalHandler); ok {
		err = w.asking(ctx, w.callOf(x), func(ctx context.Context) error {
			handled, err = a.Signal(ctx, x, s)
			return err
		})
	}
	return handled, err
}

func (w watched) callOf(x *engine.Execution) *Call {
	return &Call{ActivityID: x.Node().ID(), Name: x.Node().Name(), Type: w.d.Type, Time: x.Clock(), Inputs: map[string]any{}}
}

func (w watched) Prepare(p *engine.Preparation) {
	if a, ok := w.inner.(engine.Preparer); ok {
		a.Prepare(p)
	}
}

// watchedTrigger is a watched activity that can start instances.
type watchedTrigger struct{ watched }

func (w watchedTrigger) Triggers(p *engine.Preparation) []engine.Trigger {
	return w.inner.(engine.Triggerer).Triggers(p)
}

// withStandIns gives the registry of cfg, with the types that its definitions use, that it
// does not have, and that are mocked: an activity of another program can be tested around.
func withStandIns(cfg Config) (*engine.Registry, error) {
	types := map[string]*workflow.Descriptor{}
	for _, file := range append([]string{cfg.File}, cfg.OtherFiles...) {
		if file == "" {
			continue
		}
		src, err := cfg.bounds.read(file)
		if err != nil {
			continue // it is read again, and reported
		}
		if v, err := yaml.Value(src); err == nil { // JSON is YAML too
			standin.Types(types, v, cfg.Registry, cfg.Mocks.gives)
		}
	}
	if len(types) == 0 {
		return cfg.Registry, nil
	}
	registry := cfg.Registry.Wrapped(func(_ *workflow.Descriptor, a engine.Activity) engine.Activity { return a })
	for _, typ := range slices.Sorted(maps.Keys(types)) {
		if err := registry.Register(*types[typ], standin.Activity(typ)); err != nil {
			return nil, err
		}
	}
	return registry, nil
}

// gives is what the mock of an activity gives; false: it has none.
func (ms Mocks) gives(names []string, typ string) (out standin.Gives, ok bool) {
	for name, m := range ms {
		if !slices.Contains(names, name) && !strings.EqualFold(name, typ) {
			continue
		}
		for _, reply := range m.known() {
			out.Outputs = slices.AppendSeq(out.Outputs, maps.Keys(reply.Outputs))
			out.Result = out.Result || reply.Result != nil
		}
		return out, true
	}
	return out, false
}
