package activities_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// flaky fails as long as broken is set.
func flaky(broken *bool, keys *[]string) *workflow.Activity {
	return activities.Inline(func(_ context.Context, x *engine.Execution) error {
		*keys = append(*keys, x.IdempotencyKey())
		if *broken {
			x.Schedule(nil, engine.Child{})
			return errors.New("not now")
		}
		return nil
	})
}

func TestRetryRepeatsTheFaultedActivityOnly(t *testing.T) {
	t.Parallel()
	broken, keys := true, []string{}
	def := root(act("Parallel", nil,
		seq(line("a"), named("bad", flaky(&broken, &keys)), line("b")),
		seq(wait("ev"), line("c")),
		seq(line("d"), line("e"), line("f")),
	))
	b := start(t, def).wantStatus(workflow.Faulted)
	if len(b.header.Bookmarks) != 0 || len(b.last.Created) != 0 {
		t.Errorf("a faulted instance has bookmarks %v", b.bookmarks())
	}
	b.command(workflow.CommandRetry)
	b.wantStatus(workflow.Faulted)
	broken = false
	b.command(workflow.CommandRetry)
	b.wantStatus(workflow.Suspended)
	if !slices.Equal(b.bookmarks(), []string{"ev"}) || len(b.last.Created) != 1 {
		t.Errorf("bookmarks %v, created %v", b.bookmarks(), b.last.Created)
	}
	b.resume("ev", nil)
	b.wantStatus(workflow.Finished)
	slices.Sort(b.lines)
	b.wantLines("a", "b", "c", "d", "e", "f")
	if len(keys) != 3 || keys[0] != keys[1] || keys[1] != keys[2] {
		t.Errorf("each attempt by an operator has the key of the first: %v", keys)
	}
	if out := b.command(workflow.CommandRetry); out != engine.NotRunning {
		t.Errorf("outcome %s", out)
	}
}

// A root that faulted itself, since it is one activity, or for want of an input, is
// run anew.
func TestRetryOfTheRoot(t *testing.T) {
	t.Parallel()
	fails := true
	b := start(t, root(lineOf(expr(func(engine.Scope) (any, error) {
		if fails {
			return nil, errors.New("not yet")
		}
		return "now", nil
	})))).wantStatus(workflow.Faulted)
	b.command(workflow.CommandRetry)
	b.wantStatus(workflow.Faulted)
	fails = false
	b.command(workflow.CommandRetry)
	b.wantStatus(workflow.Finished).wantLines("now")

	def := root(seq(line("x")))
	def.Inputs = []workflow.Input{{Name: "needed", Required: true}}
	b = start(t, def).wantStatus(workflow.Faulted)
	b.command(workflow.CommandRetry)
	b.wantStatus(workflow.Faulted)
}

func TestRetryGoesOnInsideALoop(t *testing.T) {
	t.Parallel()
	broken := true
	cond := expr(func(s engine.Scope) (any, error) {
		n, _ := s.Variable("n")
		if n == int64(2) && broken {
			return nil, errors.New("no answer")
		}
		return n.(int64) < 3, s.SetVariable("n", n.(int64)+1)
	})
	def := root(body(act("While", inputs{"condition": cond}), lineOf(varExpr("n"))))
	def.Variables = []workflow.Variable{{Name: "n", Type: "Int32", Value: 0}}
	b := start(t, def).wantStatus(workflow.Faulted).wantLines("1", "2")
	broken = false
	b.command(workflow.CommandRetry)
	b.wantStatus(workflow.Finished).wantLines("1", "2", "3")
}

func TestRetryOfAFailedTask(t *testing.T) {
	t.Parallel()
	a := named("task", act("RunTask", inputs{"taskName": lit("pack"), "payload": lit(map[string]any{"x": 1})}))
	a.Outputs = map[string]string{"result": "r"}
	def := root(seq(a, lineOf(varExpr("r"))))
	def.Variables = []workflow.Variable{{Name: "r"}}
	b := start(t, def).wantStatus(workflow.Suspended)
	bm := b.header.Bookmarks[0]
	payload, _ := bm.Payload.(map[string]any)
	id, _ := payload["taskId"].(string)
	if want, _ := workflow.Hash("Elsa.RunTask", activities.TaskPayload(id)); bm.Hash != want || bm.Name != "pack" || id == "" {
		t.Errorf("bookmark %+v", bm)
	}
	b.resume("pack", map[string]any{"error": "out of paper"})
	b.wantStatus(workflow.Faulted)
	if in := b.header.Incidents[0]; in.Message != "task pack failed: out of paper" || in.Cause != "" {
		t.Errorf("incident %+v", in)
	}
	b.command(workflow.CommandRetry)
	b.wantStatus(workflow.Suspended)
	if got := b.header.Bookmarks; len(got) != 1 || got[0].Name != "pack" || got[0].ID == bm.ID || got[0].Hash == bm.Hash {
		t.Fatalf("the task is not listed anew: %+v", got)
	}
	b.resume("pack", map[string]any{"result": "done well"})
	b.wantStatus(workflow.Finished).wantLines("done well")
}

