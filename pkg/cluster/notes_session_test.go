package cluster

// Regression tests for the traps of etcd's leases and sessions; see
// notes_acquire_test.go.

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

// Session.Done lags the server, without bound when the process was paused.
func TestNote12_TheFenceIsRefusedBeforeTheLossIsNoticed(t *testing.T) {
	w := newWorld(t)
	s := w.open("a") // without the loop: as if the process stood still
	l := w.lock(s, someLock)
	if !w.commit(l.Fence()) {
		t.Fatal("a holder's fence was refused")
	}
	w.revoke(s.Epoch().Lease)
	if l.Context().Err() != nil || s.Epoch() == nil {
		t.Fatal("the loss was noticed: nothing is tested")
	}
	if w.commit(l.Fence()) {
		t.Error("a zombie committed")
	}
	// The next acquisition learns it.
	if _, err := s.Locks().TryAcquire(w.ctx(), InstanceLock("other")); !errors.Is(err, ErrSessionLost) || IsTransient(err) {
		t.Errorf("acquire on a dead lease: %v", err)
	}
}

func TestNote12_AfterAPauseTheEpochIsNotTrusted(t *testing.T) {
	w := newWorld(t)
	s := w.open("a")
	e := s.Epoch()
	e.trust(time.Now().Add(-e.TTL)) // a whole TTL has passed; no loop has run since
	if s.Epoch() != nil || !errors.Is(s.Ready(), ErrSessionLost) {
		t.Errorf("epoch %v, ready %v", s.Epoch(), s.Ready())
	}
	if _, err := s.Locks().TryAcquire(w.ctx(), someLock); !errors.Is(err, ErrSessionLost) {
		t.Errorf("acquire: %v", err)
	}
	if err := s.UpdateNode(w.ctx(), func(n *Node) { n.Draining = true }); !errors.Is(err, ErrSessionLost) {
		t.Errorf("update: %v", err)
	}
}

func TestNote12_InABlackHoleTheEpochEndsWithItsTTL(t *testing.T) {
	w := newWorld(t)
	proxy := w.etcd.Proxy(t)
	s := w.run("a", ttl(2*time.Second), func(c *Config) { c.Client, c.LeaseClient = proxy.Client(t), proxy.Client(t) })
	e := s.Epoch()
	l := w.lock(s, someLock)
	proxy.BlackHole()
	start, late := time.Now(), lateness(t)
	select {
	case <-e.Context().Done():
	case <-time.After(time.Minute):
		t.Fatal("the epoch goes on")
	}
	if d := time.Since(start); d > e.TTL+500*time.Millisecond+late() {
		t.Errorf("noticed after %v, TTL %v", d, e.TTL)
	}
	select {
	case <-l.Context().Done(): // told by a goroutine of its own
	case <-time.After(time.Minute):
		t.Fatal("the lock goes on")
	}
	if !errors.Is(context.Cause(e.Context()), ErrSessionLost) || !errors.Is(context.Cause(l.Context()), ErrLockLost) {
		t.Errorf("causes %v, %v", context.Cause(e.Context()), context.Cause(l.Context()))
	}
	if s.Ready() == nil || s.Epoch() != nil {
		t.Error("ready without a session")
	}
	proxy.Heal()
	polltest.Eventually(t, "a new epoch", func() bool { n := s.Epoch(); return n != nil && n.Number > 1 })
}

type silentLease struct{ clientv3.Lease }

