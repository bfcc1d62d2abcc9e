package upkeep_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sync/errgroup"

	"github.com/weft-run/weft/internal/upkeep"
	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/files"
)

// Nodes whose clocks are off, each of which takes two events: one that meets nobody,
// and one whose start waits behind a gate. All wait as long as the others, though all
// are looked at again and again, and then all go at once: as dead letters.
func TestQueuedEventsExpireByTheirAgeWhateverTheClockOfWhoTookThem(t *testing.T) {
	t.Parallel()
	clocks := []time.Duration{0, -25 * time.Hour, 3650 * day, 10 * time.Minute, -10 * time.Minute}
	const ttl = 10 * time.Minute
	next := 0
	c := newCluster(t, len(clocks), func(cfg *membertest.Config) {
		off := clocks[next]
		next++
		cfg.Now = func() time.Time { return time.Now().Add(off) }
		cfg.QueueTTL, cfg.AgeEvery = ttl, 50*time.Millisecond
	})
	grow(t, c, 2*ttl)
	grow(t, c, 3*ttl/4) // what is here now is old enough after half of the time, and makes the node look
	c[0].Publish(membertest.Single, "id: free\nroot:\n  - event: begin\n    trigger: true\n")
	c[0].Event("begin", "", nil)
	holder := c[0].Running("single")
	for i, m := range c {
		m.Event(fmt.Sprint("nobody", i), "", nil)
		m.Event("begin", "", nil)
	}
	queued := func() []runtime.QueueItem { return c[0].Queued() }
	eventually(t, "all are queued", func() bool { return len(queued()) == 2*len(c) })
	shown := func(when string, low, high time.Duration) {
		t.Helper()
		for i, m := range c {
			now := time.Now().Add(clocks[i])
			for _, item := range m.Queued() {
				if left := item.ExpiresAt.Sub(now); left < low || left > high {
					t.Errorf("%s node %d shows that %s expires in %v; want %v to %v", when, i, item.ID, left, low, high)
				}
			}
		}
	}
	grow(t, c, ttl/2)
	shown("after half of the time", 0, ttl/2+time.Second)
	from := c[0].Age.Seen().Elapsed
	eventually(t, "every worker has looked several times", func() bool { return c[0].Age.Seen().Elapsed > from+3*time.Second })
	if n := len(queued()); n != 2*len(c) || len(c[0].Dead()) != 0 {
		t.Fatalf("%d of %d wait after half of the time; dead letters %+v", n, 2*len(c), c[0].Dead())
	}
	grow(t, c, ttl/2+time.Minute)
	eventually(t, "all are dead letters", func() bool { return len(queued()) == 0 && len(c[0].Dead()) == 2*len(c) })
	reasons := map[workflow.DeadReason]int{}
	for _, d := range c[0].Dead() {
		reasons[d.Reason]++
		if !strings.Contains(d.Detail, ttl.String()) {
			t.Errorf("%s", d.Detail)
		}
	}
	if reasons[workflow.DeadExpired] != len(c) || reasons[workflow.DeadGated] != len(c) {
		t.Errorf("%v", reasons)
	}
	c[0].EndOf(holder)
	c[0].Finished(holder)
	c[0].Sound()
}

// Many that expire at once, of which none gets an answer, hold up no timer, and nobody
// who comes to wait for one of them.
func TestAWaveOfExpiriesHoldsUpNobody(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1, func(cfg *membertest.Config) { cfg.QueueTTL, cfg.AgeEvery = time.Second, 50*time.Millisecond })[0]
	m.Publish("id: delayed\nroot:\n  - delay: 10ms\n", "id: waiting\nroot:\n  - event: nobody\n")
	held := m.Faults.Add(clustertest.Rule{Fault: clustertest.DelayBefore, Delay: time.Hour, Match: func(c clustertest.Call) bool {
		return c.DeletesUnder(m.Root+"queue/") && c.PutsUnder(m.Root+"dead/")
	}})
	const n = 1500 // more than are read at once
	var sent errgroup.Group
	sent.SetLimit(32)
	for range n {
		sent.Go(func() error {
			_, err := m.Events.Send(t.Context(), workflow.EventStimulus("nobody", nil), nil)
			return err
		})
	}
	if err := sent.Wait(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the events begin to expire", func() bool { return held.Fired() >= 64 })
	m.Start("delayed", "d", "")
	m.Finished("d")
	m.Start("waiting", "w", "")
	m.Finished("w")
	held.Disarm()
	eventually(t, "the events expire", func() bool { return len(m.Queued()) == 0 })
	m.Sound()
}

