package explain

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/workflow"
)

// The sentences that docs/operations/why-is-it-stuck.md shows are those of such stalls.
func TestThePageShowsWhatIsSaid(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "operations", "why-is-it-stuck.md"))
	if err != nil {
		t.Fatal(err)
	}
	since := func(b workflow.Bookmark) workflow.Bookmark {
		b.CreatedAt = ago(2 * time.Hour)
		return b
	}
	child := func(id string) workflow.Bookmark {
		return since(workflow.Bookmark{ActivityType: "Elsa.ExecuteWorkflow", Name: "ship-order", Payload: map[string]any{"childInstanceId": id}})
	}
	late := pause(now.Add(4*time.Minute), 5)
	next := workflow.Retry{Activity: "charge", Attempt: 3, Attempts: 5, Error: "https://pay.example/charge answered 503 Service Unavailable"}
	late.Metadata = next.Metadata()
	says := map[string]bool{}
	for _, f := range []*facts{
		suspended(since(event("approved"))),
		suspended(since(event("approved"))).with(func(f *facts) { f.sent = []sent{came("queue", "approved", "o-1", 2*time.Minute)} }),
		suspended(since(event("approved"))).with(func(f *facts) { f.sent = []sent{came("queue", "aproved", "o-2", 2*time.Minute)} }),
		suspended(child("c-7")).with(func(f *facts) { f.Children = []store.ChildState{{ID: "c-7", Header: kid(workflow.Suspended, "")}} }),
		suspended().with(func(f *facts) {
			f.Record, f.Gate = nil, &store.GateState{Gate: store.Gate{Definition: "order-approval", Correlation: "c-7"}, Holder: "o-1", Behind: 2, Start: &store.QueueItem{CreatedAt: ago(2 * time.Minute), Held: &store.HeldStart{}}}
		}),
		suspended(since(event("shipped"))).with(func(f *facts) {
			k := kid(workflow.Faulted, "no truck")
			k.ID, k.DefinitionID, f.Record.Header.CorrelationID = "c-7", "ship-order", ""
			f.kids = []workflow.Instance{*k}
		}),
		suspended(late),
		suspended(since(event("approved"))).with(faulted("ship", "https://ship.example answered 502 Bad Gateway", "x", "x")),
		suspended(timer(ago(3 * time.Minute))).with(func(f *facts) { f.Paused = true }),
		suspended().with(func(f *facts) {
			f.claims = []cluster.Holder{holder("n2", 0xb, 5*time.Minute)}
			f.running = doing("charge", 5*time.Minute-2*time.Second, 2)
		}),
		suspended(event("approved")).with(func(f *facts) {
			f.Mail = []store.Mail{{Command: workflow.Command{ID: "m", Kind: workflow.CommandResume, CreatedAt: ago(10 * time.Minute), Attempts: 2}}}
			f.MailLeft = 3
		}),
	} {
		says[judge("i", f).Summary] = true
	}
	shown := 0
	for line := range strings.Lines(string(page)) {
		quote, is := strings.CutPrefix(strings.TrimSpace(line), "> ")
		if !is {
			continue
		}
		if shown++; !says[quote] {
			t.Errorf("the page shows %q, and nothing says that", quote)
		}
		delete(says, quote)
	}
	for left := range says {
		t.Errorf("%q is not on the page", left)
	}
	if shown == 0 {
		t.Error("the page shows nothing")
	}
}
