package runtime_test

import (
	"fmt"
	"testing"

	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// What leaves the queue for something that is gone again, and comes back, answers its
// key with what becomes of it, however often.
func TestAnEventThatGoesBackToTheQueueKeepsItsKey(t *testing.T) {
	t.Parallel()
	for times := range 3 {
		t.Run(fmt.Sprint(times), func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, 2)
			m := c[0]
			m.Publish("id: waits\nroot:\n  - event: late\n")
			key := &runtime.Key{Scope: "events", Value: "k", BodyHash: "h"}
			if res := m.Event("late", "", key); res.Queued == "" {
				t.Fatalf("got %+v", res)
			}
			for range times {
				items, _, err := m.Store.Reader.QueueItems(t.Context(), "", "", 10)
				if err != nil || len(items) != 1 {
					t.Fatal(items, err)
				}
				if ok, err := m.Store.Upkeep.Requeue(t.Context(), &items[0]); err != nil || !ok {
					t.Fatal(ok, err)
				}
				m.Wakeups.Hint(nil, true)
				eventually(t, "it is queued again", func() bool {
					again, _, err := m.Store.Reader.QueueItems(t.Context(), "", "", 10)
					return err == nil && len(again) == 1 && again[0].Created > items[0].Created
				})
			}
			m.Start("waits", "w", "")
			m.Finished("w")
			got := c[1].Event("late", "", key)
			if got.Queued != "" || len(got.Outcomes) != 1 || got.Outcomes[0].Outcome != workflow.OutcomeResumed || got.Outcomes[0].InstanceID != "w" {
				t.Errorf("the key answers %+v", got)
			}
		})
	}
}
