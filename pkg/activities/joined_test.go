package activities_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// crashing runs an instance whose node ends in the middle of some activities: what was not committed
// is gone, and the burst goes on from what was.
type crashing struct {
	t        *rapid.T
	prog     *engine.Program
	env      engine.Env
	header   workflow.Instance
	state    []byte
	started  bool     // its start is committed
	crashes  []int    // before which of the steps the node ends
	steps    int      // that were done, also in vain
	ran      []string // since the last commit
	saved    []string // by commits, in order
	keys     map[string][]string
	crash    context.CancelFunc
	repeated int // steps of the last crash
}

var errCrash = errors.New("the node is gone")

// does notes that a step runs. Before one with an effect outside, all before it is durable, but for
// what is around it, which is nothing here.
func (c *crashing) does(name string, effect bool) error {
	if len(c.crashes) > 0 && c.steps == c.crashes[0] {
		c.crashes = c.crashes[1:]
		c.crash()
		return errCrash
	}
	c.steps++
	if effect && len(c.ran) > 0 {
		c.t.Errorf("%s runs, and %q is not durable", name, c.ran)
	}
	if len(c.ran) > 0 && strings.HasPrefix(c.ran[len(c.ran)-1], "e") {
		c.t.Errorf("%s runs, and the effect of %q is not durable", name, c.ran)
	}
	c.ran = append(c.ran, name)
	return nil
}

func (c *crashing) keep(b *engine.Burst) {
	res, err := b.Result()
	if err != nil {
		c.t.Fatal(err)
	}
	c.header, c.state, c.started = res.Instance, res.State, true
	c.saved, c.ran = append(c.saved, c.ran...), nil
	b.Committed()
}

// life is one node that works the instance, until it crashes (false) or the instance ends.
func (c *crashing) life(start workflow.Command) bool {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c.crash = cancel
	var b *engine.Burst
	var err error
	cmd := start
	if !c.started {
		b, err = engine.New(c.prog, "i", start.Start, t0, c.env)
	} else {
		b, err = engine.Load(c.prog, c.header, c.state, c.env)
		cmd = workflow.Command{ID: workflow.ContinueID, Kind: workflow.CommandContinue}
	}
	if err != nil {
		c.t.Fatal(err)
	}
	for {
		out, err := b.Run(ctx, cmd)
		switch {
		case ctx.Err() != nil:
			c.repeated, c.ran = len(c.ran), nil
			return false
		case err != nil:
			c.t.Fatal(err)
		}
		c.keep(b)
		if out == engine.Applied {
			return true
		}
		cmd = workflow.Command{ID: workflow.ContinueID, Kind: workflow.CommandContinue}
	}
}

// Wherever nodes end: before an activity with an effect outside runs, all that came before it was saved, and
// it is saved before the next one runs; at most 16 others run again, and calls have the keys of before.
func TestWhatACrashRepeats(t *testing.T) {
	t.Parallel()
	for _, strategy := range []string{"ActivityExecuted", "ActivityExecuting", "ActivityExecutedStrict"} {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) {
				c := &crashing{t: rt, keys: map[string][]string{}}
				kinds := rapid.SliceOfN(rapid.SampledFrom([]string{"q", "q", "q", "e"}), 1, 60).Draw(rt, "steps")
				var want []string
				kids := make([]*workflow.Activity, 0, len(kinds))
				for i, kind := range kinds {
					name := fmt.Sprint(kind, i)
					want = append(want, name)
					a := named(name, lineOf(expr(func(engine.Scope) (any, error) { return name, c.does(name, false) })))
					if kind == "e" {
						a = named(name, activities.Inline(func(_ context.Context, x *engine.Execution) error {
							err := c.does(name, true)
							if err == nil {
								c.keys[name] = append(c.keys[name], x.IdempotencyKey())
							}
							return err
						}))
					}
					if rapid.IntRange(0, 4).Draw(rt, "around") == 0 {
						a = port(named("if"+name, act("If", inputs{"condition": lit(true)})), "then", seq(a))
					}
					kids = append(kids, a)
				}
				def := root(seq(kids...))
				def.Options.CommitStrategy = strategy
				prog, problems := engine.Compile(def, engine.Options{Registry: activities.Default(), Evaluators: []engine.Evaluator{testEvaluator{}}})
				if problems != nil {
					rt.Fatal(problems)
				}
				now := t0
				pace := time.Duration(rapid.IntRange(0, 9).Draw(rt, "pace")) * time.Millisecond
				c.prog, c.env = prog, engine.Env{Now: func() time.Time { now = now.Add(pace); return now }}
				c.crashes = rapid.SliceOfNDistinct(rapid.IntRange(0, len(kinds)+20), 0, 4, rapid.ID).Draw(rt, "crashes")
				slices.Sort(c.crashes)
				start := workflow.Command{ID: "start", Kind: workflow.CommandStart, Start: &workflow.Start{DefinitionID: "def"}}
				for !c.life(start) {
					if most := map[bool]int{true: 1, false: 16}[strategy == "ActivityExecutedStrict"]; c.repeated > most {
						rt.Errorf("a crash loses %d activities", c.repeated)
					}
				}
				if !slices.Equal(c.saved, want) {
					rt.Errorf("saved %q, want %q", c.saved, want)
				}
				for name, keys := range c.keys {
					if len(slices.Compact(keys)) != 1 {
						rt.Errorf("%s had the keys %q", name, keys)
					}
				}
			})
		})
	}
}

