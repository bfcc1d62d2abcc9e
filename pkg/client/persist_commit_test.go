package client_test

import (
	"context"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

// A burst that ends while its command is being made durable waits for that: the
// commit has to know that the instance is there, and that mail is to go with it.
func TestACommitWaitsForWhatIsMadeDurable(t *testing.T) {
	t.Parallel()
	for _, mode := range both {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, define("d", seq(through(), line("once"))))
			m := w.member("a", mode, func(c *client.Config) { c.LateAfter = time.Minute })
			asked := make(chan struct{}, 100)
			m.faults.Add(clustertest.Rule{Fault: clustertest.DelayAnswer, Delay: 300 * time.Millisecond, Match: func(c clustertest.Call) bool {
				made := c.PutsUnder(cluster.Root(w.name) + "mailbox/")
				if made {
					asked <- struct{}{}
				}
				return made
			}})
			results := make(chan client.Result, 1)
			caller, goAway := context.WithCancel(t.Context())
			go func() {
				res, err := m.open("i").Do(caller, startOf("d", "start"))
				if err != nil {
					t.Error(err)
				}
				results <- res
			}()
			<-w.valve.entered
			goAway()
			<-asked // it is on its way, and its answer is late
			w.valve.pass <- struct{}{}
			if res := <-results; !res.Accepted && res.Effect.Outcome != workflow.OutcomeStarted {
				t.Errorf("got %+v", res)
			}
			eventually(t, "the instance ends, and its mail is gone", func() bool {
				rec := must(m.store.Reader.Instance(t.Context(), "i"))(t)
				l := must(m.store.Instances.Load(t.Context(), "i", "", ""))(t)
				return rec != nil && rec.Header.SubStatus == workflow.Finished && len(l.Mail) == 0
			})
			if l := m.written(); len(l) != 1 {
				t.Errorf("lines %q", l)
			}
			if n := m.count("late_durability_total", ""); n != 1 {
				t.Errorf("%v commands were made durable, want 1", n)
			}
		})
	}
}
