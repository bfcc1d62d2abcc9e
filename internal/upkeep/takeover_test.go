package upkeep_test

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// die cuts a node off at its first call that fits, which etcd does not see, nor
// any after it. The channel is closed then.
func (m *member) die(at func(clustertest.Call) bool) <-chan struct{} {
	var dead atomic.Bool
	died := make(chan struct{})
	rule := m.Faults.Add(clustertest.Rule{Match: func(c clustertest.Call) bool {
		if !dead.Load() && at(c) && dead.CompareAndSwap(false, true) {
			close(died)
		}
		return dead.Load()
	}})
	m.T.Cleanup(rule.Disarm) // so that it can stop
	return died
}

// expire ends the lease of another node, as its TTL would.
func (m *member) expire(node string) {
	m.T.Helper()
	i := slices.IndexFunc(m.Session.Members(), func(n cluster.Node) bool { return n.ID == node })
	if i < 0 {
		m.T.Fatalf("there is no node %s", node)
	}
	lease, err := strconv.ParseInt(m.Session.Members()[i].LeaseID, 16, 64)
	if err != nil {
		m.T.Fatal(err)
	}
	if _, err := clustertest.Shared(m.T).Client(m.T).Revoke(m.T.Context(), clientv3.LeaseID(lease)); err != nil {
		m.T.Fatal(err)
	}
}

// queuePasses counts how often a node has looked through the queue.
func (m *member) queuePasses() func() int64 {
	var n atomic.Int64
	last := m.Root + "queue/" + etcdstore.QueueShards[len(etcdstore.QueueShards)-1:]
	m.Faults.Add(clustertest.Rule{Match: func(c clustertest.Call) bool {
		if !c.Mutating && c.Touches(last) {
			n.Add(1)
		}
		return false
	}})
	return n.Load
}

// A commit that creates a bookmark and meets a queued event keeps its lock, and
// claims the event next. In between nothing but the dead node knew of it.
func TestAnEventThatWasMetAndNotClaimedIsTakenOver(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	a, b := c[0], c[1]
	// The sweeps that follow a start and a publication are over: the next ones are
	// half a minute away, whatever hastens them aside.
	passes := b.queuePasses()
	eventually(t, "the first sweep of the queue", func() bool { return passes() > 0 })
	before := passes()
	a.Publish(membertest.Waits)
	eventually(t, "the sweep after the publication", func() bool { return passes() > before })
	if res := b.Event("go", "1", nil); res.Queued == "" {
		t.Fatalf("got %+v", res)
	}
	eventually(t, "the nodes know each other", func() bool { return len(b.Session.Members()) == 2 })
	died := a.die(func(call clustertest.Call) bool { return call.DeletesUnder(a.Root + "queue/") })
	ctx, stop := context.WithCancel(t.Context())
	var caller sync.WaitGroup
	defer caller.Wait()
	defer stop()
	caller.Go(func() { // its answer, if it gets one, is the dead node's
		_, _ = a.Starts.Execute(ctx, runtime.StartRequest{DefinitionID: "waits", InstanceID: "one", CorrelationID: "1"})
	})
	<-died
	if in, err := b.Inspector.Instance(t.Context(), "one"); err != nil || len(in.Bookmarks) != 1 {
		t.Fatalf("it should wait: %+v, %v", in, err)
	}
	b.expire("a")
	gone := time.Now()
	b.Finished("one")
	if took := time.Since(gone); took > 20*time.Second {
		t.Errorf("it took %v after the end of the lease; 2 s are promised, on a machine that has time", took)
	}
}

// Work in a mailbox that nobody was told of is found by the sweep.
func TestTheSweepFindsWorkThatNobodyWasToldOf(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	m.Publish(membertest.Waits)
	m.Start("waits", "one", "1")
	in, err := m.Inspector.Instance(t.Context(), "one")
	if err != nil || len(in.Bookmarks) != 1 {
		t.Fatalf("it should wait: %+v, %v", in, err)
	}
	cmd := workflow.Command{ID: "c", Kind: workflow.CommandResume, CreatedAt: time.Now().UTC(), Bookmark: in.Bookmarks[0].ID}
	if out, _, err := m.Store.Stimuli.PutMail(t.Context(), "one", cmd, nil); err != nil || out != etcdstore.PutDone {
		t.Fatal(out, err)
	}
	m.Finished("one")
}
