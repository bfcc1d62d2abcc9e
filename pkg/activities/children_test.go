package activities_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

func (b *bench) endChild(i int, sub workflow.SubStatus, output map[string]any) engine.Outcome {
	b.t.Helper()
	c := b.children[i]
	return b.run(workflow.Command{ID: b.id("end"), Kind: workflow.CommandChildEnd, Bookmark: c.Start.Parent.BookmarkID, Input: map[string]any{
		"WorkflowInstanceId": c.InstanceID, "WorkflowStatus": "Finished", "WorkflowSubStatus": string(sub), "WorkflowOutput": output,
	}})
}

func TestExecuteWorkflowWaitsForItsChild(t *testing.T) {
	t.Parallel()
	for _, sub := range []workflow.SubStatus{workflow.Finished, workflow.Faulted, workflow.Cancelled} {
		a := named("run", act("ExecuteWorkflow", inputs{"workflowDefinitionId": lit("child"), "input": lit(`{"Message":"hi"}`), "correlationId": lit("c")}))
		a.Outputs = map[string]string{"result": "r"}
		def := root(seq(line("before"), a, lineOf(expr(func(s engine.Scope) (any, error) {
			v, _ := s.Variable("r")
			m := v.(map[string]any)
			if m["subStatus"] != m["SubStatus"] || fmt.Sprint(m["output"]) != fmt.Sprint(m["Output"]) || m["workflowInstanceId"] != m["WorkflowInstanceId"] {
				return "the two styles differ", nil
			}
			return fmt.Sprint(m["subStatus"], " ", m["output"]), nil
		}))))
		def.Variables = []workflow.Variable{{Name: "r"}}
		b := start(t, def).wantStatus(workflow.Suspended).wantLines("before")
		c := b.children[0]
		if c.Start.DefinitionID != "child" || c.Start.Version != 7 || c.Start.Input["Message"] != "hi" || c.Start.CorrelationID != "c" || c.Start.Parent.InstanceID != "i1" || c.Start.Parent.BookmarkID != b.header.Bookmarks[0].ID {
			t.Errorf("child %+v", c)
		}
		b.endChild(0, sub, map[string]any{"o": 1})
		b.wantStatus(workflow.Finished).wantLines("before", string(sub)+" map[o:1]")
		if got := strings.Join(b.outcomes("run"), " "); got != "Done "+string(sub) {
			t.Errorf("outcomes %s", got)
		}
		if out := b.endChild(0, sub, nil); out != engine.NotRunning {
			t.Errorf("outcome %s", out)
		}
	}
}

func TestChildrenThatNobodyWaitsFor(t *testing.T) {
	t.Parallel()
	b := start(t, root(seq(
		act("ExecuteWorkflow", inputs{"workflowDefinitionId": lit("a"), "waitForCompletion": lit("False")}),
		act("DispatchWorkflow", inputs{"workflowDefinitionId": lit("b")}),
		act("BulkDispatchWorkflows", inputs{"workflowDefinitionId": lit("c"), "items": lit([]any{1, 2})}),
	))).wantStatus(workflow.Finished)
	seen := map[string]bool{}
	for _, c := range b.children {
		if c.Start.Parent.BookmarkID != "" || c.Start.Parent.InstanceID != "i1" || seen[c.InstanceID] {
			t.Errorf("child %+v", c)
		}
		seen[c.InstanceID] = true
	}
	if len(b.children) != 4 {
		t.Errorf("children %v", b.children)
	}
}

