package activities_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

func TestCancelBurnsBookmarksAndListsChildren(t *testing.T) {
	t.Parallel()
	def := root(act("Parallel", nil, wait("ev"), act("ExecuteWorkflow", inputs{"workflowDefinitionId": lit("child")}), act("DispatchWorkflow", inputs{"workflowDefinitionId": lit("free")})))
	b := start(t, def).wantStatus(workflow.Suspended)
	if len(b.header.Bookmarks) != 2 || len(b.children) != 2 {
		t.Fatalf("bookmarks %v, children %v", b.bookmarks(), b.children)
	}
	b.command(workflow.CommandCancel)
	b.wantStatus(workflow.Cancelled)
	if len(b.last.Burned) != 2 || len(b.last.Cancel) != 1 || b.last.Cancel[0] != b.children[0].InstanceID {
		t.Errorf("burned %v, cancel %v", b.last.Burned, b.last.Cancel)
	}
	if out := b.command(workflow.CommandCancel); out != engine.NotRunning {
		t.Errorf("outcome %s", out)
	}
}

func TestCancelOfAFaultedInstance(t *testing.T) {
	t.Parallel()
	b := start(t, root(act("Fault", nil))).wantStatus(workflow.Faulted)
	// It has ended, and a cancel does not take its retry away.
	if out := b.command(workflow.CommandCancel); out != engine.NotRunning {
		t.Errorf("outcome %s", out)
	}
	b.wantStatus(workflow.Faulted)
	if out := b.command(workflow.CommandRetry); out != engine.Applied {
		t.Errorf("outcome %s", out)
	}
	b.wantStatus(workflow.Faulted)
	if len(b.header.Incidents) != 2 {
		t.Errorf("incidents %v", b.header.Incidents)
	}
	b.command(workflow.CommandDelete)
	b.wantStatus(workflow.Cancelled)
}

// A retry is for what has faulted, also within an instance that goes on.
func TestARetryOfWhatIsNotFaulted(t *testing.T) {
	t.Parallel()
	b := start(t, root(act("Event", inputs{"eventName": lit("go")}))).wantStatus(workflow.Suspended)
	if out := b.command(workflow.CommandRetry); out != engine.NotFaulted {
		t.Errorf("outcome %s", out)
	}
	b.wantStatus(workflow.Suspended)
	b.resume("go", nil)
	b.wantStatus(workflow.Finished)
	if out := b.command(workflow.CommandRetry); out != engine.NotRunning {
		t.Errorf("outcome %s", out)
	}
}

func TestCancelOfManyChildrenGoesInSlices(t *testing.T) {
	t.Parallel()
	items := make([]any, 250)
	for i := range items {
		items[i] = i
	}
	b := start(t, root(act("BulkDispatchWorkflows", inputs{"workflowDefinitionId": lit("child"), "items": lit(items), "waitForCompletion": lit(true)})))
	b.wantStatus(workflow.Suspended)
	if len(b.children) != 250 || b.commits != 2 || len(b.header.Bookmarks) != 250 {
		t.Fatalf("%d children in %d commits, %d bookmarks", len(b.children), b.commits, len(b.header.Bookmarks))
	}
	b.commits = 0
	b.command(workflow.CommandCancel)
	b.wantStatus(workflow.Cancelled)
	if len(b.canceled) != 250 || b.commits != 2 || len(b.last.Cancel) != 50 {
		t.Errorf("%d cancelled in %d commits, %d in the last", len(b.canceled), b.commits+1, len(b.last.Cancel))
	}
}

func TestACancelledBranchCancelsTheChildItWaitsFor(t *testing.T) {
	t.Parallel()
	def := root(seq(act("Fork", inputs{"joinMode": lit("WaitAny")}, act("ExecuteWorkflow", inputs{"workflowDefinitionId": lit("child")}), act("Delay", inputs{"timeSpan": lit("1h")})), line("on")))
	b := start(t, def)
	b.resume("delay", nil)
	b.wantStatus(workflow.Finished).wantLines("on")
	if len(b.canceled) != 1 || b.canceled[0] != b.children[0].InstanceID {
		t.Errorf("cancelled %v", b.canceled)
	}
	// A child that this very burst would have started is not started at all.
	def = root(act("Fork", inputs{"joinMode": lit("WaitAny")}, act("ExecuteWorkflow", inputs{"workflowDefinitionId": lit("child")}), line("first")))
	if b = start(t, def).wantStatus(workflow.Finished); len(b.children) != 0 || len(b.canceled) != 0 || len(b.last.Created) != 0 {
		t.Errorf("children %v, cancelled %v, created %v", b.children, b.canceled, b.last.Created)
	}
}

func TestInterruptStopsAtTheNextActivity(t *testing.T) {
	t.Parallel()
	var burst *engine.Burst
	stop := activities.Inline(func(context.Context, *engine.Execution) error { burst.Interrupt(); return nil })
	def := &workflow.Definition{ID: "d", Root: seq(line("a"), stop, line("b"))}
	prog, problems := engine.Compile(def, engine.Options{Registry: activities.Default()})
	if problems != nil {
		t.Fatal(problems)
	}
	var lines []string
	env := engine.Env{Now: nowT0, Lines: func(s string) { lines = append(lines, s) }}
	burst, _ = engine.New(prog, "i", &workflow.Start{}, t0, env)
	out, err := burst.Run(t.Context(), workflow.Command{ID: "s", Kind: workflow.CommandStart})
	if out != engine.Interrupted || err != nil || fmt.Sprint(lines) != "[a]" {
		t.Fatalf("%s %v %v", out, err, lines)
	}
	res, _ := burst.Result()
	if res.Instance.SubStatus != workflow.Executing {
		t.Errorf("status %s", res.Instance.SubStatus)
	}
	// Another node goes on, with a cancel or without.
	next, err := engine.Load(prog, res.Instance, res.State, env)
	if err != nil {
		t.Fatal(err)
	}
	if out, _ := next.Run(t.Context(), workflow.Command{ID: workflow.ContinueID, Kind: workflow.CommandContinue}); out != engine.Applied || fmt.Sprint(lines) != "[a b]" {
		t.Errorf("%s %v", out, lines)
	}
	if out, _ := burst.Run(t.Context(), workflow.Command{ID: "c", Kind: workflow.CommandCancel}); out != engine.Applied || burst.Header().SubStatus != workflow.Cancelled {
		t.Errorf("%s %s", out, burst.Header().SubStatus)
	}
}
