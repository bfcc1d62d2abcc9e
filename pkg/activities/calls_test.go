package activities_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/engine/flight"
	"github.com/weft-run/weft/pkg/workflow"
)

// service is the other side of calls.
type service struct {
	answer func(ctx context.Context, name string) error // nil: at once

	mu    sync.Mutex
	asked []string          // in the order in which the calls came
	said  map[string]string // what was said under a key
	twice []string          // keys under which something else was said
	open  int
	most  int // in flight at once
	cut   []string
}

func (s *service) call(ctx context.Context, name, key, said string) error {
	s.mu.Lock()
	s.asked = append(s.asked, name)
	if s.said == nil {
		s.said = map[string]string{}
	}
	if before, ok := s.said[key]; ok && before != name+" "+said {
		s.twice = append(s.twice, fmt.Sprintf("%s: %s, then %s %s", key, before, name, said))
	}
	s.said[key] = name + " " + said
	s.open++
	s.most = max(s.most, s.open)
	s.mu.Unlock()
	var err error
	if s.answer != nil {
		err = s.answer(ctx, name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	if ctx.Err() != nil {
		s.cut = append(s.cut, name)
	}
	return err
}

// asking is an activity that calls a service.
type asking struct{ s *service }

func (a asking) Execute(ctx context.Context, x *engine.Execution) error {
	name, key, said := x.Text("name"), x.IdempotencyKey(), engine.Text(x.Value("say"))
	if err := engine.Outside(ctx, x, func(ctx context.Context) error { return a.s.call(ctx, name, key, said) }); err != nil {
		return err
	}
	x.SetOutput("result", name)
	x.WriteLine(name)
	return nil
}

var asksDescriptor = workflow.Descriptor{Type: "test.Call", Asks: workflow.AsksOther,
	Inputs:  []workflow.InputDescriptor{{Name: "name", Type: "String"}, {Name: "say", Type: "Object"}},
	Outputs: []workflow.OutputDescriptor{{Name: "result", Type: "String"}}}

// asks registers the activity test.Call, which calls s.
func asks(s *service) option {
	return func(b *bench, o *engine.Options, _ *workflow.Start) {
		reg := activities.Default()
		if err := reg.Register(asksDescriptor, asking{s}); err != nil {
			b.t.Fatal(err)
		}
		o.Registry = reg
	}
}

func ask(name string) *workflow.Activity {
	return named(name, &workflow.Activity{Type: "test.Call", Inputs: inputs{"name": lit(name)}})
}

// together answers when so many calls are there.
func together(n int) func(context.Context, string) error {
	var all sync.WaitGroup
	all.Add(n)
	return func(context.Context, string) error { all.Done(); all.Wait(); return nil }
}

// never answers calls of these names when it is too late.
func never(names ...string) func(context.Context, string) error {
	return func(ctx context.Context, name string) error {
		if slices.Contains(names, name) {
			<-ctx.Done()
		}
		return nil
	}
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

func TestCallsAreInFlightTogether(t *testing.T) {
	t.Parallel()
	body := &workflow.Activity{Type: "test.Call", Inputs: inputs{"name": expr(func(s engine.Scope) (any, error) { v, _ := s.Variable("CurrentValue"); return v, nil })}}
	for name, a := range map[string]*workflow.Activity{
		"parallel":        act("Parallel", nil, ask("a"), ask("b"), ask("c")),
		"sequences":       act("Parallel", nil, seq(ask("a")), seq(ask("b"), line("l")), seq(seq(ask("c")))),
		"at other depths": act("Parallel", nil, ask("a"), seq(ask("b")), act("Fork", nil, seq(ask("c")))),
		"fork":            act("Fork", nil, ask("a"), ask("b"), ask("c")),
		"parallelForEach": port(act("ParallelForEach", inputs{"items": lit([]any{"a", "b", "c"})}), "body", body),
		"flowchart":       flow("l -> a, l -> b, l -> c", named("l", line("l")), ask("a"), ask("b"), ask("c")),
	} {
		for _, strategy := range []string{"", "ActivityExecuting", "ActivityExecuted", "WorkflowExecuting", "Periodic"} {
			t.Run(name+" "+strategy, func(t *testing.T) {
				t.Parallel()
				s := &service{answer: together(3)}
				def := root(a)
				def.Options.CommitStrategy = strategy
				b := start(t, def, asks(s)).wantStatus(workflow.Finished)
				if s.most != 3 || len(s.asked) != 3 || !slices.Equal(sorted(s.asked), []string{"a", "b", "c"}) {
					t.Errorf("asked %v, %d at once", s.asked, s.most)
				}
				if strategy == "" && b.commits > 0 {
					t.Errorf("%d commits", b.commits)
				}
			})
		}
	}
}

// What is still in flight as something is to be saved comes back first, and counts.
func TestASaveWaitsForCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &service{answer: func(ctx context.Context, name string) error {
			if name == "fast" {
				return nil
			}
			select {
			case <-time.After(time.Minute): // when all else waits for this one
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}}
		def := root(act("Parallel", nil, seq(ask("fast"), line("on")), ask("slow")))
		def.Options.CommitStrategy = "ActivityExecuted"
		b := start(t, def, asks(s)).wantStatus(workflow.Finished).wantLines("fast", "slow", "on")
		if s.most != 2 || len(s.cut) > 0 || b.commits != 1 {
			t.Errorf("%d in flight at once, cut %v, %d commits", s.most, s.cut, b.commits)
		}
	})
}

// What asks for turns, and what has nothing beside it, makes its calls one after the other, on the burst's own goroutine.
func TestCallsInTurn(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*workflow.Definition){
		"turns":         func(d *workflow.Definition) { d.Options.Calls = "turns" },
		"strict before": func(d *workflow.Definition) { d.Options.CommitStrategy = "ActivityExecutingStrict" },
		"strict after":  func(d *workflow.Definition) { d.Options.CommitStrategy = "ActivityExecutedStrict" },
		"Elsa's JSON": func(d *workflow.Definition) {
			d.Root.Activities[0].Place.Pointer, d.Root.Activities[1].Place.Pointer = "/a", "/b"
		},
		"one after each": func(d *workflow.Definition) { d.Root.Type = "Elsa.Sequence" },
		"a timeout": func(d *workflow.Definition) {
			d.Root = named("a"+workflow.TimeoutSuffix, act("Fork", inputs{"joinMode": lit("WaitAny")}, ask("a"), named("late", act("Delay", inputs{"timeSpan": lit("1h")}))))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &service{}
			def := root(act("Parallel", nil, ask("a"), ask("b")))
			change(def)
			b := start(t, def, asks(s)).wantStatus(workflow.Finished)
			if s.most != 1 || !slices.Equal(s.asked, b.lines) {
				t.Errorf("asked %v, %d at once, lines %v", s.asked, s.most, b.lines)
			}
		})
	}
	s := &service{answer: together(2)}
	def := root(act("Parallel", nil, ask("a"), ask("b")))
	for _, a := range def.Root.Activities {
		a.Place.Pointer, a.CustomProperties = "/"+a.ID, map[string]any{"runAsynchronously": true}
	}
	start(t, def, asks(s)).wantStatus(workflow.Finished)
}