func TestBulkDispatch(t *testing.T) {
	t.Parallel()
	a := named("bulk", act("BulkDispatchWorkflows", inputs{
		"workflowDefinitionId": lit("child"), "waitForCompletion": lit(true),
		"items": lit([]any{"x", map[string]any{"Name": "y"}, 3}), "input": lit(map[string]any{"Common": true}),
		"correlationIdFunction": expr(func(s engine.Scope) (any, error) { i, _ := s.Variable("Index"); return fmt.Sprint("c-", i), nil }),
	}))
	port(a, "childCompleted", lineOf(expr(func(s engine.Scope) (any, error) { v, _ := s.Variable("ChildOutput"); return fmt.Sprint("ok ", v), nil })))
	port(a, "childFaulted", line("bad"))
	a.Outputs = map[string]string{"result": "r"}
	def := root(seq(a, line("all")))
	def.Variables = []workflow.Variable{{Name: "r"}}
	def.Outputs = []workflow.Output{{Name: "r", Value: ptr(varExpr("r"))}}
	b := start(t, def).wantStatus(workflow.Suspended)
	for i, want := range []string{"map[Common:true Item:x]", "map[Common:true Name:y]", "map[Common:true Item:3]"} {
		if got := fmt.Sprint(b.children[i].Start.Input); got != want || b.children[i].Start.CorrelationID != fmt.Sprint("c-", i) {
			t.Errorf("child %d: %s, correlation %s", i, got, b.children[i].Start.CorrelationID)
		}
	}
	b.endChild(1, workflow.Faulted, nil)
	b.endChild(0, workflow.Finished, map[string]any{"n": 1})
	// A child's end that comes twice counts once.
	if out := b.endChild(0, workflow.Finished, nil); out != engine.NoBookmark {
		t.Errorf("outcome %s", out)
	}
	b.wantStatus(workflow.Suspended)
	b.endChild(2, workflow.Cancelled, nil)
	b.wantStatus(workflow.Finished).wantLines("bad", "ok map[n:1]", "ok <nil>", "all")
	if got := fmt.Sprint(b.header.Output["r"]); got != "map[Cancelled:1 Dispatched:3 Faulted:1 Finished:1 cancelled:1 dispatched:3 faulted:1 finished:1]" {
		t.Errorf("result %s", got)
	}
	if got := strings.Join(b.outcomes("bulk"), " "); got != "Completed Done" {
		t.Errorf("outcomes %s", got)
	}
}

func TestBulkDispatchOfNothingAndOfTheUnknown(t *testing.T) {
	t.Parallel()
	start(t, root(seq(act("BulkDispatchWorkflows", inputs{"workflowDefinitionId": lit("child"), "waitForCompletion": lit(true), "items": lit([]any{})}), line("on")))).wantLines("on").wantStatus(workflow.Finished)
	b := start(t, root(act("BulkDispatchWorkflows", inputs{"workflowDefinitionId": lit("missing"), "items": lit([]any{1})}))).wantStatus(workflow.Faulted)
	if len(b.children) != 0 {
		t.Errorf("children %v", b.children)
	}
}

func TestManyChildrenAreStartedInSlices(t *testing.T) {
	t.Parallel()
	// One activity with many items, and a loop of single children: no commit
	// carries many more than a hundred.
	items := make([]any, 330)
	loop := body(act("For", inputs{"start": lit(1), "end": lit(330)}), act("DispatchWorkflow", inputs{"workflowDefinitionId": lit("c")}))
	for _, a := range []*workflow.Activity{act("BulkDispatchWorkflows", inputs{"workflowDefinitionId": lit("c"), "items": lit(items)}), loop} {
		b := start(t, root(a)).wantStatus(workflow.Finished)
		ids := map[string]bool{}
		for _, c := range b.children {
			ids[c.InstanceID] = true
		}
		if len(ids) != 330 || b.commits != 3 {
			t.Errorf("%d children in %d commits", len(ids), b.commits+1)
		}
	}
}

func TestPublishEvent(t *testing.T) {
	t.Parallel()
	b := start(t, root(seq(
		act("PublishEvent", inputs{"eventName": lit("e"), "payload": lit(5), "correlationId": lit("c")}),
		act("PublishEvent", inputs{"eventName": lit("mine"), "isLocalEvent": lit("true")}),
		wait("mine"), line("got it"),
	))).wantStatus(workflow.Suspended)
	if len(b.events) != 2 {
		t.Fatalf("events %v", b.events)
	}
	e, mine := b.events[0], b.events[1]
	if e.Stimulus.ActivityType != workflow.EventType || e.Stimulus.CorrelationID != "c" || e.Stimulus.Input["payload"] != int64(5) || e.Stimulus.InstanceID != "" {
		t.Errorf("event %+v", e)
	}
	if mine.Stimulus.InstanceID != "i1" || mine.ID == e.ID || mine.ID == "" {
		t.Errorf("local event %+v", mine)
	}
	// The runtime delivers it as it would any other.
	hash, _ := workflow.Hash(mine.Stimulus.ActivityType, mine.Stimulus.Payload)
	if hash != b.header.Bookmarks[0].Hash {
		t.Error("the event does not meet the bookmark")
	}
	b.resume("mine", mine.Stimulus.Input)
	b.wantStatus(workflow.Finished).wantLines("got it")
}
