package activities_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// genActivity draws a tree of activities of many kinds, some of which fail.
func genActivity(t *rapid.T, depth int) *workflow.Activity {
	node := rapid.SampledFrom([]string{"seq", "parallel", "fork", "if", "for", "each", "pareach", "flow", "scope"})
	kids := func() []*workflow.Activity {
		var out []*workflow.Activity
		for range rapid.IntRange(0, 3).Draw(t, "kids") {
			a := genActivity(t, depth-1)
			if rapid.IntRange(0, 3).Draw(t, "undo") == 0 {
				port(a, workflow.UndoPort, genLeaf(t))
			}
			out = append(out, a)
		}
		return out
	}
	if depth <= 0 || rapid.Bool().Draw(t, "leaf") {
		return genLeaf(t)
	}
	items := lit([]any{1, "two", 3.5})
	switch node.Draw(t, "kind") {
	case "parallel":
		return act("Parallel", nil, kids()...)
	case "fork":
		return act("Fork", inputs{"joinMode": lit("WaitAny")}, kids()...)
	case "if":
		return port(act("If", inputs{"condition": lit(rapid.Bool().Draw(t, "if"))}), "then", seq(kids()...))
	case "for":
		return body(act("For", inputs{"end": lit(2)}), kids()...)
	case "each":
		return body(act("ForEach", inputs{"items": items}), kids()...)
	case "pareach":
		return body(act("ParallelForEach", inputs{"items": items}), kids()...)
	case "flow":
		return act("Flowchart", nil, kids()...)
	case "scope":
		return port(body(act("Scope", nil), kids()...), "onUndone", line("undone"))
	}
	return seq(kids()...)
}

// genLeaf draws an activity that holds no others, or a small loop.
func genLeaf(t *rapid.T) *workflow.Activity {
	leaf := rapid.SampledFrom([]string{"line", "event", "delay", "child", "publish", "set", "task", "bulk", "fault", "break", "newid", "complete", "correlate", "note", "said", "awaited", "items", "compensate", "fail"})
	switch leaf.Draw(t, "kind") {
	case "event":
		return wait(rapid.SampledFrom([]string{"a", "b"}).Draw(t, "event"))
	case "delay":
		return act("Delay", inputs{"timeSpan": lit("5s")})
	case "child":
		return act("ExecuteWorkflow", inputs{"workflowDefinitionId": lit("c"), "waitForCompletion": lit(rapid.Bool().Draw(t, "wait"))})
	case "publish":
		return act("PublishEvent", inputs{"eventName": lit("a"), "payload": lit(map[string]any{"x": 1, "y": 2.5, "z": nil})})
	case "set":
		return act("SetVariable", inputs{"variable": lit("v"), "value": expr(func(s engine.Scope) (any, error) { v, _ := s.Variable("v"); n, _ := v.(int64); return n + 1, nil })})
	case "task":
		return act("RunTask", inputs{"taskName": lit("t")})
	case "bulk":
		return act("BulkDispatchWorkflows", inputs{"workflowDefinitionId": lit("c"), "items": lit([]any{1, "x"}), "waitForCompletion": lit(true)})
	case "compensate":
		return act("Compensate", nil)
	case "fail":
		return act("Fail", inputs{"message": lit("bad")})
	case "fault":
		return act("Fault", inputs{"message": lit("bad")})
	case "break":
		return act("Break", nil)
	case "complete":
		return act("Complete", nil)
	case "newid":
		return lineOf(expr(func(s engine.Scope) (any, error) { return s.NewID() + s.Now().String(), nil }))
	case "note": // is forgotten with the burst
		return act("SetVariable", inputs{"variable": lit("m"), "value": varExpr("v")})
	case "said":
		return lineOf(expr(func(s engine.Scope) (any, error) {
			m, _ := s.Variable("m")
			in, _ := s.Input("m")
			return fmt.Sprint(m, in), nil
		}))
	case "awaited": // an input of what waits is evaluated again after the burst
		return act("Event", inputs{"eventName": expr(func(s engine.Scope) (any, error) { v, _ := s.Variable("v"); return fmt.Sprint("e", v), nil })})
	case "items":
		return body(act("ForEach", inputs{"items": expr(func(s engine.Scope) (any, error) { v, _ := s.Variable("v"); return []any{v, "x", v}, nil })}),
			act("SetVariable", inputs{"variable": lit("v"), "value": lit(7)}), wait("a"))
	case "correlate":
		return act("Correlate", inputs{"correlationId": expr(func(s engine.Scope) (any, error) { return s.NewID(), nil })})
	}
	return line("x")
}