func TestTheFirstAnswerWinsARace(t *testing.T) {
	t.Parallel()
	for name, race := range map[string]*workflow.Activity{
		"WaitAny":      act("Fork", inputs{"joinMode": lit("WaitAny")}, ask("never"), seq(ask("b"), line("b is done"))),
		"FirstSuccess": act("Fork", inputs{"joinMode": lit("FirstSuccess")}, ask("never"), seq(ask("b"), line("b is done"))),
		"Finish":       act("Parallel", nil, ask("never"), seq(ask("b"), line("b is done"), act("Finish", nil))),
		"Break":        port(act("ParallelForEach", inputs{"items": lit([]any{"x"})}), "body", act("Parallel", nil, ask("never"), seq(ask("b"), line("b is done"), act("Break", nil)))),
		"Complete":     act("Parallel", nil, ask("never"), seq(ask("b"), line("b is done"), act("Complete", nil))),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &service{answer: never("never")}
			b := start(t, root(race), asks(s)).wantStatus(workflow.Finished).wantLines("b", "b is done")
			if !slices.Equal(s.asked, []string{"never", "b"}) && !slices.Equal(s.asked, []string{"b", "never"}) || !slices.Equal(s.cut, []string{"never"}) {
				t.Errorf("asked %v, cut %v", s.asked, s.cut)
			}
			var told []string
			for _, it := range b.journal {
				if it.ActivityID == "never" && it.Event != engine.EventStarted {
					told = append(told, it.Event+": "+it.Text)
				}
			}
			if !slices.Equal(told, []string{"Canceled: its call was cut"}) {
				t.Errorf("the journal says %q", told)
			}
		})
	}
}

// A call behind an answer that came before others is made after a save: a repeat may have another order.
func TestWhatAnswersDecideIsSavedBeforeItIsCalled(t *testing.T) {
	t.Parallel()
	s := &service{answer: never("never")}
	var b *bench
	s.answer = func(ctx context.Context, name string) error {
		if name == "then" && (b.outcomes("b") == nil || b.outcomes("race") == nil) {
			t.Errorf("it is called, and what decided it is not durable: %v", b.journal)
		}
		return never("never")(ctx, name)
	}
	start(t, root(seq(named("race", act("Fork", inputs{"joinMode": lit("WaitAny")}, ask("never"), ask("b"))), ask("then"))), asks(s),
		func(own *bench, _ *engine.Options, _ *workflow.Start) { b = own }).wantStatus(workflow.Finished)
	if b.commits != 1 {
		t.Errorf("%d commits before the end", b.commits)
	}
}

