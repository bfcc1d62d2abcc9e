package upkeep_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/internal/upkeep/retention"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

// asked counts what a node asks etcd for.
type asked struct {
	clientv3.Lease
	clientv3.Maintenance

	mu    sync.Mutex
	kinds map[string]int // by kind of request and of keys; guarded by mu
}

func (a *asked) note(what string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.kinds[what]++
}

func (a *asked) TimeToLive(ctx context.Context, id clientv3.LeaseID, opts ...clientv3.LeaseOption) (*clientv3.LeaseTimeToLiveResponse, error) {
	a.note("time to live")
	return a.Lease.TimeToLive(ctx, id, opts...)
}

func (a *asked) Status(ctx context.Context, endpoint string) (*clientv3.StatusResponse, error) {
	a.note("status")
	return a.Maintenance.Status(ctx, endpoint)
}

// counting counts what the KV of a node is asked too.
func (a *asked) counting(m *member) {
	m.Faults.Add(clustertest.Rule{Match: func(c clustertest.Call) bool {
		kind, _, _ := strings.Cut(strings.TrimPrefix(c.Keys[0], m.Root), "/")
		if c.PutsUnder(m.Root + "nodes/") {
			kind = heartbeat
		}
		a.note(c.Op + " " + kind)
		return false
	}})
}

const heartbeat = "heartbeat"

// A node with nothing to do asks etcd for little: some requests for each of its
// heartbeats, which are a quarter of the TTL apart.
func TestAnIdleNodeAsksForLittle(t *testing.T) {
	t.Parallel()
	const most = 8 // requests for each heartbeat
	beats := testsize.Of(4, 2)
	name := clustertest.Namespace(t)
	members, asking := make([]*member, 3), make([]*asked, 3)
	for i := range members {
		a := &asked{kinds: map[string]int{}}
		members[i] = newMember(t, name, string(rune('a'+i)), func(c *membertest.Config) {
			c.Session = func(c *cluster.Config) {
				c.OneMachine = true
				a.Lease, a.Maintenance = c.Client.Lease, c.Client.Maintenance
				c.Client.Lease, c.Client.Maintenance = a, a
			}
		})
		asking[i] = a
	}
	eventually(t, "the first looks are over", func() bool {
		return !slices.ContainsFunc(members, func(m *member) bool {
			return len(m.Session.Members()) != len(members) || m.Age.Seen().Elapsed == 0
		})
	})
	for i, a := range asking {
		a.counting(members[i])
	}
	for i, a := range asking {
		var now map[string]int
		eventually(t, "some heartbeats", func() bool {
			a.mu.Lock()
			defer a.mu.Unlock()
			now = maps.Clone(a.kinds)
			return now["txn "+heartbeat] >= beats
		})
		all := 0
		for _, n := range now {
			all += n
		}
		if all > most*(beats+1) {
			t.Errorf("node %d: %d requests for %d heartbeats: %v", i, all, beats, now)
		}
	}
}

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
	m := newCluster(t, 1, retain(retention.Limits{Finished: time.Hour, FinishedCount: 100_000, Grace: time.Hour}))[0]
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
		if _, total, _, err := m.Store.Upkeep.Finished(t.Context(), shard, "", time.Time{}, 1); err != nil {
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
