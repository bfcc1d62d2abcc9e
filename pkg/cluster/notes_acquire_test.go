package cluster

// One regression test for each trap of etcd's mutex that docs and code mention,
// named by its number in docs/etcd-notes.md.

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

var someLock = InstanceLock("i-1")

// An etcd mutex is re-entrant per session: its key is prefix + lease.
func TestNote01_OneSessionOneNameOneHolder(t *testing.T) {
	w := newWorld(t)
	s := w.open("a")
	l := w.lock(s, someLock)
	held := w.refused(s, someLock)
	if held.Holder.NodeID != "a" || held.Holder.Fence != l.Fence() || !held.Confirmed {
		t.Errorf("refused by %+v", held)
	}
	w.release(l)

	var inside, most atomic.Int32
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 10 {
				l, err := w.take(s, someLock)
				if err != nil {
					t.Error(err)
					return
				}
				if n := inside.Add(1); n > most.Load() {
					most.Store(n)
				}
				if !w.commit(l.Fence()) {
					t.Error("a holder's fence was refused: another goroutine freed its lock")
				}
				inside.Add(-1)
				if err := l.Release(w.ctx()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if most.Load() != 1 {
		t.Errorf("%d goroutines held one name at once", most.Load())
	}
}

// The put was applied, the answer was lost: the key would live with the session.
// There is no janitor here: the clean-up of the acquisition itself must do it.
func TestNote02_AmbiguousTryIsCleanedUp(t *testing.T) {
	w := newWorld(t)
	faults := clustertest.NewFaults(1)
	a := w.open("a", func(c *Config) { faults.Wrap(c.Client) })
	b := w.open("b")
	lost := faults.Add(clustertest.Rule{Fault: clustertest.LoseAnswer, Times: 1,
		Match: func(c clustertest.Call) bool { return c.PutsUnder(w.prefix(someLock)) }})
	stuck := faults.Add(clustertest.Rule{Fault: clustertest.FailBefore,
		Match: func(c clustertest.Call) bool { return c.Touches(w.prefix(someLock)) && !c.PutsUnder("/") }})

	_, err := a.Locks().TryAcquire(w.ctx(), someLock)
	if !IsTransient(err) || lost.Fired() != 1 {
		t.Fatalf("error %v, fired %d", err, lost.Fired())
	}
	if w.keys(someLock) != 1 {
		t.Fatal("the fault left no key: nothing is tested")
	}
	// As long as nothing is definite, this node must not take the lock again.
	if held := w.refused(a, someLock); held.Confirmed || held.Holder.NodeID != "a" {
		t.Errorf("refused by %+v, want this node, not confirmed", held)
	}
	stuck.Disarm()
	w.release(w.lock(b, someLock))
	w.release(w.lock(a, someLock))
}

// A put that is delivered after the clean-up has looked: only the janitor finds it.
func TestNote02_LateTryIsRemovedByTheJanitor(t *testing.T) {
	w := newWorld(t)
	faults := clustertest.NewFaults(1)
	a := w.run("a", func(c *Config) { faults.Wrap(c.Client) })
	b := w.open("b")
	faults.Add(clustertest.Rule{Fault: clustertest.DeliverLate, Times: 1,
		Match: func(c clustertest.Call) bool { return c.PutsUnder(w.prefix(someLock)) }})
	if _, err := a.Locks().TryAcquire(w.ctx(), someLock); !IsTransient(err) {
		t.Fatalf("error %v", err)
	}
	key := w.prefix(someLock) + leaseHex(a.Epoch().Lease)
	polltest.Eventually(t, "the clean-up saw nothing and ended", func() bool { return !a.Epoch().local.Busy(key) })
	if faults.Deliver() != 1 || w.keys(someLock) != 1 {
		t.Fatal("nothing was delivered late")
	}
	start, late := time.Now(), lateness(t)
	w.release(w.lock(b, someLock))
	if d := time.Since(start); d > 2500*time.Millisecond+late() {
		t.Errorf("the orphan lived for %v", d)
	}
}

// The janitor must leave alone what somebody holds or commits with.
func TestNote02_JanitorSparesTheLiving(t *testing.T) {
	w := newWorld(t)
	a, b := w.open("a"), w.open("b")
	l := w.lock(a, someLock)
	for _, s := range []*Session{a, b} {
		if err := s.tidy(w.ctx(), s.Epoch()); err != nil {
			t.Fatal(err)
		}
	}
	if n := w.keys(someLock); n != 1 {
		t.Fatalf("%d keys left, want the holder's", n)
	}
	w.release(l)
}

// The mutex's own calls outlive their context on a dead network.
func TestNote03_ATryReturnsWithItsContextOnADeadNetwork(t *testing.T) {
	w := newWorld(t)
	proxy := w.etcd.Proxy(t)
	a := w.open("a", func(c *Config) { c.Client = proxy.Client(t) })
	held := w.lock(w.open("b"), someLock)
	w.release(w.lock(a, InstanceLock("warm up")))
	const asked = 700 * time.Millisecond
	ctx, cancel := context.WithTimeout(t.Context(), asked)
	defer cancel()
	proxy.BlackHole()
	start, late := time.Now(), lateness(t)
	_, err := a.Locks().TryAcquire(ctx, someLock)
	if d := time.Since(start); d > asked+500*time.Millisecond+late() {
		t.Errorf("asked for %v, took %v", asked, d)
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	proxy.Heal()
	w.release(held)
	w.waitKeys(someLock, 0)
}

// A caller without a deadline of its own gets one for each call.
func TestNote03_ACallWithoutAnAnswerEnds(t *testing.T) {
	w := newWorld(t)
	proxy := w.etcd.Proxy(t)
	a := w.open("a", ttl(time.Minute), func(c *Config) { c.Client, c.LeaseClient = proxy.Client(t), w.etcd.Client(t) })
	w.release(w.lock(a, InstanceLock("warm up")))
	proxy.BlackHole()
	if _, err := a.Locks().TryAcquire(t.Context(), someLock); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	proxy.Heal()
}

// A waiter's key that was left behind becomes the owner when the holder leaves.
func TestNote04_JanitorRemovesTheGhostOwner(t *testing.T) {
	w := newWorld(t)
	a, b := w.open("a"), w.open("b")
	l := w.lock(b, someLock)
	w.waiter(a, someLock)
	w.release(l)
	if held := w.refused(b, someLock); held.Holder.NodeID != "a" {
		t.Errorf("refused by %+v", held)
	}
	if err := a.tidy(w.ctx(), a.Epoch()); err != nil {
		t.Fatal(err)
	}
	w.release(w.lock(b, someLock))
}

// The plain TryLock puts a key and deletes it when refused; others then are
// refused by it.
func TestNote05_RefusedTryWritesNothing(t *testing.T) {
	w := newWorld(t)
	a, b := w.open("a"), w.open("b")
	l := w.lock(a, someLock)
	before := w.get(w.prefix(someLock)).Header.Revision
	held := w.refused(b, someLock)
	if held.Holder.NodeID != "a" || held.Holder.Fence != l.Fence() || !held.Confirmed {
		t.Errorf("refused by %+v", held)
	}
	ctx, cancel := context.WithCancel(w.ctx())
	defer cancel()
	w.put(Root(w.name)+"mark", "")
	for resp := range w.raw.Watch(ctx, Root(w.name), clientv3.WithPrefix(), clientv3.WithRev(before+1)) {
		for _, ev := range resp.Events {
			if string(ev.Kv.Key) == Root(w.name)+"mark" {
				cancel()
				break
			}
			t.Errorf("the refused try wrote: %s %s", ev.Type, ev.Kv.Key)
		}
	}
}

// A holder that leaves between the refusal and the look at it has refused nobody.
func TestNote05_WhoHasGoneDoesNotRefuse(t *testing.T) {
	w := newWorld(t)
	faults := clustertest.NewFaults(1)
	a := w.open("a", func(c *Config) { c.Client = faults.Wrap(w.etcd.Client(t)) })
	held := w.lock(w.open("b"), someLock)
	var leave sync.Once
	faults.Add(clustertest.Rule{Match: func(c clustertest.Call) bool {
		if c.Op == "get" && c.Touches(w.prefix(someLock)) {
			leave.Do(func() { w.release(held) })
		}
		return false
	}})
	l, err := a.Locks().TryAcquire(w.ctx(), someLock)
	if err != nil {
		t.Fatalf("the lock is free: %v", err)
	}
	w.release(l)
}

// Each confirmed refusal overlaps a time in which somebody else really held the
// lock, or was on the way to or from it.
func TestNote05_RefusalsMeetAHolder(t *testing.T) {
	w := newWorld(t)
	type span struct {
		node       int
		start, end time.Time
	}
	var mu sync.Mutex
	var holds, refusals []span // guarded by mu
	var wg sync.WaitGroup
	for i, node := range []string{"a", "b", "c", "d"} {
		s := w.open(node, ttl(time.Minute)) // nobody renews it
		wg.Go(func() {
			for range 250 {
				start := time.Now()
				l, err := s.Locks().TryAcquire(w.ctx(), someLock)
				var held *HeldError
				switch {
				case err == nil:
					if err := l.Release(w.ctx()); err != nil {
						t.Error(err)
					}
					mu.Lock()
					holds = append(holds, span{i, start, time.Now()})
					mu.Unlock()
				case errors.As(err, &held):
					if held.Confirmed {
						mu.Lock()
						refusals = append(refusals, span{i, start, time.Now()})
						mu.Unlock()
					}
				default:
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	alone := 0
	for _, r := range refusals {
		met := false
		for _, h := range holds {
			if h.node != r.node && h.start.Before(r.end) && h.end.After(r.start) {
				met = true
				break
			}
		}
		if !met {
			alone++
		}
	}
	t.Logf("%d holds, %d confirmed refusals", len(holds), len(refusals))
	if alone > 0 {
		t.Errorf("%d of %d confirmed refusals met no holder", alone, len(refusals))
	}
}
