package runtime_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// Timers and what ends the wait of queued events lie in the same shards. Of these
// here nearly two hundred are in front of the timer in its shard, and none of them
// can be worked off before it.
func TestAWaveOfExpiriesHoldsUpNoTimer(t *testing.T) {
	t.Parallel()
	var skew atomic.Int64
	skew.Store(int64(time.Minute)) // so that nothing expires before all are there
	m := newCluster(t, 1, func(cfg *runtime.Config) { cfg.Skew = func() time.Duration { return time.Duration(skew.Load()) } })[0]
	m.publish("id: delayed\nroot:\n  - delay: 10ms\n")
	st := workflow.EventStimulus("nobody", nil)
	hash, err := workflow.Hash(st.ActivityType, st.Payload)
	if err != nil {
		t.Fatal(err)
	}
	look, err := m.store.Look(t.Context(), st, hash, "")
	if err != nil {
		t.Fatal(err)
	}
	held := m.faults.Add(clustertest.Rule{Fault: clustertest.DelayBefore, Delay: time.Hour, Match: func(c clustertest.Call) bool {
		return c.Op == "txn" && !c.Mutating && c.Touches(m.root+"queue/"+hash+"/") // a look at an item that has expired, and beside it
	}})
	const n = 3000
	ended := time.Now().UTC().Add(-time.Second)
	var sent errgroup.Group
	sent.SetLimit(32)
	for i := range n {
		sent.Go(func() error {
			ok, err := m.store.Enqueue(t.Context(), store.QueueItem{ID: fmt.Sprint("q", i), Stimulus: st, Hash: hash, CreatedAt: ended, ExpiresAt: ended}, look)
			if err == nil && !ok {
				err = fmt.Errorf("item %d was not queued", i)
			}
			return err
		})
	}
	if err := sent.Wait(); err != nil {
		t.Fatal(err)
	}
	skew.Store(0)
	eventually(t, "the events begin to expire", func() bool { return held.Fired() >= 64 })
	m.execute("delayed", "d", "")
	m.finished("d")
	left := func() int {
		page, err := m.Queue(t.Context(), "", 500)
		if err != nil {
			t.Error(err)
		}
		return len(page.Items)
	}
	if left() == 0 {
		t.Error("the events went before the timer")
	}
	held.Disarm()
	eventually(t, "the events expire", func() bool { return left() == 0 })
	m.sound()
}
