package activities_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// numbers is a list of n items.
func numbers(n int) workflow.Expression {
	items := make([]any, n)
	for i := range items {
		items[i] = int64(i)
	}
	return expr(func(engine.Scope) (any, error) { return items, nil })
}

// counts adds one to the variable n, and tells whether it is below most.
func counts(most int64) workflow.Expression {
	return expr(func(s engine.Scope) (any, error) {
		v, _ := s.Variable("n")
		n, _ := v.(int64)
		return n < most, s.SetVariable("n", n+1)
	})
}

// loops are one of each kind of loop, with n rounds.
func loops(n int) map[string]*workflow.Activity {
	pass := func() *workflow.Activity { return act("SetName", inputs{"value": lit("n")}) }
	more := counts(int64(n))
	machine := act("StateMachine", nil)
	machine.States = []workflow.State{
		{Name: "A", Entry: pass(), Transitions: []workflow.Transition{{To: "B", Condition: more}, {To: "End"}}},
		{Name: "B", Transitions: []workflow.Transition{{To: "A"}}}, {Name: "End"},
	}
	cycle := named("again", act("FlowDecision", inputs{"condition": more}))
	chart := flow("first.Done -> again, again.True -> first, again.False -> last", named("first", pass()), cycle, named("last", line("over")))
	return map[string]*workflow.Activity{
		"for":                   body(act("For", inputs{"start": lit(1), "end": lit(n)}), pass()),
		"forEach":               body(act("ForEach", inputs{"items": numbers(n)}), seq(pass(), pass(), pass())),
		"while":                 body(act("While", inputs{"condition": more}), pass()),
		"parallelForEach":       body(act("ParallelForEach", inputs{"items": numbers(n)}), seq(pass(), pass())),
		"parallel in each":      body(act("ParallelForEach", inputs{"items": numbers(n)}), act("Parallel", nil, pass(), pass(), pass())),
		"each in each":          body(act("ParallelForEach", inputs{"items": numbers(n / 100)}), body(act("ParallelForEach", inputs{"items": numbers(100)}), pass())),
		"a cycle":               chart,
		"a state machine":       machine,
		"two, side by side":     act("Parallel", nil, body(act("For", inputs{"start": lit(1), "end": lit(n)}), pass()), body(act("For", inputs{"start": lit(1), "end": lit(n)}), pass())),
		"a loop in a loop":      body(act("For", inputs{"start": lit(1), "end": lit(n / 100)}), body(act("For", inputs{"start": lit(1), "end": lit(100)}), pass())),
		"with an attempt in it": body(act("For", inputs{"start": lit(1), "end": lit(n)}), body(act("RetryPolicy", inputs{"attempts": lit(2)}), pass())),
	}
}

// A loop that comes to an end finishes, however many rounds it has, and gives way on its way. What is kept
// of it between two rounds does not grow with them.
func TestALoopOfAnyLengthFinishes(t *testing.T) {
	t.Parallel()
	const rounds = 30_000
	for name, loop := range loops(rounds) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			def := root(loop)
			def.Variables = []workflow.Variable{{Name: "n", Value: int64(0)}}
			prog, problems := engine.Compile(def, engine.Options{Registry: activities.Default(), Evaluators: []engine.Evaluator{testEvaluator{}}})
			if err := problems.Err(); err != nil {
				t.Fatal(err)
			}
			start := &workflow.Start{DefinitionID: "def"}
			b, err := engine.New(prog, "i1", start, t0, engine.Env{Now: t0.UTC})
			if err != nil {
				t.Fatal(err)
			}
			cmd := workflow.Command{ID: "start", Kind: workflow.CommandStart, Start: start}
			gaveWay, last, seq := 0, int64(0), int64(0)
			for commits := 0; ; commits++ {
				out, err := b.Run(context.Background(), cmd)
				if err != nil {
					t.Fatal(err)
				}
				ran, _, way := engine.GivesWay(b)
				if way {
					if gaveWay++; ran < last+engine.DefaultBurstActivities && ran != engine.DefaultBurstActivities {
						t.Fatalf("it gave way at %d, and before at %d", ran, last)
					}
					last = ran
				}
				res, err := b.Result()
				if err != nil {
					t.Fatal(err)
				}
				for _, it := range res.Journal {
					if seq++; it.Sequence != seq {
						t.Fatalf("item %d of the journal has the number %d", seq, it.Sequence)
					}
				}
				if out != engine.CommitFirst {
					if res.Instance.SubStatus != workflow.Finished {
						t.Fatalf("%s: %v", res.Instance.SubStatus, res.Instance.Incidents)
					}
					break
				}
				if way && commits%2 == 0 { // another node goes on with what was saved
					if b, err = engine.Load(prog, res.Instance, res.State, engine.Env{Now: t0.UTC}); err != nil {
						t.Fatal(err)
					}
				} else {
					b.Committed()
				}
				cmd = workflow.Command{ID: workflow.ContinueID, Kind: workflow.CommandContinue}
			}
			if want := rounds / engine.DefaultBurstActivities; gaveWay < want {
				t.Errorf("it gave way %d times; at least %d were to be expected of %d rounds", gaveWay, want, rounds)
			}
		})
	}
}