func TestHowManySavesAreJoined(t *testing.T) {
	t.Parallel()
	lines := func(n int) *workflow.Activity {
		kids := make([]*workflow.Activity, n)
		for i := range kids {
			kids[i] = line("x")
		}
		return seq(kids...)
	}
	for _, c := range []struct {
		name, strategy string
		root           *workflow.Activity
		pace           time.Duration // of each look at the clock
		commits        int           // before the end
		joined         int           // saves with a later one
	}{
		{"as many as one save takes", "ActivityExecuted", lines(40), 0, 2, 37},
		{"strict", "ActivityExecutedStrict", lines(40), 0, 39, 0},
		{"strict, before each", "ActivityExecutingStrict", lines(40), 0, 41, 0},
		{"they take long", "ActivityExecuted", lines(40), 30 * time.Millisecond, 39, 0},
		{"they take some time", "ActivityExecuted", lines(9), 4 * time.Millisecond, 4, 4},
		{"a call between", "ActivityExecuted", seq(line("a"), line("b"), activities.Inline(func(context.Context, *engine.Execution) error { return nil }), line("c"), line("d")), 0, 2, 2},
		{"one that is to be saved itself", "ActivityExecuted", seq(line("a"), saved(line("b")), line("c"), line("d")), 0, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			def := root(c.root)
			def.Options.CommitStrategy = c.strategy
			b := start(t, def, func(b *bench, _ *engine.Options, _ *workflow.Start) {
				b.env.Now = func() time.Time { b.now = b.now.Add(c.pace); return b.now }
			})
			if b.wantStatus(workflow.Finished); b.commits != c.commits {
				t.Errorf("%d commits before the end, want %d", b.commits, c.commits)
			}
			if b.joined != c.joined {
				t.Errorf("%d saves were joined with a later one, want %d", b.joined, c.joined)
			}
		})
	}
}

func saved(a *workflow.Activity) *workflow.Activity {
	a.CommitStrategy = "Executed"
	return a
}

// loud is a container of somebody's own whose code may have an effect outside when one in it ends.
type loud struct{ told func() }

func (l loud) Execute(_ context.Context, x *engine.Execution) error {
	x.Schedule(x.Node().Port("body"), engine.Child{})
	return nil
}

func (l loud) ChildCompleted(_ context.Context, x *engine.Execution, _ engine.Completed) error {
	l.told()
	return nil
}

// What is around an activity runs with it: its effect is outside too.
func TestNothingRunsAheadInWhatHasAnEffectOutside(t *testing.T) {
	t.Parallel()
	var b *bench
	told := 0
	reg := activities.Default()
	if err := reg.Register(workflow.Descriptor{Type: "Acme.Loud", Ports: []string{"body"}, Container: true}, loud{func() {
		told++
		if b.outcomes("before") == nil || b.outcomes("second") == nil {
			b.t.Error("it is told, and what ran before is not durable")
		}
	}}); err != nil {
		t.Fatal(err)
	}
	def := root(seq(named("before", line("a")), port(&workflow.Activity{Type: "Acme.Loud", ID: "loud"}, "body", seq(named("first", line("b")), named("second", line("c")), named("third", line("d")))), named("after", line("e"))))
	def.Options.CommitStrategy = "ActivityExecuted"
	start(t, def, func(own *bench, o *engine.Options, _ *workflow.Start) { b, o.Registry = own, reg }).wantStatus(workflow.Finished).wantLines("a", "b", "c", "d", "e")
	if told != 1 || b.commits != 4 {
		t.Errorf("it was told %d times, %d commits", told, b.commits)
	}
}