func TestAFaultBesideCalls(t *testing.T) {
	t.Parallel()
	s := &service{}
	all := together(3)
	var failed sync.WaitGroup
	failed.Add(1)
	s.answer = func(ctx context.Context, name string) error {
		_ = all(ctx, name)
		if name == "b" {
			defer failed.Done()
			return errors.New("out of order")
		}
		failed.Wait()
		return nil
	}
	b := start(t, root(seq(act("Parallel", nil, seq(ask("a"), line("after a")), ask("b"), ask("c")), line("end"))), asks(s)).wantStatus(workflow.Faulted)
	if len(b.header.Incidents) != 1 || b.header.Incidents[0].ActivityID != "b" {
		t.Errorf("incidents %v", b.header.Incidents)
	}
	if lines := sorted(b.lines); !slices.Equal(lines, []string{"a", "c"}) {
		t.Errorf("lines %v", lines)
	}
	s.answer = nil
	b.command(workflow.CommandRetry)
	b.wantStatus(workflow.Finished)
	if lines := sorted(b.lines); !slices.Equal(lines, []string{"a", "after a", "b", "c", "end"}) || !slices.Equal(sorted(s.asked), []string{"a", "b", "b", "c"}) || len(s.said) != 3 {
		t.Errorf("lines %v, asked %v", lines, s.asked)
	}
}

func TestAPanicBesideCalls(t *testing.T) {
	t.Parallel()
	s := &service{answer: func(_ context.Context, name string) error {
		if name == "b" {
			panic("out of its mind")
		}
		return nil
	}}
	b := start(t, root(act("Parallel", nil, ask("a"), ask("b"), ask("c"))), asks(s)).wantStatus(workflow.Faulted)
	if len(b.header.Incidents) != 1 || !strings.Contains(b.header.Incidents[0].Message, "out of its mind") || len(b.lines) != 2 {
		t.Errorf("incidents %v, lines %v", b.header.Incidents, b.lines)
	}
}

func TestHowManyCallsAreInFlight(t *testing.T) {
	t.Parallel()
	many := make([]*workflow.Activity, 40)
	for i := range many {
		many[i] = ask(fmt.Sprint("c", i))
	}
	for _, c := range []struct {
		name, calls       string // of the definition
		limit, node, most int
	}{
		{"as many as an instance may have", "", 0, 0, engine.DefaultCalls},
		{"by the node", "", 5, 0, 5},
		{"by the definition", "3", 5, 0, 3},
		{"more, by the definition", "40", 5, 0, 40},
		{"as many as the node has places", "", 0, 2, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := &service{}
			s.answer = func(ctx context.Context, name string) error { return nil }
			full := make(chan struct{})
			s.answer = func(context.Context, string) error {
				s.mu.Lock()
				if s.open == c.most && s.most == c.most {
					select {
					case <-full:
					default:
						close(full)
					}
				}
				s.mu.Unlock()
				<-full
				return nil
			}
			def := root(act("Parallel", nil, many...))
			def.Options.Calls = c.calls
			b := start(t, def, asks(s), withEnv(func(env *engine.Env) {
				env.Limits.Calls = c.limit
				if c.node > 0 {
					env.Places = make(flight.Places, c.node)
				}
			})).wantStatus(workflow.Finished)
			if s.most != c.most || len(b.lines) != len(many) || len(s.said) != len(many) || b.commits > 0 {
				t.Errorf("%d in flight at once, %d lines, %d keys, %d commits", s.most, len(b.lines), len(s.said), b.commits)
			}
		})
	}
}

// live makes a burst whose calls go to s.
func live(t *testing.T, a *workflow.Activity, s *service) (*engine.Burst, func(*engine.Burst) *engine.Burst) {
	t.Helper()
	b := &bench{t: t, now: t0}
	o := engine.Options{Evaluators: []engine.Evaluator{testEvaluator{}}}
	asks(s)(b, &o, nil)
	def := root(a)
	def.ID = "d"
	prog, problems := engine.Compile(def, o)
	if problems != nil {
		t.Fatal(problems)
	}
	env := engine.Env{Now: nowT0}
	burst, err := engine.New(prog, "i", &workflow.Start{}, t0, env)
	if err != nil {
		t.Fatal(err)
	}
	return burst, func(from *engine.Burst) *engine.Burst {
		res, err := from.Result()
		if err != nil {
			t.Fatal(err)
		}
		env.Stopped = engine.StoppedIn(from)
		next, err := engine.Load(prog, res.Instance, res.State, env)
		if err != nil {
			t.Fatal(err)
		}
		return next
	}
}

