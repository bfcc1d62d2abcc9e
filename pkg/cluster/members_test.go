package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"pgregory.net/rapid"

	"github.com/weft-run/weft/internal/polltest"
)

func ids(nodes []Node) []string {
	var out []string
	for _, n := range nodes {
		out = append(out, n.ID)
	}
	return out
}

func TestMembersFollowJoinsLeavesAndDeaths(t *testing.T) {
	w := newWorld(t)
	a := w.run("a")
	sub := a.Subscribe()
	defer sub.Close()
	await := func(want ...string) {
		t.Helper()
		polltest.Eventually(t, fmt.Sprint(want), func() bool { return slices.Equal(ids(a.Members()), want) })
	}
	await("a")
	c := w.run("c")
	b := w.open("b", ttl(5*time.Second)) // will die: nobody renews it
	await("a", "b", "c")
	select {
	case <-sub.C():
	default:
		t.Error("no token after a join")
	}
	if err := c.Close(w.ctx()); err != nil {
		t.Fatal(err)
	}
	await("a")
	polltest.Eventually(t, "a token", func() bool { return len(sub.C()) == 1 })
	gone := ids(sub.Vanished())
	slices.Sort(gone)
	if !slices.Equal(gone, []string{"b", "c"}) {
		t.Errorf("vanished: %v", gone)
	}
	if len(sub.Vanished()) != 0 {
		t.Error("told twice")
	}
	_ = b
	m := a.Members()[0]
	if m.Address != "a.test:1" || m.Version != "test" || m.Mode != ModeDistributed || m.Epoch != 1 || m.StartedAt.IsZero() || m.Clock.IsZero() {
		t.Errorf("record %+v", m)
	}
}

func TestTheSweepRepairsWhatTheWatchMissed(t *testing.T) {
	w := newWorld(t)
	a := w.open("a") // no watch at all
	w.open("b")
	sub := a.Subscribe()
	defer sub.Close()
	if err := a.sweepMembers(w.ctx()); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(ids(a.Members()), []string{"a", "b"}) {
		t.Errorf("members %v", ids(a.Members()))
	}
	w.revoke(clientv3.LeaseID(w.get(Root(w.name) + "nodes/b").Kvs[0].Lease))
	if err := a.sweepMembers(w.ctx()); err != nil {
		t.Fatal(err)
	}
	if got := ids(sub.Vanished()); !slices.Equal(got, []string{"b"}) || !slices.Equal(ids(a.Members()), []string{"a"}) {
		t.Errorf("vanished %v, members %v", got, ids(a.Members()))
	}
}

func TestMembersSnapshotBelongsToTheCaller(t *testing.T) {
	w := newWorld(t)
	a := w.open("a")
	a.Members()[0].ID = "changed"
	if got := ids(a.Members()); !slices.Equal(got, []string{"a"}) {
		t.Errorf("members %v", got)
	}
}

func TestAHeartbeatIsNoNews(t *testing.T) {
	t.Parallel()
	var m members
	m.init()
	sub := &Subscription{m: &m, c: make(chan struct{}, 1)}
	m.subs[sub] = true
	event := func(n Node, rev int64) *clientv3.Event {
		b, err := json.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		return &clientv3.Event{Kv: &mvccpb.KeyValue{Key: []byte("nodes/" + n.ID), Value: b, ModRevision: rev}}
	}
	now := time.Now()
	m.apply(event(Node{ID: "a", LeaseID: "1", Clock: now}, 1), now)
	<-sub.C()
	m.apply(event(Node{ID: "a", LeaseID: "1", Clock: now.Add(time.Second)}, 2), now)
	if len(sub.C()) != 0 {
		t.Error("a heartbeat woke the subscriber")
	}
	m.apply(event(Node{ID: "a", LeaseID: "1", Draining: true}, 1), now) // older than known
	if m.sorted[0].Draining {
		t.Error("an old event undid a newer one")
	}
	m.apply(event(Node{ID: "a", LeaseID: "1", Draining: true}, 3), now)
	<-sub.C()
	if len(sub.Vanished()) != 0 {
		t.Error("nobody vanished")
	}
}

func TestRendezvousMovesOnlyTheShareOfTheNodeThatLeft(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 9).Draw(t, "nodes")
		var nodes []Node
		for i := range n {
			nodes = append(nodes, Node{ID: fmt.Sprint("node-", i), Draining: rapid.Bool().Draw(t, "draining")})
		}
		gone := rapid.IntRange(0, n-1).Draw(t, "gone")
		rest := slices.Delete(slices.Clone(nodes), gone, gone+1)
		key := rapid.String().Draw(t, "key")
		before, after := preferred(nodes, key, "me"), preferred(rest, key, "me")
		onlyDrainingLeft := !slices.ContainsFunc(rest, func(n Node) bool { return !n.Draining })
		if before != nodes[gone].ID && before != after && !onlyDrainingLeft {
			t.Fatalf("%q moved from %s to %s when %s left", key, before, after, nodes[gone].ID)
		}
		reversed := slices.Clone(nodes)
		slices.Reverse(reversed)
		if preferred(reversed, key, "me") != before {
			t.Fatal("the order of the members matters")
		}
	})
}

func TestRendezvousSpreadsEvenly(t *testing.T) {
	t.Parallel()
	nodes := []Node{{ID: "node-1"}, {ID: "node-2"}, {ID: "node-3"}, {ID: "node-4", Draining: true}}
	share := map[string]int{}
	for i := range 3000 {
		share[preferred(nodes, fmt.Sprint("mailbox/", i), "me")]++
	}
	for _, n := range nodes {
		want := 1000
		if n.Draining {
			want = 0
		}
		if d := share[n.ID] - want; d > 150 || d < -150 {
			t.Errorf("%s has %d of 3000 keys, want about %d", n.ID, share[n.ID], want)
		}
	}
	if got := preferred(nil, "x", "me"); got != "me" {
		t.Errorf("without members: %s", got)
	}
	if got := preferred(nodes[3:], "x", "me"); got != "node-4" {
		t.Errorf("only draining nodes: %s", got)
	}
}

// deaf is a watcher whose watches never tell anything.
type deaf struct {
	clientv3.Watcher
	watches *atomic.Int32
}

func (d deaf) Watch(ctx context.Context, _ string, _ ...clientv3.OpOption) clientv3.WatchChan {
	d.watches.Add(1)
	events := make(chan clientv3.WatchResponse)
	context.AfterFunc(ctx, func() { close(events) })
	return events
}

func TestTheSweepFindsMembersThatTheWatchMissed(t *testing.T) {
	w := newWorld(t)
	var watches atomic.Int32
	a := w.run("a", func(c *Config) { c.Client.Watcher = deaf{c.Client.Watcher, &watches} })
	polltest.Eventually(t, "it has read the members and watches them", func() bool { return watches.Load() > 0 })
	w.open("b", ttl(time.Minute)) // nobody renews it
	polltest.Eventually(t, "it sees the other", func() bool { return len(a.Members()) == 2 })
}