// What a burst, and its state, keep of a loop without an end is as large after many rounds as after few.
func TestALoopWithoutAnEndDoesNotGrow(t *testing.T) {
	t.Parallel()
	for name, loop := range loops(1 << 40 >> 20) { // a million rounds, of which few are run
		if strings.Contains(name, "ach") && name != "a state machine" { // they keep their items
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			def := root(loop)
			def.Variables = []workflow.Variable{{Name: "n", Value: int64(0)}}
			b := start(t, def, withEnv(func(e *engine.Env) { e.Limits.Activities = 500 }), upTo(20))
			early := len(b.state)
			b.goOn(200)
			if late := len(b.state); late > early+200 {
				t.Errorf("the state had %d bytes, and has %d", early, late)
			}
			b.wantStatus(workflow.Executing)
			b.command(workflow.CommandCancel)
			b.wantStatus(workflow.Cancelled)
		})
	}
}

// A loop without an end goes on as Executing, has no incident, and is ended by a cancel, a delete, or what
// else resumes the instance in between, such as its time out.
func TestALoopWithoutAnEndCanBeEnded(t *testing.T) {
	t.Parallel()
	endless := func() *workflow.Activity {
		return body(act("While", inputs{"condition": lit(true)}), act("SetName", inputs{"value": lit("n")}))
	}
	for _, commit := range []string{"", "ActivityExecuted", "ActivityExecutedStrict"} {
		def := root(endless())
		def.Options.CommitStrategy = commit
		b := start(t, def, withEnv(func(e *engine.Env) { e.Limits.Activities = 100 }), upTo(300)).wantStatus(workflow.Executing)
		if len(b.header.Incidents) != 0 {
			t.Errorf("%s: incidents %v", commit, b.header.Incidents)
		}
		b.command(workflow.CommandCancel)
		b.wantStatus(workflow.Cancelled)
	}
	stop := named("stop", wait("stop"))
	race := act("Fork", inputs{"joinMode": lit("WaitAny")}, stop, endless())
	b := start(t, root(race), withEnv(func(e *engine.Env) { e.Limits.Activities = 100 }), upTo(5)).wantStatus(workflow.Executing)
	b.resume("stop", nil)
	b.wantStatus(workflow.Finished)
}

// Of many items so many are scheduled at once as there is room for, and all of them run once, in their order.
func TestAFanOutOfAnyWidthIsScheduledInParts(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 999, 1000, 1001, 3501} {
		text := expr(func(s engine.Scope) (any, error) { v, _ := s.Variable("CurrentValue"); return v, nil })
		b := start(t, root(body(act("ParallelForEach", inputs{"items": numbers(n)}), lineOf(text)))).wantStatus(workflow.Finished)
		if len(b.lines) != n {
			t.Fatalf("%d of %d items", len(b.lines), n)
		}
		for i, l := range b.lines {
			if l != fmt.Sprint(i) {
				t.Fatalf("line %d of %d is %s", i, n, l)
			}
		}
	}
	// Those that wait are no reason to leave out the others.
	b := start(t, root(body(act("ParallelForEach", inputs{"items": numbers(1450)}), wait("go")))).wantStatus(workflow.Suspended)
	if n := len(b.header.Bookmarks); n != 1450 {
		t.Errorf("%d of 1450 wait", n)
	}
	// A break in one of them ends the loop with what was not scheduled.
	b = start(t, root(body(act("ParallelForEach", inputs{"items": numbers(4500)}), seq(line("x"), act("Break", nil))))).wantStatus(workflow.Finished)
	if len(b.lines) > 2000 {
		t.Errorf("%d lines", len(b.lines))
	}
}

// How much is scheduled at once is bounded by what an instance may keep.
func TestWhatIsScheduledCountsAsKept(t *testing.T) {
	t.Parallel()
	branches := make([]*workflow.Activity, 200)
	for i := range branches {
		branches[i] = line("x")
	}
	def := root(body(act("ParallelForEach", inputs{"items": numbers(2000)}), act("Parallel", nil, branches...)))
	prog, problems := engine.Compile(def, engine.Options{Registry: activities.Default(), Evaluators: []engine.Evaluator{testEvaluator{}}})
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	start := &workflow.Start{DefinitionID: "def"}
	b, err := engine.New(prog, "i1", start, t0, engine.Env{Now: t0.UTC})
	if err != nil {
		t.Fatal(err)
	}
	cmd := workflow.Command{ID: "start", Kind: workflow.CommandStart, Start: start}
	for {
		out, err := b.Run(context.Background(), cmd)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Result(); err != nil {
			if workflow.CodeOf(err) != workflow.CodeTooLarge {
				t.Error(err)
			}
			return
		}
		if out != engine.CommitFirst {
			t.Fatalf("%s: 400,000 activities were scheduled at once", out)
		}
		b.Committed()
		cmd = workflow.Command{ID: workflow.ContinueID, Kind: workflow.CommandContinue}
	}
}
