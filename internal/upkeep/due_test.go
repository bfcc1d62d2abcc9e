package upkeep_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

// resting is a node whose workers rest for so long behind hints and watches, and that
// need not compare its clock first.
func resting(rest time.Duration) func(*membertest.Config) {
	return func(c *membertest.Config) {
		c.Rest = rest
		c.Session = func(c *cluster.Config) { c.OneMachine = true }
	}
}

// noSweep is longer than any test.
const noSweep = time.Hour

// looks counts how often a node looks at its timers.
func (m *member) looks() func() int64 {
	var n atomic.Int64
	m.Faults.Add(clustertest.Rule{Match: func(c clustertest.Call) bool {
		if !c.Mutating && c.Touches(m.Root+"timer/") {
			n.Add(1)
		}
		return false
	}})
	return n.Load
}

// quiet waits until nodes that know each other look at no timers any more.
func quiet(t *testing.T, c []*member) {
	t.Helper()
	var looks []func() int64
	for _, m := range c {
		looks = append(looks, m.looks())
	}
	last, since := int64(0), time.Now()
	eventually(t, "all have looked at what is due, and rest", func() bool {
		all := int64(0)
		for i, m := range c {
			if all += looks[i](); len(m.Session.Members()) != len(c) {
				since = time.Now()
			}
		}
		if all != last {
			last, since = all, time.Now()
		}
		return time.Since(since) > 800*time.Millisecond
	})
}

// putTimers puts a timer of no instance, which goes when it fires, into each of some
// shards.
func (m *member) putTimers(shards []int, due time.Time) {
	m.T.Helper()
	etcd := clustertest.Shared(m.T).Client(m.T)
	for _, shard := range shards {
		key := fmt.Sprintf("%stimer/%02x/%013d/t", m.Root, shard, due.UnixMilli())
		if _, err := etcd.Put(m.T.Context(), key, fmt.Sprintf(`{"instance":"none","bookmark":"none~%d","due":%q}`, shard, due.UTC().Format(time.RFC3339Nano))); err != nil {
			m.T.Fatal(err)
		}
	}
}

// allFire waits until no timer is left.
func (m *member) allFire() {
	m.T.Helper()
	etcd := clustertest.Shared(m.T).Client(m.T)
	eventually(m.T, "all timers fire", func() bool {
		left, err := etcd.Get(m.T.Context(), m.Root+"timer/", clientv3.WithPrefix(), clientv3.WithCountOnly())
		if err != nil {
			m.T.Fatal(err)
		}
		return left.Count == 0
	})
}

// shardsOf are those that a node is preferred for.
func (m *member) shardsOf(node string) (shards []int) {
	for i := range etcdstore.TimerShards {
		if m.Session.PreferredNode(fmt.Sprintf("timer/%d", i)) == node {
			shards = append(shards, i)
		}
	}
	return shards
}

// A node that looks seldom learns by its watches what was put since into its shards,
// by whom it may be.
func TestWhatIsPutElsewhereFiresWithoutASweep(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, resting(noSweep))
	quiet(t, c)
	for _, in := range []time.Duration{-time.Second, 0, 300 * time.Millisecond, 1500 * time.Millisecond} {
		for _, m := range c {
			c[0].putTimers(m.shardsOf(m.Session.NodeID()), time.Now().Add(in))
		}
		c[0].allFire()
	}
}

// What was the business of a node that is gone is looked at when it goes, by the node that was there
// first as by the one that came to it.
func TestTheTimersOfANodeThatIsGoneFireWithoutASweep(t *testing.T) {
	t.Parallel()
	for _, stays := range []int{0, 1} {
		t.Run([]string{"a stays", "b stays"}[stays], func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, 2, resting(noSweep))
			stays, goes := c[stays], c[1-stays]
			quiet(t, c)
			died := goes.die(func(call clustertest.Call) bool { return call.Touches(goes.Root + "timer/") })
			stays.putTimers(stays.shardsOf(goes.Session.NodeID()), time.Now())
			<-died
			stays.expire(goes.Session.NodeID())
			stays.allFire()
		})
	}
}

// What no watch tells of is found by the sweep.
func TestTimersFireThoughNoWatchBegins(t *testing.T) {
	t.Parallel()
	m := newMember(t, clustertest.Namespace(t), "a", resting(300*time.Millisecond), func(c *membertest.Config) {
		c.Session = func(c *cluster.Config) { c.OneMachine, c.Client.Watcher = true, neverBegins{c.Client.Watcher} }
	})
	looks := m.looks()
	eventually(t, "it has looked", func() bool { return looks() > 1 })
	for _, in := range []time.Duration{0, time.Second} {
		m.putTimers(m.shardsOf("a"), time.Now().Add(in))
		m.allFire()
	}
}

// What the preferred node does not fire, since its clock is off, the others do.
func TestOthersFireForAClockThatIsOff(t *testing.T) {
	t.Parallel()
	name := clustertest.Namespace(t)
	a := newMember(t, name, "a", resting(time.Second))
	b := newMember(t, name, "b", resting(time.Second), func(c *membertest.Config) { c.Skew = func() time.Duration { return time.Hour } })
	eventually(t, "the nodes know each other", func() bool { return len(a.Session.Members()) == 2 && len(b.Session.Members()) == 2 })
	due := time.Now().Add(-500 * time.Millisecond)
	a.putTimers(a.shardsOf("b"), due)
	a.allFire()
	if late := time.Since(due); late < 2*time.Second {
		t.Errorf("fired %v late: they leave no time to the node that is preferred", late)
	}
}

// What is due and cannot be read stays, and keeps nobody busy, nor from firing what is due
// behind it.
func TestWhatCannotBeReadIsNotLookedAtAllTheTime(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1, resting(noSweep))
	m := c[0]
	shard := m.shardsOf(m.Session.NodeID())[:1]
	quiet(t, c)
	etcd, due := clustertest.Shared(t).Client(t), time.Now()
	unread := fmt.Sprintf("%stimer/%02x/%013d/u", m.Root, shard[0], due.UnixMilli())
	if _, err := etcd.Put(t.Context(), unread, "{"); err != nil {
		t.Fatal(err)
	}
	m.putTimers(shard, due.Add(3*time.Second)) // known before the worker rests
	m.firesBeside(unread)
	quiet(t, c)
	m.putTimers(shard, time.Now().Add(300*time.Millisecond))
	m.firesBeside(unread)
	m.putTimers(shard, time.Now().Add(-time.Second))
	m.firesBeside(unread)
	if late := time.Since(due); late < 3*time.Second {
		t.Errorf("all have fired after %v", late)
	}
}

// firesBeside waits until one timer alone is left.
func (m *member) firesBeside(key string) {
	m.T.Helper()
	etcd := clustertest.Shared(m.T).Client(m.T)
	eventually(m.T, "all but one timer fire", func() bool {
		left, err := etcd.Get(m.T.Context(), m.Root+"timer/", clientv3.WithPrefix(), clientv3.WithKeysOnly())
		if err != nil {
			m.T.Fatal(err)
		}
		return len(left.Kvs) == 1 && string(left.Kvs[0].Key) == key
	})
}
