package activities_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// lives run an instance whose calls come back in another order each time, on nodes that end in the middle of it.
type lives struct {
	t      *rapid.T
	prog   *engine.Program
	s      *service
	header workflow.Instance
	state  []byte
	saved  bool
	now    time.Time
	ends   int // after so many calls the node ends; below 0: it does not
	lines  []string
	cancel context.CancelCauseFunc
	rand   *rand.Rand // the engine recovers what panics in a draw of rapid
}

func newLives(t *rapid.T, s *service) *lives {
	return &lives{t: t, s: s, now: t0, rand: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))}
}

func (l *lives) env() engine.Env {
	return engine.Env{Now: func() time.Time { return l.now },
		Until: func(*engine.Execution) time.Time {
			return l.now.Add(time.Duration(l.rand.IntN(6)) * time.Second)
		}}
}

// live is one node that works the instance. It is false if it ended, or its commit was lost, before the instance did.
func (l *lives) live() bool {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	l.cancel = cancel
	cmd := workflow.Command{ID: "start", Kind: workflow.CommandStart, Start: &workflow.Start{DefinitionID: "def"}, CreatedAt: t0}
	var b *engine.Burst
	var err error
	if !l.saved {
		b, err = engine.New(l.prog, "i", cmd.Start, t0, l.env())
	} else {
		b, err = engine.Load(l.prog, l.header, l.state, l.env())
		cmd = workflow.Command{ID: workflow.ContinueID, Kind: workflow.CommandContinue}
	}
	if err != nil {
		l.t.Fatal(err)
	}
	for {
		out, err := b.Run(ctx, cmd)
		if ctx.Err() != nil {
			return false
		}
		if err != nil {
			l.t.Fatal(err)
		}
		if l.ends >= 0 && l.rand.IntN(4) == 0 {
			return false
		}
		res, err := b.Result()
		if err != nil {
			l.t.Fatal(err)
		}
		l.header, l.state, l.saved = res.Instance, res.State, true
		for _, it := range res.Journal {
			if it.Event == engine.EventWriteLine {
				l.lines = append(l.lines, it.Text)
			}
		}
		b.Committed()
		if out == engine.Applied {
			return true
		}
		l.now = l.now.Add(time.Second)
		cmd = workflow.Command{ID: workflow.ContinueID, Kind: workflow.CommandContinue}
	}
}

// tree draws activities of which each call says what the others left in a variable.
type tree struct {
	t     *rapid.T
	calls int
	races bool
}

func (g *tree) draw(depth int) *workflow.Activity {
	kinds := []string{"call", "call", "set", "sequence", "parallel", "fork", "each"}
	if g.races {
		kinds = append(kinds, "race")
	}
	if depth == 0 {
		kinds = kinds[:3]
	}
	kids := func() (list []*workflow.Activity) {
		for range rapid.IntRange(1, 3).Draw(g.t, "kids") {
			list = append(list, g.draw(depth-1))
		}
		return list
	}
	seen := expr(func(s engine.Scope) (any, error) { v, _ := s.Variable("v"); return v, nil })
	switch kind := rapid.SampledFrom(kinds).Draw(g.t, "kind"); kind {
	case "set":
		g.calls++
		return act("SetVariable", inputs{"variable": lit("v"), "value": lit(fmt.Sprint("s", g.calls))})
	case "sequence":
		return seq(kids()...)
	case "parallel":
		return act("Parallel", nil, kids()...)
	case "fork":
		return act("Fork", nil, kids()...)
	case "race":
		return act("Fork", inputs{"joinMode": lit("WaitAny")}, kids()...)
	case "each":
		return port(act("ParallelForEach", inputs{"items": lit([]any{"x", "y", "z"})}), "body", seq(kids()...))
	}
	g.calls++
	a := ask(fmt.Sprint("c", g.calls))
	if g.races {
		a.Inputs["say"] = seen
	}
	return a
}

func (g *tree) compile(s *service, a *workflow.Activity, options workflow.Options) *engine.Program {
	reg := activities.Default()
	if err := reg.Register(asksDescriptor, asking{s}); err != nil {
		g.t.Fatal(err)
	}
	def := &workflow.Definition{ID: "def", Root: a, Options: options, Variables: []workflow.Variable{{Name: "v"}}}
	prog, problems := engine.Compile(def, engine.Options{Registry: reg, Evaluators: []engine.Evaluator{testEvaluator{}}})
	if problems != nil {
		g.t.Fatal(problems)
	}
	return prog
}

// Wherever nodes end and in any order of answers: a call that is made again has its key, and with one key it says the same.
func TestAKeySaysTheSameInAnyOrderOfAnswers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		g := &tree{t: rt, races: true}
		s := &service{}
		l := newLives(rt, s)
		l.prog = g.compile(s, g.draw(3), workflow.Options{
			CommitStrategy: rapid.SampledFrom([]string{"", "", "ActivityExecuting", "ActivityExecuted", "WorkflowExecuting"}).Draw(rt, "commit"),
			Calls:          rapid.SampledFrom([]string{"", "2", "3"}).Draw(rt, "calls"),
		})
		s.answer = func(context.Context, string) error {
			if l.ends--; l.ends == 0 {
				l.cancel(errCrash)
				return errCrash
			}
			return nil
		}
		for n := range 40 {
			l.ends = 1 + l.rand.IntN(12)
			if n > 20 {
				l.ends = -1
			}
			if l.live() {
				break
			}
		}
		if l.header.SubStatus != workflow.Finished || len(s.twice) > 0 {
			rt.Fatalf("%s; the same key says something else: %q; incidents %v", l.header.SubStatus, s.twice, l.header.Incidents)
		}
	})
}

// Without races and variables of all it is the same whether calls are beside each other or take turns.
func TestCallsBesideEachOtherDoWhatTurnsDo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		g := &tree{t: rt}
		a := g.draw(4)
		run := func(calls, commit string) (lines, keys []string) {
			s := &service{}
			l := newLives(rt, s)
			l.ends = -1
			l.prog = g.compile(s, a, workflow.Options{Calls: calls, CommitStrategy: commit})
			if !l.live() || l.header.SubStatus != workflow.Finished {
				rt.Fatalf("%s %v", l.header.SubStatus, l.header.Incidents)
			}
			for _, said := range s.said {
				keys = append(keys, said)
			}
			return sorted(l.lines), sorted(keys)
		}
		lines, keys := run("turns", "")
		got, said := run("", rapid.SampledFrom([]string{"", "ActivityExecuting", "ActivityExecuted"}).Draw(rt, "commit"))
		if !slices.Equal(lines, got) || !slices.Equal(keys, said) {
			rt.Errorf("lines %q and %q, calls %q and %q", lines, got, keys, said)
		}
	})
}