// A cancel ends all calls. Each is set back with its key, in the order of the schedule; a mere hint ends none of them.
func TestACancelEndsAllCalls(t *testing.T) {
	t.Parallel()
	s := &service{}
	burst, again := live(t, act("Parallel", nil, ask("a"), ask("b"), ask("c"), line("d")), s)
	var there sync.WaitGroup
	there.Add(3)
	s.answer = func(ctx context.Context, _ string) error { there.Done(); <-ctx.Done(); return context.Cause(ctx) }
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		there.Wait()
		if at, ok := burst.Doing(); !ok || at.ActivityID != "a" || !at.Outside || len(at.Beside) != 2 || at.Beside[1] != "c" {
			t.Errorf("it is at %+v", at)
		}
		if !burst.Interrupt() {
			t.Error("a hint ends calls that are beside each other")
		}
		burst.End(workflow.CommandCancel)
	}()
	out, err := burst.Run(t.Context(), workflow.Command{ID: "s", Kind: workflow.CommandStart})
	<-ended
	if out != engine.Interrupted || err != nil || len(s.cut) != 3 {
		t.Fatalf("%s %v, cut %v", out, err, s.cut)
	}
	next := again(burst)
	s.answer, s.asked = nil, nil
	var order []string
	s.answer = func(_ context.Context, name string) error { return nil }
	if out, err := next.Run(t.Context(), workflow.Command{ID: workflow.ContinueID, Kind: workflow.CommandContinue}); out != engine.Applied || err != nil || next.Header().SubStatus != workflow.Finished {
		t.Errorf("%s %v %s", out, err, next.Header().SubStatus)
	}
	res, _ := next.Result()
	for _, it := range res.Journal {
		if it.Event == engine.EventStarted && it.ActivityType == "test.Call" {
			order = append(order, it.ActivityID)
		}
	}
	if !slices.Equal(order, []string{"a", "b", "c"}) || len(s.said) != 3 {
		t.Errorf("begun again: %v; keys %v", order, s.said)
	}
	if out, _ := burst.Run(t.Context(), workflow.Command{ID: "c", Kind: workflow.CommandCancel}); out != engine.Applied || burst.Header().SubStatus != workflow.Cancelled {
		t.Errorf("%s %s", out, burst.Header().SubStatus)
	}
}

// A burst whose context ends leaves no goroutine behind.
func TestABurstThatIsDroppedEndsItsCalls(t *testing.T) {
	t.Parallel()
	s := &service{}
	burst, _ := live(t, act("Parallel", nil, ask("a"), ask("b"), line("l")), s)
	ctx, cancel := context.WithCancelCause(t.Context())
	var there sync.WaitGroup
	there.Add(2)
	s.answer = func(ctx context.Context, _ string) error { there.Done(); <-ctx.Done(); return context.Cause(ctx) }
	go func() { there.Wait(); cancel(errCrash) }()
	if out, err := burst.Run(ctx, workflow.Command{ID: "s", Kind: workflow.CommandStart}); !errors.Is(err, errCrash) {
		t.Errorf("%s %v", out, err)
	}
	if s.open != 0 || len(s.cut) != 2 {
		t.Errorf("%d open, cut %v", s.open, s.cut)
	}
}

// waiting is an activity that waits for something before it calls: what it did so far is of the burst, so it calls in turn.
type waiting struct{ s *service }

func (w waiting) Execute(ctx context.Context, x *engine.Execution) error {
	if _, err := x.Wait(engine.Wait{Name: "w"}); err != nil {
		return err
	}
	name := x.Text("name")
	return engine.Outside(ctx, x, func(ctx context.Context) error { return w.s.call(ctx, name, x.ID(), "") })
}

func TestACallThatWaitsForSomethingBeforeIsInTurn(t *testing.T) {
	t.Parallel()
	s := &service{}
	burst := make(chan struct{})
	s.answer = func(context.Context, string) error {
		select {
		case <-burst: // the line ran
			t.Error("something ran beside it")
		default:
		}
		return nil
	}
	b := start(t, root(act("Parallel", nil, &workflow.Activity{Type: "test.Waiting", Inputs: inputs{"name": lit("a")}},
		lineOf(expr(func(engine.Scope) (any, error) { close(burst); return "l", nil })))), func(b *bench, o *engine.Options, st *workflow.Start) {
		asks(s)(b, o, st)
		d := asksDescriptor
		d.Type = "test.Waiting"
		if err := o.Registry.Register(d, waiting{s}); err != nil {
			b.t.Fatal(err)
		}
	}).wantStatus(workflow.Suspended)
	if len(b.header.Bookmarks) != 1 || !slices.Equal(s.asked, []string{"a"}) {
		t.Errorf("it waits at %v, asked %v", b.bookmarks(), s.asked)
	}
}
