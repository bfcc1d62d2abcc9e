package client

import (
	"testing"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/client/admission"
	"github.com/weft-run/weft/pkg/workflow"
)

// An import that was accepted before a cancel comes is known when the cancel runs, also where the mailbox was read
// before both: it is read again first. Else it would bring the instance back behind its end.
func TestTheMailboxIsReadAfterAnEndCameToHand(t *testing.T) {
	t.Parallel()
	for _, kind := range []workflow.CommandKind{workflow.CommandCancel, workflow.CommandDelete} {
		o := &owner{handle: newHandle(&Node{quarantine: admission.NewQuarantine(nil)}, "i"), base: &store.Record{}}
		offer := func(c workflow.Command) {
			if _, open := o.inbox.offer(newWaiter(c)); !open {
				t.Fatal("the owner is closed")
			}
		}
		offer(workflow.Command{ID: "event", Kind: workflow.CommandResume})
		o.inbox.reads()
		offer(workflow.Command{ID: "end", Kind: kind})
		if work := o.collect(nil, false); !work.stale || work.size() != 0 {
			t.Errorf("%s: it is run with what was read before it came: %+v", kind, work)
		}
		o.inbox.reads()
		mail := []store.Mail{{Command: workflow.Command{ID: "import", Kind: workflow.CommandImport}, Created: 7}}
		work := o.collect(mail, false)
		if work.stale || len(work.overtaken) != 1 || len(work.hands) != 1 || work.hands[0].cmd.ID != "end" {
			t.Errorf("%s: %+v", kind, work)
		}
	}
}
