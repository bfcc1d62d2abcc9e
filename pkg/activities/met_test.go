package activities_test

import (
	"slices"
	"testing"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// What met a bookmark was told so: the journal has it, also if the instance is cancelled, or another branch
// ends the race, before its activity runs.
func TestTheJournalHasEachResumeThatMetABookmark(t *testing.T) {
	t.Parallel()
	resumed := func(b *bench) (names []string) {
		for _, it := range b.journal {
			if it.Event == engine.EventResumed {
				names = append(names, it.Text)
			}
		}
		slices.Sort(names)
		return names
	}
	// A loop has work in the schedule when the event comes, and the cancel comes next.
	endless := body(act("While", inputs{"condition": lit(true)}), act("SetName", inputs{"value": lit("n")}))
	def := root(act("Fork", inputs{"joinMode": lit("WaitAll")}, wait("one"), endless))
	b := start(t, def, withEnv(func(e *engine.Env) { e.Limits.Activities = 100 }), upTo(3)).wantStatus(workflow.Executing)
	burst := b.load()
	burst.Interrupt()
	cmd := workflow.Command{ID: "e", Kind: workflow.CommandResume, Bookmark: b.header.Bookmarks[0].ID}
	if out, err := burst.Run(t.Context(), cmd); err != nil || out != engine.Interrupted {
		t.Fatal(out, err)
	}
	b.keep(burst)
	b.command(workflow.CommandCancel)
	b.wantStatus(workflow.Cancelled)
	if got := resumed(b); !slices.Equal(got, []string{"one"}) {
		t.Errorf("the journal has the resumes %q", got)
	}
	// Two events that come in one burst, of which the first ends the race: the second finds no bookmark, or is told.
	b = start(t, root(act("Fork", inputs{"joinMode": lit("WaitAny")}, seq(wait("one"), wait("more")), wait("two")))).wantStatus(workflow.Suspended)
	b.resume("two", nil)
	if got := resumed(b); !slices.Equal(got, []string{"two"}) {
		t.Errorf("the journal has the resumes %q", got)
	}
}