// number gives every flowchart activity a stable id and draws its connections.
func number(t *rapid.T, r *workflow.Activity) {
	n := 0
	var charts []*workflow.Activity
	workflow.Walk(r, func(a, _ *workflow.Activity, _ int) bool {
		n++
		a.ID = fmt.Sprint("n", n)
		if a.Type == "Elsa.Flowchart" {
			charts = append(charts, a)
		}
		return true
	})
	for _, f := range charts {
		k := len(f.Activities)
		for range rapid.IntRange(0, 2*k).Draw(t, "connections") {
			from, to := rapid.IntRange(0, k-1).Draw(t, "from"), rapid.IntRange(0, k-1).Draw(t, "to")
			if from < to || rapid.IntRange(0, 9).Draw(t, "back") == 0 {
				f.Connections = append(f.Connections, workflow.Connection{Source: f.Activities[from].ID, Target: f.Activities[to].ID})
			}
		}
	}
}

// TestEqualInputsGiveEqualBytes runs a random workflow with random commands
// twice: once in one burst that stays in memory, and once encoded and loaded
// between any two commands. Every commit must be the same to the byte, and a
// third run, which drops each burst once before repeating it, too.
func TestEqualInputsGiveEqualBytes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := seq(port(line("x"), workflow.UndoPort, line("y")), genActivity(t, 3), genActivity(t, 3))
		number(t, r)
		def := &workflow.Definition{ID: "d", Root: r, Variables: []workflow.Variable{{Name: "v", Value: 0}, {Name: "m", Value: "first", StorageDriver: "Memory"}},
			Inputs: []workflow.Input{{Name: "m", StorageDriver: "Memory"}}}
		def.Options.IncidentStrategy = rapid.SampledFrom([]string{"", "ContinueWithIncidents"}).Draw(t, "strategy")
		def.Options.CommitStrategy = rapid.SampledFrom([]string{"", "ActivityExecuted", "ActivityExecuting", "ActivityExecutedStrict", "ActivityExecutingStrict"}).Draw(t, "commit")
		prog, problems := engine.Compile(def, engine.Options{Registry: activities.Default(), Evaluators: []engine.Evaluator{testEvaluator{}}})
		if problems != nil {
			t.Fatal(problems)
		}
		seed := rapid.SliceOfN(rapid.IntRange(0, 1000), 0, 12).Draw(t, "commands")
		c := course{prog: prog, start: workflow.Start{Input: map[string]any{"n": 1.0, "m": "given"}}, seed: seed, limits: engine.Limits{Activities: 300}}
		equalHistories(t, c, c)
	})
}

// TestABurstThatStaysForgetsWhatABurstForgets: after a commit it is as one that is
// loaded, without its variables and inputs in memory, and with inputs to be evaluated again.
func TestABurstThatStaysForgetsWhatABurstForgets(t *testing.T) {
	t.Parallel()
	said := func(id string) *workflow.Activity {
		return named(id, lineOf(expr(func(s engine.Scope) (any, error) {
			m, _ := s.Variable("m")
			in, _ := s.Input("m")
			return fmt.Sprint(m, in), nil
		})))
	}
	set := func(id, variable string, value any) *workflow.Activity {
		return named(id, act("SetVariable", inputs{"variable": lit(variable), "value": lit(value)}))
	}
	over := named("each", body(act("ForEach", inputs{"items": expr(func(s engine.Scope) (any, error) {
		v, _ := s.Variable("v")
		return []any{v, v, v}, nil
	})}), said("e1"), set("e2", "v", 7), set("e3", "m", "noted"), named("e4", wait("a")), said("e5"), named("e6", lineOf(varExpr("CurrentValue")))))
	def := &workflow.Definition{ID: "d", Root: named("root", seq(set("s1", "m", "noted"), said("s2"), over)),
		Variables: []workflow.Variable{{Name: "v", Value: 0}, {Name: "m", Value: "first", StorageDriver: "Memory"}},
		Inputs:    []workflow.Input{{Name: "m", StorageDriver: "Memory"}}, Options: workflow.Options{CommitStrategy: "ActivityExecutedStrict"}}
	prog, problems := engine.Compile(def, engine.Options{Registry: activities.Default(), Evaluators: []engine.Evaluator{testEvaluator{}}})
	if problems != nil {
		t.Fatal(problems)
	}
	c := course{prog: prog, start: workflow.Start{Input: map[string]any{"m": "given"}}, seed: []int{200, 300, 400}, limits: engine.Limits{Activities: 300}}
	if n := len(equalHistories(t, c, c)); n < 15 {
		t.Errorf("only %d commits", n)
	}
}