func (silentLease) KeepAliveOnce(ctx context.Context, _ clientv3.LeaseID) (*clientv3.LeaseKeepAliveResponse, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// The client's own look at its leases is up to a second late; ours is not.
func TestNote12_WithoutRenewalsTheEpochEndsWithItsTTL(t *testing.T) {
	w := newWorld(t)
	proxy := w.etcd.Proxy(t)
	s := w.open("a", ttl(2*time.Second), func(c *Config) {
		c.Client = proxy.Client(t)
		c.Client.Lease = silentLease{c.Client.Lease}
	})
	proxy.BlackHole() // else the end of the own record would tell
	e, start, late := s.Epoch(), time.Now(), lateness(t)
	w.start(s)
	select {
	case <-e.Context().Done():
	case <-time.After(time.Minute):
		t.Fatal("the epoch goes on")
	}
	if d := time.Since(start); d > e.TTL+300*time.Millisecond+late() {
		t.Errorf("after %v, TTL %v", d, e.TTL)
	}
}

// secondTryLease does not answer every other renewal, as a member that passes it on to a
// leader that hangs.
type secondTryLease struct {
	clientv3.Lease
	asked, answered atomic.Int64
}

func (d *secondTryLease) KeepAliveOnce(ctx context.Context, lease clientv3.LeaseID) (*clientv3.LeaseKeepAliveResponse, error) {
	if d.asked.Add(1)%2 == 1 {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	defer d.answered.Add(1)
	return d.Lease.KeepAliveOnce(ctx, lease)
}

func TestARenewalWithoutAnAnswerIsAskedForAgain(t *testing.T) {
	w := newWorld(t)
	d := &secondTryLease{}
	s := w.run("a", ttl(2*time.Second), func(c *Config) { d.Lease = c.Client.Lease; c.Client.Lease = d })
	began := time.Now()
	polltest.Eventually(t, "two lives of the lease are over", func() bool { return time.Since(began) > 2*s.cfg.TTL && d.answered.Load() > 3 })
	if e := s.Epoch(); e == nil || e.Number != 1 {
		t.Errorf("the session was lost: %+v", e)
	}
	if _, late := s.Overdue(); late {
		t.Error("the lease counts as late")
	}
}

// The server's floor: what is granted counts.
func TestNote13_TheGrantedTTLCounts(t *testing.T) {
	t.Parallel()
	w := worldOn(t, clustertest.Start(t, clustertest.Election(2*time.Second)))
	s := w.open("a", ttl(2*time.Second))
	if got := s.Epoch().TTL; got != 3*time.Second {
		t.Errorf("TTL %v, want the 3 s that etcd grants", got)
	}
	c := w.config("b")
	c.TTL = time.Second
	if _, err := Open(w.ctx(), c); err == nil {
		t.Error("a TTL under the floor was taken")
	}
	if got := (Config{TTL: 2100 * time.Millisecond}).ttlSeconds(); got != 3 {
		t.Errorf("2.1 s asked as %d s", got)
	}
}

// Every change of leader gives every lease its full TTL again: a lease whose time
// goes up is no sign of life, and a dead process does not keep its id for ever.
func TestNote14_ALeaderChangeIsNoSignOfLife(t *testing.T) {
	t.Parallel()
	w := worldOn(t, clustertest.Start(t))
	dead := w.open("a", ttl(3*time.Second)) // never renewed
	opened := make(chan error, 1)
	c := w.config("a")
	go func() {
		s, err := Open(w.ctx(), c)
		if err == nil {
			err = s.Close(context.Background())
		}
		opened <- err
	}()
	polltest.Eventually(t, "some of the lease is used up", func() bool {
		left, err := w.raw.TimeToLive(w.ctx(), dead.epoch.Lease)
		return err == nil && left.TTL <= 1
	})
	w.etcd.Restart(t)
	left, err := w.raw.TimeToLive(w.ctx(), dead.epoch.Lease)
	if err != nil || left.TTL < 1 {
		t.Fatalf("%v, %v: the lease was not given its time again; nothing is tested", left, err)
	}
	err = <-opened
	var conflict *ConflictError
	if errors.As(err, &conflict) {
		t.Errorf("a dead process was taken for a live one: %v", err)
	} else if err != nil {
		t.Logf("open during the restart: %v", err) // etcd was away: a fair answer
	}
}

// A session that ended is gone with everything on it.
func TestNote15_ALostSessionIsRebuiltAsANewEpoch(t *testing.T) {
	w := newWorld(t)
	b := w.run("b")
	sub := b.Subscribe()
	defer sub.Close()
	a := w.run("a")
	polltest.Eventually(t, "b sees a", func() bool { return len(b.Members()) == 2 })
	sub.Vanished()

	old := a.Epoch()
	l := w.lock(a, someLock)
	w.revoke(old.Lease)

	ended(old.Context(), t)
	if !errors.Is(context.Cause(old.Context()), ErrSessionLost) {
		t.Errorf("cause of the epoch: %v", context.Cause(old.Context()))
	}
	ended(l.Context(), t)
	if !errors.Is(context.Cause(l.Context()), ErrLockLost) {
		t.Errorf("cause of the lock: %v", context.Cause(l.Context()))
	}
	polltest.Eventually(t, "a new epoch", func() bool { e := a.Epoch(); return e != nil && e != old })
	e := a.Epoch()
	if e.Number != 2 || e.Lease == old.Lease || a.Ready() != nil {
		t.Errorf("epoch %d, lease %x after %x, ready %v", e.Number, e.Lease, old.Lease, a.Ready())
	}
	// The old lock is dead, not migrated: the name is free although its holder
	// never gave it back, and when he does, the new lock is not touched.
	again := w.lock(a, someLock)
	if w.commit(l.Fence()) {
		t.Error("a lock of the old epoch committed")
	}
	if err := l.Release(w.ctx()); err != nil {
		t.Error(err)
	}
	if !w.commit(again.Fence()) {
		t.Error("the release of an old lock hurt the new one")
	}
	w.release(again)
	polltest.Eventually(t, "b learns that the first epoch of a vanished", func() bool {
		for _, n := range sub.Vanished() {
			if n.ID == "a" && n.LeaseID == leaseHex(old.Lease) {
				return true
			}
		}
		return false
	})
	polltest.Eventually(t, "b sees the second epoch", func() bool {
		m := b.Members()
		return len(m) == 2 && m[0].Epoch == 2 && m[0].LeaseID == leaseHex(e.Lease)
	})
}

// A rebuild must not wait for the work of the old epoch, nor for its clean-ups.
func TestNote15_RebuildingDoesNotWaitForOldWork(t *testing.T) {
	w := newWorld(t)
	faults := clustertest.NewFaults(1)
	a := w.run("a", func(c *Config) { faults.Wrap(c.Client) })
	stuck := faults.Add(clustertest.Rule{Fault: clustertest.FailBefore,
		Match: func(c clustertest.Call) bool { return c.DeletesUnder(Root(w.name) + lockDir) }})
	l := w.lock(a, someLock)
	if err := l.Release(w.ctx()); err == nil {
		t.Error("released, and the delete failed")
	}
	held := w.lock(a, InstanceLock("never given back"))
	old := a.Epoch()
	w.revoke(old.Lease)
	polltest.Eventually(t, "a new epoch", func() bool { e := a.Epoch(); return e != nil && e != old })
	if stuck.Fired() == 0 {
		t.Fatal("no clean-up was stuck: nothing is tested")
	}
	stuck.Disarm()
	w.release(w.lock(a, someLock))
	w.release(w.lock(a, held.Name()))
}

func TestOpenLeavesNothingBehindWhenItFails(t *testing.T) {
	w := newWorld(t)
	faults := clustertest.NewFaults(1)
	lost := faults.Add(clustertest.Rule{Fault: clustertest.LoseAnswer, Times: 1})
	c := w.config("a")
	faults.Wrap(c.Client)
	if _, err := Open(w.ctx(), c); err == nil || lost.Fired() != 1 {
		t.Fatalf("error %v, fired %d", err, lost.Fired())
	}
	if n := len(w.get(Root(w.name), clientv3.WithPrefix()).Kvs); n != 0 {
		t.Errorf("%d keys left", n)
	}
	if err := w.open("a").Ready(); err != nil {
		t.Error(err)
	}
}