// What comes from outside may be wrong; a retry waits for something better.
func TestARetryAfterAValueThatDoesNotFitWaitsAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		a         *workflow.Activity
		output    string
		bad, good map[string]any
	}{
		"event":    {wait("n"), "result", map[string]any{"payload": "many"}, map[string]any{"payload": 5}},
		"task":     {act("RunTask", inputs{"taskName": lit("n")}), "result", map[string]any{"result": "many"}, map[string]any{"result": 5}},
		"endpoint": {act("HttpEndpoint", inputs{"path": lit("n"), "supportedMethods": lit([]any{"GET", "POST"})}), "parsedContent", map[string]any{"parsedBody": "many"}, map[string]any{"parsedBody": 5}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := named("a", c.a)
			a.Outputs = map[string]string{c.output: "n"}
			def := root(seq(a, lineOf(varExpr("n"))))
			def.Variables = []workflow.Variable{{Name: "n", Type: "Int32"}}
			b := start(t, def)
			names := b.bookmarks()
			b.resume("a", c.bad)
			b.wantStatus(workflow.Faulted)
			if in := b.header.Incidents[0]; in.Message != "output "+c.output+`: variable n: "many" is not a whole number` {
				t.Errorf("incident %+v", in)
			}
			b.command(workflow.CommandRetry)
			b.wantStatus(workflow.Suspended)
			if !slices.Equal(b.bookmarks(), names) {
				t.Fatalf("bookmarks %v, want %v", b.bookmarks(), names)
			}
			b.resume("a", c.good)
			b.wantStatus(workflow.Finished).wantLines("5")
		})
	}
}

// twoWaits waits for either of two; a resume that brings something bad fails.
type twoWaits struct{}

func (twoWaits) Execute(_ context.Context, x *engine.Execution) error {
	_, err := x.Wait(engine.Wait{Name: "one"})
	_, err2 := x.Wait(engine.Wait{Name: "two"})
	return errors.Join(err, err2)
}

func (twoWaits) Resume(_ context.Context, x *engine.Execution, r engine.Resume) error {
	if r.Input["bad"] == true {
		return engine.BeginAgain(errors.New("bad"))
	}
	x.Complete()
	return nil
}

func TestWhatBeginsAgainWaitsForNothingOfBefore(t *testing.T) {
	t.Parallel()
	for strategy, want := range map[string]workflow.SubStatus{"": workflow.Faulted, "ContinueWithIncidents": workflow.Suspended} {
		def := root(seq(&workflow.Activity{Type: "acme.TwoWaits"}))
		def.Options.IncidentStrategy = strategy
		b := start(t, def, func(_ *bench, o *engine.Options, _ *workflow.Start) {
			if err := o.Registry.Register(workflow.Descriptor{Type: "acme.TwoWaits"}, twoWaits{}); err != nil {
				t.Fatal(err)
			}
		})
		before := b.header.Bookmarks
		b.resume("one", map[string]any{"bad": true})
		b.wantStatus(want)
		b.command(workflow.CommandRetry)
		b.wantStatus(workflow.Suspended)
		if !slices.Equal(b.bookmarks(), []string{"one", "two"}) || b.header.Bookmarks[1].ID == before[1].ID {
			t.Fatalf("%q: bookmarks %+v", strategy, b.header.Bookmarks)
		}
		b.resume("two", nil)
		b.wantStatus(workflow.Finished)
	}
}

func TestATaskGivesItsResult(t *testing.T) {
	t.Parallel()
	a := act("RunTask", inputs{"taskName": lit("pack")})
	a.Outputs = map[string]string{"result": "r"}
	def := root(seq(a, lineOf(varExpr("r"))))
	def.Variables = []workflow.Variable{{Name: "r"}}
	b := start(t, def)
	b.resume("pack", map[string]any{"result": "done well"})
	b.wantStatus(workflow.Finished).wantLines("done well")
}

func TestTheChildsEndOfAFaultedParentWaitsForTheRetry(t *testing.T) {
	t.Parallel()
	broken, keys := true, []string{}
	def := root(act("Parallel", nil,
		seq(act("ExecuteWorkflow", inputs{"workflowDefinitionId": lit("child")}), line("child ended")),
		seq(line("a"), flaky(&broken, &keys)),
	))
	b := start(t, def).wantStatus(workflow.Faulted)
	if len(b.children) != 1 || b.children[0].Start.Parent.BookmarkID == "" {
		t.Fatalf("children %+v", b.children)
	}
	end := workflow.Command{ID: "end", Kind: workflow.CommandChildEnd, Bookmark: b.children[0].Start.Parent.BookmarkID, Input: map[string]any{"WorkflowSubStatus": "Finished"}}
	if out := b.run(end); out != engine.Applied {
		t.Errorf("outcome %s", out)
	}
	broken = false
	b.command(workflow.CommandRetry)
	b.wantStatus(workflow.Finished).wantLines("a", "child ended")
}
