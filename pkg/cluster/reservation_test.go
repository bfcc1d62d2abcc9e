package cluster

import (
	"errors"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

// reserve takes a name for a transaction of the test.
func (w *world) reserve(s *Session, n Name) *Reservation {
	w.t.Helper()
	m, err := s.Locks().Membership()
	if err != nil {
		w.t.Fatal(err)
	}
	c, ok := s.Locks().Reserve(m, n)
	if !ok {
		w.t.Fatalf("%s is not to be reserved", n)
	}
	return c
}

// putReserved is the transaction of a reservation: it gives the revision, 0 if the key was not put.
func (w *world) putReserved(s *Session, c *Reservation) (int64, error) {
	resp, err := s.cfg.Client.Txn(w.ctx()).Then(clientv3.OpTxn(
		[]clientv3.Cmp{clientv3.Compare(clientv3.CreateRevision(c.Prefix), "=", 0).WithPrefix()},
		[]clientv3.Op{clientv3.OpPut(c.Key, c.Value, clientv3.WithLease(c.Lease))}, nil)).Commit()
	if err != nil || !resp.Responses[0].GetResponseTxn().Succeeded {
		return 0, err
	}
	return resp.Header.Revision, nil
}

func TestAReservationBecomesALock(t *testing.T) {
	w := newWorld(t)
	a, b := w.open("a"), w.open("b")
	c := w.reserve(a, someLock)
	rev, err := w.putReserved(a, c)
	if err != nil || rev == 0 {
		t.Fatal(rev, err)
	}
	l, err := c.Taken(w.ctx(), rev)
	if err != nil {
		t.Fatal(err)
	}
	if f := l.Fence(); f != (Fence{Key: c.Key, Prefix: c.Prefix, Revision: rev}) || !w.commit(f) {
		t.Errorf("fence %+v", f)
	}
	if held := w.refused(b, someLock); !held.Confirmed || held.Holder.NodeID != "a" {
		t.Errorf("refused by %+v", held)
	}
	if held := w.refused(a, someLock); !held.Confirmed {
		t.Errorf("refused by %+v", held)
	}
	w.release(l)
	w.release(w.lock(a, someLock))
}

// The key is there before its node knows: the janitor is not to take it for one that
// nobody holds.
func TestTheJanitorSparesWhatIsReserved(t *testing.T) {
	w := newWorld(t)
	a := w.open("a")
	c := w.reserve(a, someLock)
	rev, err := w.putReserved(a, c)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.tidy(w.ctx(), a.Epoch()); err != nil {
		t.Fatal(err)
	}
	if w.keys(someLock) != 1 {
		t.Fatal("the key of the reservation is gone")
	}
	l, err := c.Taken(w.ctx(), rev)
	if err != nil || !w.commit(l.Fence()) {
		t.Errorf("the lock is lost: %v", err)
	}
	w.release(l)
}

func TestANameIsReservedOnce(t *testing.T) {
	w := newWorld(t)
	a := w.open("a")
	m, err := a.Locks().Membership()
	if err != nil {
		t.Fatal(err)
	}
	l := w.lock(a, someLock)
	if _, ok := a.Locks().Reserve(m, someLock); ok {
		t.Error("reserved beside its holder")
	}
	w.release(l)
	c := w.reserve(a, someLock)
	if _, ok := a.Locks().Reserve(m, someLock); ok {
		t.Error("reserved twice")
	}
	_ = w.refused(a, someLock)
	c.Abandon(false)
	w.release(w.lock(a, someLock))
}

// A reservation whose transaction got no answer keeps its name closed until the key is gone.
func TestAReservationWithoutAnAnswerIsCleanedUp(t *testing.T) {
	w := newWorld(t)
	faults := clustertest.NewFaults(1)
	a, b := w.open("a", func(c *Config) { faults.Wrap(c.Client) }), w.open("b")
	lost := faults.Add(clustertest.Rule{Fault: clustertest.LoseAnswer, Times: 1,
		Match: func(c clustertest.Call) bool { return c.PutsUnder(w.prefix(someLock)) }})
	stuck := faults.Add(clustertest.Rule{Fault: clustertest.FailBefore,
		Match: func(c clustertest.Call) bool { return c.Touches(w.prefix(someLock)) && !c.PutsUnder("/") }})
	c := w.reserve(a, someLock)
	if _, err := w.putReserved(a, c); err == nil || lost.Fired() != 1 || w.keys(someLock) != 1 {
		t.Fatal("the fault left no key: nothing is tested")
	}
	c.Abandon(true)
	if held := w.refused(a, someLock); held.Confirmed {
		t.Errorf("refused by %+v, want this node, not confirmed", held)
	}
	stuck.Disarm()
	w.release(w.lock(b, someLock))
	w.release(w.lock(a, someLock))
}

// A transaction that comes after the clean-up has looked puts what the janitor finds.
func TestAReservationThatComesLateIsRemovedByTheJanitor(t *testing.T) {
	w := newWorld(t)
	faults := clustertest.NewFaults(1)
	a := w.run("a", func(c *Config) { faults.Wrap(c.Client) })
	faults.Add(clustertest.Rule{Fault: clustertest.DeliverLate, Times: 1,
		Match: func(c clustertest.Call) bool { return c.PutsUnder(w.prefix(someLock)) }})
	c := w.reserve(a, someLock)
	if _, err := w.putReserved(a, c); err == nil {
		t.Fatal("no error")
	}
	e := a.Epoch()
	e.asked.Store(e.asked.Load() - lateCopies.Nanoseconds()) // as if it had been sent for so long
	c.Abandon(true)
	polltest.Eventually(t, "the clean-up saw nothing and ended", func() bool { return !a.Epoch().local.Busy(c.Key) })
	if faults.Deliver() != 1 || w.keys(someLock) != 1 {
		t.Fatal("nothing was delivered late")
	}
	w.waitKeys(someLock, 0)
}

func TestAReservationEndsWithItsEpoch(t *testing.T) {
	w := newWorld(t)
	a := w.open("a")
	c := w.reserve(a, someLock)
	rev, err := w.putReserved(a, c)
	if err != nil {
		t.Fatal(err)
	}
	e := a.Epoch()
	a.endEpoch(w.ctx(), e, ErrSessionLost, ErrLockLost)
	if _, err := c.Taken(w.ctx(), rev); !errors.Is(err, ErrSessionLost) {
		t.Errorf("error %v", err)
	}
	polltest.Eventually(t, "the name is free again", func() bool { return !e.local.Busy(c.Key) })
}
