package cluster

// Regression tests for the traps of ownership and waiting; see
// notes_acquire_test.go.

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

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
	got := make(chan *Lock, 1)
	go func() {
		l, err := b.Locks().Acquire(w.ctx(), someLock)
		if err != nil {
			t.Error(err)
		}
		got <- l
	}()
	w.waitKeys(someLock, 2)
	key := l.Fence().Prefix + leaseHex(b.Epoch().Lease)
	waiter := Fence{Key: key, Prefix: l.Fence().Prefix, Revision: w.get(key).Kvs[0].CreateRevision}
	if w.commit(waiter) {
		t.Error("a waiter's fence was accepted")
	}
	if !w.commit(l.Fence()) {
		t.Error("the holder's fence was refused")
	}
	// Should a wait ever end too early, the confirming read refuses it.
	acq := b.Locks().newAcquisition(b.Epoch(), someLock, nil, time.Now())
	acq.rev = waiter.Revision
	if _, err := acq.Get(w.ctx(), acq.key); !errors.Is(err, errNotOwner) {
		t.Errorf("a waiter was confirmed as the owner: %v", err)
	}
	w.release(l)
	next := <-got
	if next == nil {
		t.FailNow()
	}
	if next.Fence() != waiter || !w.commit(next.Fence()) {
		t.Errorf("fence %+v, want %+v, accepted", next.Fence(), waiter)
	}
	w.release(next)
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
	got := make(chan *Lock, 1)
	go func() {
		l, err := b.Locks().Acquire(w.ctx(), someLock)
		if err != nil {
			t.Error(err)
		}
		got <- l
	}()
	w.waitKeys(someLock, 2)
	w.put(Root(w.name)+"noise", "") // so that the revision of the read is another
	w.revoke(a.Epoch().Lease)
	next := <-got
	if next == nil {
		t.FailNow()
	}
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
	if resp, ok := next.Reads(); !ok || resp.Header.Revision <= next.Fence().Revision {
		t.Errorf("read at %v, %v; want later than the fence", resp, ok)
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

// While it waits, the Mutex does not notice the death of its own lease.
func TestNote10_AWaiterWhoseLeaseDiedDoesNotBecomeTheOwner(t *testing.T) {
	w := newWorld(t)
	a, b, c := w.open("a"), w.run("b"), w.open("c")
	l := w.lock(a, someLock)
	wait := func(s *Session) chan error {
		got := make(chan error, 1)
		go func() {
			_, err := s.Locks().Acquire(w.ctx(), someLock)
			got <- err
		}()
		return got
	}
	bGot, cGot := wait(b), wait(c)
	w.waitKeys(someLock, 3)
	w.revoke(b.Epoch().Lease)
	w.revoke(c.Epoch().Lease)
	// b runs: it learns the loss, and the wait ends although the holder stays.
	if err := <-bGot; !errors.Is(err, ErrSessionLost) || IsTransient(err) {
		t.Errorf("running session: %v", err)
	}
	// c does not: the end of the wait finds that the key is gone.
	w.release(l)
	if err := <-cGot; err == nil || !IsTransient(err) {
		t.Errorf("session without a loop: %v", err)
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
	a := w.open("a")
	b := w.run("b", func(c *Config) { rec.Watcher = c.Client.Watcher; c.Client.Watcher = rec })
	l := w.lock(a, someLock)
	got := make(chan *Lock, 1)
	go func() { got <- w.lock(b, someLock) }()
	w.waitKeys(someLock, 2)
	polltest.Within(t, 10*time.Second, "a watch of members and one of the wait", func() bool { return rec.watches.Load() >= 2 })
	w.release(l)
	w.release(<-got)
	if n := rec.withoutLeader.Load(); n > 0 {
		t.Errorf("%d of %d watches without a leader", n, rec.watches.Load())
	}
}
