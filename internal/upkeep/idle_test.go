package upkeep_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/upkeep"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

// requests is how many requests of a member touch keys below a prefix while work
// runs. Its own loops may add some, so the least of several tries counts.
func (m *member) requests(prefix string, work func() error) int {
	m.T.Helper()
	least := -1
	for range 5 {
		touched := m.Faults.Add(clustertest.Rule{Fault: clustertest.DelayBefore, Match: func(c clustertest.Call) bool { return c.Touches(m.Root + prefix) }})
		if err := work(); err != nil {
			m.T.Fatal(err)
		}
		touched.Disarm()
		if n := touched.Fired(); least < 0 || n < least {
			least = n
		}
	}
	return least
}

// A look at finished instances of which none may go is one request where there are
// none, and one more for each shard where there are few.
func TestTheLookAtFinishedInstancesIsCheap(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1, retain(upkeep.Retention{Finished: time.Hour, FinishedCount: 100_000, Grace: time.Hour}))[0]
	look := func() error { return m.Upkeep.PurgePass(t.Context()) }
	if n := m.requests("finished/", look); n != 1 {
		t.Errorf("%d requests for nothing", n)
	}
	m.Publish(ending)
	for i := range 40 {
		m.Start("ending", fmt.Sprint("e", i), "")
	}
	some := 0
	for shard := range etcdstore.FinishedShards {
		if _, total, _, err := m.Store.Upkeep.Finished(t.Context(), shard, "", 1); err != nil {
			t.Fatal(err)
		} else if total > 0 {
			some++
		}
	}
	if n := m.requests("finished/", look); n != 1+some {
		t.Errorf("%d requests for a few in each of %d shards", n, some)
	}
	if m.ended() != 40 {
		t.Errorf("%d are left of 40 that may not go", m.ended())
	}
}

// What waits behind gates is looked at by one node, however many there are, and by
// another when that one leaves.
func TestOneNodeLooksBehindTheGates(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	looks := func(c []*member) (who []int) {
		for i, m := range c {
			if m.requests("queue/~gated/", func() error { return m.Upkeep.SweepGates(t.Context()) }) > 0 {
				who = append(who, i)
			}
		}
		return who
	}
	eventually(t, "they know each other", func() bool {
		for _, m := range c {
			if len(m.Session.Members()) != len(c) {
				return false
			}
		}
		return true
	})
	who := looks(c)
	if len(who) != 1 {
		t.Fatalf("%d of 3 nodes look", len(who))
	}
	c[who[0]].Leave()
	rest := append(c[:who[0]:who[0]], c[who[0]+1:]...)
	eventually(t, "one of the others looks", func() bool { return len(looks(rest)) == 1 })
}