// course is what happens to an instance.
type course struct {
	prog   *engine.Program
	start  workflow.Start
	seed   []int // of the commands
	limits engine.Limits
	saw    func(engine.Result) // of each commit; nil: nobody looks
}

// equalHistories runs a course in memory; loaded between commands, as the second
// course; and so that each burst is dropped once: every commit is the same. It gives
// them all.
func equalHistories(t rapid.TB, c, second course) []string {
	inMemory := history(t, c, false, false)
	loaded := history(t, second, true, false)
	repeated := history(t, c, true, true)
	if len(inMemory) != len(loaded) || len(loaded) != len(repeated) {
		t.Fatalf("%d commits, %d, and %d", len(inMemory), len(loaded), len(repeated))
	}
	for i := range inMemory {
		if inMemory[i] != loaded[i] || loaded[i] != repeated[i] {
			t.Fatalf("commit %d differs:\n1: %s\n2: %s\n3: %s", i, inMemory[i], loaded[i], repeated[i])
		}
	}
	return inMemory
}

// maxCommits bounds the commits of one command: a loop may have no end. What comes next meets it on its way.
const maxCommits = 100

// history runs an instance through commands and gives every commit as JSON.
func history(t rapid.TB, c course, load, repeat bool) []string {
	clock, prog, ctx := t0, c.prog, context.Background()
	env := engine.Env{Now: func() time.Time { return clock }, Head: func(string) (int, bool) { return 1, true }, Limits: c.limits}
	b, err := engine.New(prog, "i", &c.start, t0, env)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	h, state := commit(t, c, b, &out)
	do := func(cmd workflow.Command) engine.Outcome {
		if load {
			if b, err = engine.Load(prog, h, state, env); err != nil {
				t.Fatalf("%v\n%s", err, state)
			}
		}
		if repeat { // a burst that was never committed leaves no trace
			if _, err := b.Run(ctx, cmd); err != nil {
				t.Fatal(err)
			}
			if b, err = engine.Load(prog, h, state, env); err != nil {
				t.Fatal(err)
			}
		}
		oc, err := b.Run(ctx, cmd)
		if err != nil {
			t.Fatal(err)
		}
		h, state = commit(t, c, b, &out)
		return oc
	}
	run := func(cmd workflow.Command) {
		oc := do(cmd)
		for n := 0; oc == engine.CommitFirst && n < maxCommits; n++ {
			oc = do(workflow.Command{ID: workflow.ContinueID, Kind: workflow.CommandContinue})
		}
	}
	run(workflow.Command{ID: "start", Kind: workflow.CommandStart, Start: &c.start})
	for i, s := range c.seed {
		clock = clock.Add(time.Second)
		cmd := workflow.Command{ID: fmt.Sprint("c", i), Kind: workflow.CommandResume}
		switch {
		case s < 100:
			cmd.Kind = workflow.CommandRetry
		case s < 130:
			cmd.Kind = workflow.CommandCancel
		case len(h.Bookmarks) > 0:
			cmd.Bookmark = h.Bookmarks[s%len(h.Bookmarks)].ID
			cmd.Input = map[string]any{"payload": s, "WorkflowSubStatus": "Finished"}
		}
		run(cmd)
	}
	return out
}

func commit(t rapid.TB, c course, b *engine.Burst, out *[]string) (workflow.Instance, []byte) {
	res, err := b.Result()
	if err != nil {
		t.Fatal(err)
	}
	again, _ := b.Result()
	one, _ := json.Marshal(res)
	two, _ := json.Marshal(again)
	if string(one) != string(two) {
		t.Fatalf("two calls of Result differ:\n%s\n%s", one, two)
	}
	*out = append(*out, string(one)+string(res.State))
	if c.saw != nil {
		c.saw(res)
	}
	b.Committed()
	raw, _ := json.Marshal(res.Instance)
	var h workflow.Instance
	if err := workflow.Unmarshal(raw, &h); err != nil {
		t.Fatal(err)
	}
	return h, res.State
}
