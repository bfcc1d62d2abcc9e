package activities_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

func benchProgram(b *testing.B, r *workflow.Activity) *engine.Program {
	b.Helper()
	def := &workflow.Definition{ID: "d", Root: r, Variables: []workflow.Variable{{Name: "v", Type: "Int32", Value: 1}}}
	prog, problems := engine.Compile(def, engine.Options{Registry: activities.Default(), Evaluators: []engine.Evaluator{testEvaluator{}}})
	if problems != nil {
		b.Fatal(problems)
	}
	return prog
}

// benchRun measures one burst of a new instance, its result included.
func benchRun(b *testing.B, prog *engine.Program, want workflow.SubStatus) {
	b.Helper()
	env := engine.Env{Now: nowT0, Lines: func(string) {}}
	s := &workflow.Start{}
	cmd := workflow.Command{ID: "start", Kind: workflow.CommandStart}
	b.ReportAllocs()
	for b.Loop() {
		burst, err := engine.New(prog, "instance", s, t0, env)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := burst.Run(b.Context(), cmd); err != nil {
			b.Fatal(err)
		}
		res, err := burst.Result()
		if err != nil || res.Instance.SubStatus != want {
			b.Fatal(res.Instance, err)
		}
	}
}

func BenchmarkSequenceOfThree(b *testing.B) {
	benchRun(b, benchProgram(b, seq(line("a"), act("SetVariable", inputs{"variable": lit("v"), "value": varExpr("v")}), line("c"))), workflow.Finished)
}

func BenchmarkSequenceThatWaits(b *testing.B) {
	benchRun(b, benchProgram(b, seq(line("a"), wait("ev"), line("c"))), workflow.Suspended)
}

func BenchmarkFlowchartOf100(b *testing.B) {
	var kids []*workflow.Activity
	var cons []string
	for i := range 100 {
		kids = append(kids, say(fmt.Sprint("n", i)))
		if i > 0 {
			cons = append(cons, fmt.Sprintf("n%d -> n%d", i-1, i))
		}
	}
	benchRun(b, benchProgram(b, flow(strings.Join(cons, ","), kids...)), workflow.Finished)
}

// BenchmarkResume measures what an event costs: load, run to the end, result.
func BenchmarkResume(b *testing.B) {
	prog := benchProgram(b, seq(line("a"), wait("ev"), line("c")))
	env := engine.Env{Now: nowT0, Lines: func(string) {}}
	burst, _ := engine.New(prog, "instance", &workflow.Start{}, t0, env)
	if _, err := burst.Run(b.Context(), workflow.Command{ID: "start", Kind: workflow.CommandStart}); err != nil {
		b.Fatal(err)
	}
	res, _ := burst.Result()
	cmd := workflow.Command{ID: "resume", Kind: workflow.CommandResume, Bookmark: res.Instance.Bookmarks[0].ID, Input: map[string]any{"payload": 1}}
	b.ReportAllocs()
	for b.Loop() {
		next, err := engine.Load(prog, res.Instance, res.State, env)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := next.Run(b.Context(), cmd); err != nil {
			b.Fatal(err)
		}
		if r, err := next.Result(); err != nil || r.Instance.SubStatus != workflow.Finished {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompile1000(b *testing.B) {
	var kids []*workflow.Activity
	for range 1000 {
		kids = append(kids, line("x"))
	}
	r := seq(kids...)
	b.ReportAllocs()
	for b.Loop() {
		benchProgram(b, r)
	}
}
