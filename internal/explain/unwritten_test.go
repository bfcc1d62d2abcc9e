package explain

import (
	"slices"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/workflow"
)

// What a wide commit left to be written is told in words, with who writes it.
func TestWhatIsNotWrittenYetIsTold(t *testing.T) {
	t.Parallel()
	gone := make([]workflow.Bookmark, 3)
	rest := store.Mail{Command: workflow.Command{ID: workflow.ContinueID, Kind: workflow.CommandContinue, CreatedAt: ago(0)}}
	ended := func(f *facts) {
		end := ago(0)
		f.Record.Header.Status, f.Record.Header.SubStatus, f.Record.Header.FinishedAt, f.Record.Header.Bookmarks = workflow.StatusFinished, workflow.Cancelled, &end, nil
	}
	mailed := func(f *facts) { f.Mail = []store.Mail{rest} }
	for name, tt := range map[string]struct {
		left   store.Unwritten
		change []func(*facts)
		want   string
		advice string
	}{
		"ended":                     {store.Unwritten{Gone: gone}, []func(*facts){ended, mailed}, "yet: 3 places where it does not wait any more; the node that takes it writes that before anything else", ""},
		"ended, of many places":     {store.Unwritten{Gone: gone, More: true}, []func(*facts){ended, mailed}, "yet: more than 3 places where it", ""},
		"ended, and a node has it":  {store.Unwritten{Gone: gone[:1]}, []func(*facts){ended, mailed, func(f *facts) { f.claims = []cluster.Holder{holder("n2", 11, 0)} }}, "yet: 1 place where it does not wait any more; the node that has it writes", ""},
		"ended, and nobody is told": {store.Unwritten{Gone: gone}, []func(*facts){ended}, "any more; nothing tells a node to write it", "run weft fsck, which names it index-unwritten"},
		"deleted":                   {store.Unwritten{Gone: gone, Delete: true}, []func(*facts){mailed}, "yet: it is deleted, 3 places where", ""},
		"it waits at new places":    {store.Unwritten{Gone: gone, Made: []store.Span{{From: 0, To: 1}}}, []func(*facts){mailed}, "any more, 1 place where it waits since; the", ""},
		"it has a new correlation":  {store.Unwritten{Moved: true, Made: []store.Span{{From: 1, To: 2}}}, []func(*facts){mailed}, "yet: 1 place where it waits since, 1 place", ""},
		"nothing is left":           {store.Unwritten{}, []func(*facts){mailed}, "yet: nothing but that it is done", ""},
	} {
		f := suspended(event("a"), event("b"))
		f.Record.Unwritten = &tt.left
		f.Record.Unwritten.At = ago(0)
		for _, change := range tt.change {
			change(f)
		}
		x := judge("i", f)
		at := slices.IndexFunc(x.Reasons, func(r Reason) bool { return r.Kind == "unwritten" })
		if at < 0 || !strings.Contains(x.Reasons[at].Text, tt.want) || !strings.Contains(x.Summary, tt.want) {
			t.Errorf("%s: %+v, %s", name, x.Reasons, x.Summary)
		}
		if told := slices.ContainsFunc(x.Next, func(s string) bool { return strings.Contains(s, "index-unwritten") }); told != (tt.advice != "") {
			t.Errorf("%s: next %q", name, x.Next)
		}
	}
	if x := judge("i", suspended(event("a"))); slices.ContainsFunc(x.Reasons, func(r Reason) bool { return r.Kind == "unwritten" }) {
		t.Errorf("of one that is written: %+v", x.Reasons)
	}
}