// What cannot be read stays, and does not make all of the queue be looked at again.
func TestWhatCannotBeReadKeepsNoExpiryGoing(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	etcd := clustertest.Shared(t).Client(t)
	newer := `{"id":"x","fromNewer":1}`
	n := 0
	for _, value := range append(slices.Collect(maps.Values(membertest.Junk())), newer) {
		st := workflow.EventStimulus(fmt.Sprint("nobody", n), nil)
		if _, err := m.Events.Send(t.Context(), st, nil); err != nil {
			t.Fatal(err)
		}
		hash, err := workflow.Hash(st.ActivityType, st.Payload)
		if err != nil {
			t.Fatal(err)
		}
		at, err := etcd.Get(t.Context(), m.Root+"queue/"+hash, clientv3.WithPrefix(), clientv3.WithLimit(1), clientv3.WithKeysOnly())
		if err != nil || len(at.Kvs) != 1 {
			t.Fatal(at, err)
		}
		if _, err := etcd.Put(t.Context(), string(at.Kvs[0].Key), value); err != nil {
			t.Fatal(err)
		}
		n++
	}
	for i := range 3 {
		m.Event(fmt.Sprint("late", i), "", nil)
	}
	now, err := etcd.Get(t.Context(), "now", clientv3.WithCountOnly())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := m.Upkeep.ExpireUpTo(t.Context(), now.Header.Revision); err != nil {
			t.Errorf("all is looked at again: %v", err)
		}
		left, err := etcd.Get(t.Context(), m.Root+"queue/", clientv3.WithPrefix(), clientv3.WithCountOnly())
		if err != nil {
			t.Fatal(err)
		}
		if dead := len(m.Dead()); left.Count != int64(n) || dead != 3 {
			t.Errorf("%d wait, %d are dead letters", left.Count, dead)
		}
	}
	silent := m.Faults.Add(clustertest.Rule{Fault: clustertest.FailBefore, Match: func(c clustertest.Call) bool { return c.Touches(m.Root + "queue/") }})
	if err := m.Upkeep.ExpireUpTo(t.Context(), now.Header.Revision); err == nil {
		t.Error("that etcd did not answer is no error")
	}
	silent.Disarm()
}

// Files of which there is no instance go an hour after they came, by the cluster's age; those of instances stay.
func TestFilesWithoutAnInstanceGoAfterAnHour(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1, func(cfg *membertest.Config) { cfg.AgeEvery = 50 * time.Millisecond })
	m := c[0]
	m.Publish(membertest.Single)
	id := m.Start("single", "files-1", "").ID
	var kept files.Content
	there := func(of string) bool {
		t.Helper()
		if err := upkeep.SweepFiles(t.Context(), m.Upkeep); err != nil {
			t.Fatal(err)
		}
		return m.Store.Contents.Stands(t.Context(), of, kept.Hash, 4) == nil
	}
	put := func(of string) {
		t.Helper()
		var err error
		if kept, err = m.Store.Contents.Put(t.Context(), of, of == id, []byte("file")); err != nil {
			t.Fatal(err)
		}
	}
	put("nobody")
	put(id)
	if !there("nobody") {
		t.Error("it went at once")
	}
	grow(t, c, 2*time.Hour)
	put("newer")
	if there("nobody") {
		t.Error("it is there after two hours")
	}
	if !there("newer") || !there(id) {
		t.Error("what is needed went")
	}
}
