package cluster

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

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
