package cluster

// Regression tests for the traps of ownership and waiting; see
// notes_acquire_test.go.

import (
	"context"
	"sync/atomic"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/metadata"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

// Mutex.IsOwner is true for a waiter: only its own key is compared.
func TestNote06_AWaiterIsNotTheOwner(t *testing.T) {
	w := newWorld(t)
	a, b := w.open("a"), w.open("b")
	l := w.lock(a, someLock)
	waiter := w.waiter(b, someLock)
	if w.commit(waiter) {
		t.Error("a waiter's fence was accepted")
	}
	if !w.commit(l.Fence()) {
		t.Error("the holder's fence was refused")
	}
	w.release(l)
	if !w.commit(waiter) {
		t.Error("the fence of the oldest key was refused")
	}
}

// Unlock after a commit that deleted the key deletes the successor's key of the
// same session; so does a delete that arrives late.
func TestNote07_AReleaseNeverDeletesASuccessorsKey(t *testing.T) {
	w := newWorld(t)
	faults := clustertest.NewFaults(1)
	s := w.open("a", func(c *Config) { faults.Wrap(c.Client) })

	first := w.lock(s, someLock)
	if _, err := w.raw.Delete(w.ctx(), first.Fence().Key); err != nil { // the commit
		t.Fatal(err)
	}
	first.Released()
	second := w.lock(s, someLock)
	if err := first.Release(w.ctx()); err != nil {
		t.Error(err)
	}
	first.Released()
	if !w.commit(second.Fence()) {
		t.Fatal("ending the first lock again hurt the second")
	}

	late := faults.Add(clustertest.Rule{Fault: clustertest.DeliverLate, Times: 1,
		Match: func(c clustertest.Call) bool { return c.DeletesUnder(w.prefix(someLock)) }})
	if err := second.Release(w.ctx()); err == nil || late.Fired() != 1 {
		t.Fatalf("release: %v, fired %d", err, late.Fired())
	}
	third := w.lock(s, someLock) // waits for the clean-up
	if third.Fence().Key != second.Fence().Key {
		t.Fatal("other key: nothing is tested")
	}
	if faults.Deliver() != 1 {
		t.Fatal("nothing was delivered late")
	}
	if !w.commit(third.Fence()) {
		t.Error("a late delete took the successor's key")
	}
	w.release(third)
}

// Unlock after a loss answers nil; a header's revision is no fence.
func TestNote08_OnlyTheFenceProves(t *testing.T) {
	w := newWorld(t)
	a, b := w.open("a"), w.open("b")
	l := w.lock(a, someLock)
	w.revoke(a.Epoch().Lease)
	next := w.lock(b, someLock)
	if w.commit(l.Fence()) {
		t.Error("a zombie's fence was accepted")
	}
	if l.Context().Err() != nil {
		t.Error("the loss was noticed: nothing is tested")
	}
	if err := l.Release(w.ctx()); err != nil {
		t.Errorf("release after a loss: %v", err)
	}
	kv := w.get(next.Fence().Key).Kvs[0]
	if next.Fence().Revision != kv.CreateRevision || next.Fence().Revision != kv.ModRevision {
		t.Errorf("fence %d, create revision %d", next.Fence().Revision, kv.CreateRevision)
	}
	if !w.commit(next.Fence()) {
		t.Error("the successor's fence was refused")
	}
	w.release(next)
}

// Ownership is a prefix scan, so /a would be blocked by a lock on /a/b.
func TestNote09_NamesDoNotBlockEachOther(t *testing.T) {
	w := newWorld(t)
	a, b := w.open("a"), w.open("b")
	names := []Name{
		InstanceLock("a/b"), InstanceLock("a"), InstanceLock("a/b/c"), InstanceLock("a%2Fb"), InstanceLock(""),
		RefreshLock(nil), RefreshLock([]string{"all"}), RefreshLock([]string{"a", "b"}), RefreshLock([]string{"a,b"}), RefreshLock([]string{"ab"}),
		ReloadLock(), ShardLock(ScopeQueue, 1), ShardLock(ScopeQueue, 11), ShardLock(ScopeTimer, 1), ShardLock(ScopeMailbox, 1),
	}
	for i, n := range names {
		s := a
		if i%2 == 1 {
			s = b
		}
		if _, err := s.Locks().TryAcquire(w.ctx(), n); err != nil {
			t.Errorf("%s: %v", n, err)
		}
	}
}

type watchRecorder struct {
	clientv3.Watcher
	withoutLeader, watches atomic.Int32
}

func (r *watchRecorder) Watch(ctx context.Context, key string, opts ...clientv3.OpOption) clientv3.WatchChan {
	r.watches.Add(1)
	md, _ := metadata.FromOutgoingContext(ctx)
	if len(md.Get(rpctypes.MetadataRequireLeaderKey)) == 0 {
		r.withoutLeader.Add(1)
	}
	return r.Watcher.Watch(ctx, key, opts...)
}

func TestNote10_AllWatchesRequireALeader(t *testing.T) {
	w := newWorld(t)
	rec := &watchRecorder{}
	w.run("a", func(c *Config) { rec.Watcher = c.Client.Watcher; c.Client.Watcher = rec })
	polltest.Eventually(t, "a watch of members", func() bool { return rec.watches.Load() >= 1 })
	if n := rec.withoutLeader.Load(); n > 0 {
		t.Errorf("%d of %d watches without a leader", n, rec.watches.Load())
	}
}
