package activities_test

import (
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

func TestRetryOfAnInstanceThatWentOn(t *testing.T) {
	t.Parallel()
	broken, keys := true, []string{}
	def := root(seq(act("Parallel", nil, flaky(&broken, &keys), line("a")), line("b")))
	def.Options.IncidentStrategy = "ContinueWithIncidents"
	b := start(t, def).wantStatus(workflow.Suspended).wantLines("a")
	broken = false
	b.command(workflow.CommandRetry)
	b.wantStatus(workflow.Finished).wantLines("a", "b")
	if len(b.header.Incidents) != 1 {
		t.Errorf("incidents %v", b.header.Incidents)
	}
}

func TestALongJournalIsCommittedInParts(t *testing.T) {
	t.Parallel()
	def := root(body(act("For", inputs{"start": lit(1), "end": lit(3000)}), act("SetName", inputs{"value": lit(strings.Repeat("n", 200))})))
	b := start(t, def).wantStatus(workflow.Finished)
	if b.commits < 3 || b.commits > 20 {
		t.Errorf("%d commits before the end", b.commits)
	}
	for i, it := range b.journal {
		if it.Sequence != int64(i+1) {
			t.Fatalf("item %d has sequence %d", i, it.Sequence)
		}
	}
}

func TestTooDeepAtRunTime(t *testing.T) {
	t.Parallel()
	a := line("deep")
	for range 20 {
		a = seq(a)
	}
	b := start(t, root(a), withEnv(func(e *engine.Env) { e.Limits.Depth = 10 })).wantStatus(workflow.Faulted)
	if m := b.header.Incidents[0].Message; !strings.Contains(m, "10 levels deep") {
		t.Errorf("incident %q", m)
	}
}

func TestATriggerIsMetOnce(t *testing.T) {
	t.Parallel()
	ev := named("ev", wait("go"))
	ev.CanStart = true
	ev.Outputs = map[string]string{"result": "r"}
	def := root(body(act("For", inputs{"start": lit(1), "end": lit(2)}), ev, lineOf(varExpr("r"))))
	def.Variables = []workflow.Variable{{Name: "r"}}
	b := start(t, def, withTrigger("ev", map[string]any{"payload": "first"})).wantStatus(workflow.Suspended).wantLines("first")
	b.resume("go", map[string]any{"payload": "second"})
	b.wantStatus(workflow.Finished).wantLines("first", "second")
}

func TestDeclaredInputsWithoutAValueAreNull(t *testing.T) {
	t.Parallel()
	def := root(seq(wait("ev"), lineOf(expr(func(s engine.Scope) (any, error) {
		_, declared := s.Inputs()["n"]
		_, other := s.Inputs()["m"]
		return []any{declared, other}, nil
	}))))
	def.Inputs = []workflow.Input{{Name: "n"}}
	b := start(t, def)
	if b.header.Input != nil {
		t.Errorf("input %v", b.header.Input)
	}
	b.resume("ev", nil)
	b.wantLines("[true,false]")
}

func TestUnknownCommandsAndBookmarks(t *testing.T) {
	t.Parallel()
	b := start(t, root(wait("ev")))
	if out := b.run(workflow.Command{ID: "x", Kind: workflow.CommandResume, Bookmark: "i1~nobody"}); out != engine.NoBookmark {
		t.Errorf("outcome %s", out)
	}
	b.wantStatus(workflow.Suspended)
	if out := b.run(workflow.Command{ID: "again", Kind: workflow.CommandStart}); out != engine.Applied || len(b.header.Bookmarks) != 1 {
		t.Errorf("a second start: %s, bookmarks %v", out, b.bookmarks())
	}
	if _, err := b.load().Run(t.Context(), workflow.Command{ID: "x", Kind: "dance"}); err == nil {
		t.Error("an unknown command is no error")
	}
}
