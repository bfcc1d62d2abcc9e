package activities_test

import (
	"testing"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

func TestSequenceWaitsForAnEventAndGoesOn(t *testing.T) {
	t.Parallel()
	ev := wait("paid")
	ev.Outputs = map[string]string{"result": "amount"}
	def := root(seq(
		line("before"),
		ev,
		act("SetVariable", inputs{"variable": lit("twice"), "value": varExpr("amount")}),
		lineOf(varExpr("twice")),
	))
	def.Variables = []workflow.Variable{{ID: "v1", Name: "amount"}, {Name: "twice", Type: "String"}}
	b := start(t, def).wantStatus(workflow.Suspended).wantLines("before")
	if got, _ := workflow.Hash(workflow.EventType, workflow.EventPayload("paid")); b.header.Bookmarks[0].Hash != got || len(b.last.Created) != 1 {
		t.Errorf("bookmark %+v", b.header.Bookmarks[0])
	}
	b.resume("paid", map[string]any{"payload": 3})
	b.wantStatus(workflow.Finished).wantLines("before", "3")
	if len(b.last.Burned) != 1 || len(b.header.Bookmarks) != 0 {
		t.Errorf("burned %v, left %v", b.last.Burned, b.header.Bookmarks)
	}
	if out := b.run(workflow.Command{ID: "late", Kind: workflow.CommandResume, Bookmark: "i1~x"}); out != engine.NotRunning {
		t.Errorf("outcome %s", out)
	}
}

func TestIfRunsOneBranch(t *testing.T) {
	t.Parallel()
	for cond, want := range map[string]string{"True": "yes", "false": "no"} {
		a := act("If", inputs{"condition": lit(cond)})
		port(a, "then", line("yes"))
		port(a, "else", line("no"))
		start(t, root(a)).wantLines(want).wantStatus(workflow.Finished)
	}
	start(t, root(act("If", nil))).wantStatus(workflow.Finished)
}

func TestEventAsTriggerCompletesAtOnce(t *testing.T) {
	t.Parallel()
	ev := named("ev", wait("order"))
	ev.CanStart = true
	ev.Outputs = map[string]string{"result": "got"}
	def := root(seq(ev, lineOf(varExpr("got"))))
	def.Variables = []workflow.Variable{{Name: "got"}}
	b := start(t, def, withTrigger("ev", map[string]any{"payload": "hello"})).wantLines("hello").wantStatus(workflow.Finished)
	tr := b.prog.Triggers()
	want, _ := workflow.Hash(workflow.EventType, workflow.EventPayload("order"))
	if len(tr) != 1 || tr[0].Hash != want || tr[0].ActivityID != "ev" {
		t.Errorf("triggers %+v", tr)
	}
	start(t, def).wantLines().wantStatus(workflow.Suspended)
}
