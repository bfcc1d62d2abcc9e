package activities_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// However an instance comes to keep more than may be kept, the burst stops when it
// does, and cannot be committed; what comes and goes is no reason.
func TestWhatAnInstanceKeepsIsBoundedWhileItGrows(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 1<<20)
	sets := func(format string) *workflow.Activity {
		return act("SetName", inputs{"value": expr(func(s engine.Scope) (any, error) {
			i, _ := s.Variable("CurrentIndex")
			return "n", s.SetVariable(fmt.Sprintf(format, i, ""), strings.Clone(large))
		})})
	}
	many := lit(make([]any, 400))
	each := func(a *workflow.Activity) *workflow.Activity {
		return body(act("ParallelForEach", inputs{"items": many}), a)
	}
	same := expr(func(s engine.Scope) (any, error) { return []any{"small", large}, nil }) // the loop keeps what no round has come to
	loop := func(a *workflow.Activity) *workflow.Activity {
		return body(act("ForEach", inputs{"items": many}), a)
	}
	for name, tt := range map[string]struct {
		root *workflow.Activity
		fits bool
	}{
		"tasks with one payload": {each(act("RunTask", inputs{"taskName": lit("t"), "payload": lit(map[string]any{"large": large})})), false},
		"variables":              {loop(sets("v%[1]v")), false},
		"variables of branches":  {each(seq(sets("v%[1]v"), wait("ev"))), false},
		"lists of loops":         {each(body(act("ForEach", inputs{"items": same}), wait("ev"))), false},
		"items": {body(act("ParallelForEach", inputs{"items": expr(func(engine.Scope) (any, error) {
			return []any{large, large, large, large, large, large, large, large, large, large, large, large, large, large, large, large, large}, nil
		})}), wait("ev")), false},
		"one variable, again and again": {loop(sets("v%[2]v")), true},
		"what ends":                     {loop(seq(body(act("ForEach", inputs{"items": same}), act("SetName", inputs{"value": lit("n")})))), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := 0
			env := engine.Env{Now: func() time.Time { return t0 }, Lines: func(string) {}}
			prog, problems := engine.Compile(&workflow.Definition{ID: "d", Root: tt.root}, engine.Options{Registry: activities.Default(), Evaluators: []engine.Evaluator{testEvaluator{}}})
			if err := problems.Err(); err != nil {
				t.Fatal(err)
			}
			s := &workflow.Start{DefinitionID: "d"}
			b, err := engine.New(prog, "i", s, t0, env)
			if err != nil {
				t.Fatal(err)
			}
			cmd := workflow.Command{ID: "c", Kind: workflow.CommandStart, Start: s}
			for out := engine.CommitFirst; out == engine.CommitFirst; set++ {
				if out, err = b.Run(t.Context(), cmd); err != nil {
					t.Fatal(err)
				}
				cmd = workflow.Command{ID: workflow.ContinueID, Kind: workflow.CommandContinue}
				res, err := b.Result()
				switch {
				case err == nil && len(res.State) > 20<<20:
					t.Fatalf("a state of %d bytes", len(res.State))
				case err == nil:
					b.Committed()
					continue
				case tt.fits || workflow.CodeOf(err) != workflow.CodeTooLarge || !strings.Contains(err.Error(), "at most 16777216"):
					t.Fatal(err)
				}
				return
			}
			if !tt.fits {
				t.Error("it can be committed")
			}
		})
	}
}

// It stops at once, and not when it would be committed: that may be thousands of
// activities later.
func TestABurstStopsWhenItsInstanceKeepsTooMuch(t *testing.T) {
	t.Parallel()
	ran := 0
	grow := act("SetName", inputs{"value": expr(func(s engine.Scope) (any, error) {
		ran++
		return "n", s.SetVariable(fmt.Sprint("v", ran), strings.Repeat("x", 1<<20))
	})})
	prog, problems := engine.Compile(root(body(act("ForEach", inputs{"items": lit(make([]any, 400))}), grow)), engine.Options{Registry: activities.Default(), Evaluators: []engine.Evaluator{testEvaluator{}}})
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	s := &workflow.Start{DefinitionID: "d"}
	b, err := engine.New(prog, "i", s, t0, engine.Env{Now: func() time.Time { return t0 }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Run(t.Context(), workflow.Command{ID: "c", Kind: workflow.CommandStart, Start: s}); err != nil {
		t.Fatal(err)
	}
	if ran < 16 || ran > 20 {
		t.Errorf("%d times 1 MiB before it stopped", ran)
	}
}
