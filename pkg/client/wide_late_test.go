package client_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

// What a caller asked for is accepted as soon as it is decided, however long the rest takes to be written.
func TestWhatIsDecidedIsAccepted(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]workflow.CommandKind{"cancel": workflow.CommandCancel, "delete": workflow.CommandDelete} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, define("d", each(wide, task())))
			m := w.wideMember(wide)
			must(m.open("i").Do(t.Context(), startOf("d", "start-i")))(t)
			eventually(t, "the node has let the instance go", func() bool { return !m.Holds("i") })
			hangs := m.faults.Add(clustertest.Rule{Fault: clustertest.DelayBefore, Delay: time.Hour, Match: func(c clustertest.Call) bool {
				return c.DeletesUnder(cluster.Root(w.name) + "bookmark/")
			}})
			ctx, givesUp := context.WithCancel(t.Context())
			defer givesUp()
			type answer struct {
				client.Result
				err error
			}
			got := make(chan answer, 1)
			go func() {
				r, err := m.open("i").Do(ctx, workflow.Command{ID: "end", Kind: kind, CreatedAt: time.Now().UTC()})
				got <- answer{r, err}
			}()
			eventually(t, "the end is decided", func() bool {
				rec := must(m.store.Reader.Instance(t.Context(), "i"))(t)
				return rec.Unwritten != nil
			})
			givesUp()
			if a := <-got; a.err != nil || !a.Accepted {
				t.Errorf("accepted %t, %v", a.Accepted, a.err)
			}
			hangs.Disarm()
			eventually(t, "all of it is written", func() bool {
				rec := must(m.store.Reader.Instance(t.Context(), "i"))(t)
				return rec == nil || rec.Unwritten == nil && rec.Header.SubStatus == workflow.Cancelled
			})
			m.sound(t, "then")
		})
	}
}

// Who imports what fits no mailbox is answered when it is done, and not that the outcome is unknown after a while.
func TestALargeImportIsWaitedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, define("d", each(wide, task())))
	w.narrow(true)
	m := w.member("a", cluster.ModeDistributed, narrowly(true), func(c *client.Config) { c.LateAfter = time.Millisecond })
	m.PersistsFor(time.Millisecond)
	_, _ = m.open("i").Do(t.Context(), startOf("d", "start-i")) // it may be answered before it is done
	eventually(t, "it waits, and the node has let it go", func() bool {
		rec := must(m.store.Reader.Instance(t.Context(), "i"))(t)
		return rec != nil && rec.Unwritten == nil && len(rec.Header.Bookmarks) == wide && !m.Holds("i")
	})
	was := must(m.store.Reader.Instance(t.Context(), "i"))(t)
	texts := make([]any, 600)
	for i := range texts {
		texts[i] = ""
		for range 625 {
			texts[i] = fmt.Sprintf("%s%016x", texts[i], rand.Uint64())
		}
	}
	was.Header.Input = map[string]any{"texts": texts}
	raw := must(workflow.Marshal(map[string]any{"instance": was.Header, "state": was.State}))(t)
	slowly := m.faults.Add(clustertest.Rule{Fault: clustertest.DelayBefore, Delay: 200 * time.Millisecond, Match: func(c clustertest.Call) bool {
		return c.PutsUnder(cluster.Root(w.name) + "part/i/")
	}})
	r, err := m.open("i").Do(t.Context(), workflow.Command{ID: "import", Kind: workflow.CommandImport, State: raw, CreatedAt: time.Now().UTC()})
	if err != nil || r.Accepted || slowly.Fired() == 0 || len(r.Instance.Bookmarks) != wide {
		t.Errorf("accepted %t, it waits at %d places, slow %d times: %v", r.Accepted, len(r.Instance.Bookmarks), slowly.Fired(), err)
	}
	m.sound(t, "then")
}
