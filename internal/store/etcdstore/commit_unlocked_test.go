package etcdstore

import (
	"errors"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

// standing registers a node on a lease of its own and gives what a commit
// without a lock compares.
func (w *world) standing() (*store.Unlocked, func()) {
	w.tb.Helper()
	lease, err := w.raw.Grant(w.ctx(), 60)
	w.ok(err)
	key := w.Keys.Root + "nodes/me"
	_, err = w.raw.Put(w.ctx(), key, "{}", clientv3.WithLease(lease.ID))
	w.ok(err)
	return &store.Unlocked{Key: key, Lease: int64(lease.ID)}, func() {
		_, err := w.raw.Revoke(w.ctx(), lease.ID)
		w.ok(err)
	}
}

func (w *world) unlocked(id string, u *store.Unlocked, events ...string) *store.Commit {
	c := w.first(id, nil)
	for i, e := range events {
		c.Created = append(c.Created, w.bookmark(id, string(rune('a'+i)), e))
	}
	c.After.Header.Bookmarks, c.Unlocked, c.SeenMail = c.Created, u, 0
	return c
}

func TestAFirstCommitNeedsNoLock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	u, _ := w.standing()
	done := w.commit(w.unlocked("i1", u, "go"))
	if !done.Released || done.Waits || done.Modified != w.record("i1").Modified {
		t.Errorf("%+v", done)
	}
	w.want("bookmark/", 1)
	w.want("mailbox/", 0)
}

func TestItIsResolvedWhenTheAnswerIsLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	u, _ := w.standing()
	c := w.unlocked("i1", u)
	w.faults.Add(clustertest.Rule{Fault: clustertest.LoseAnswer, Times: 1})
	if _, err := w.Commit(w.ctx(), c); !errors.Is(err, db.ErrUnknown) {
		t.Fatal(err)
	}
	if done := w.commit(c); !done.Resolved {
		t.Errorf("%+v", done)
	}
	if w.record("i1").Seq != 1 {
		t.Error("applied twice")
	}
}

func TestAZombieCommitsNothingWithoutALockEither(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	u, revoke := w.standing()
	late := w.unlocked("late", u)
	w.faults.Add(clustertest.Rule{Fault: clustertest.DeliverLate, Times: 1})
	if _, err := w.Commit(w.ctx(), late); !errors.Is(err, db.ErrUnknown) {
		t.Fatal(err)
	}
	revoke()
	w.faults.Deliver()
	if _, err := w.Commit(w.ctx(), late); !errors.Is(err, store.ErrFenced) {
		t.Errorf("after the session: %v", err)
	}
	// The same process in its next session: the record is there again.
	again, _ := w.standing()
	if again.Lease == u.Lease {
		t.Fatal("a lease came back")
	}
	if _, err := w.Commit(w.ctx(), late); !errors.Is(err, store.ErrFenced) {
		t.Errorf("in the next session: %v", err)
	}
	w.want("instance/", 0)
}

func TestADefinitionThatMovedIsNotStarted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	put, err := w.raw.Put(w.ctx(), w.Keys.Head("order"), "{}")
	w.ok(err)
	u, _ := w.standing()
	u.Definition, u.Head = "order", put.Header.Revision
	w.commit(w.unlocked("i1", u))
	_, err = w.raw.Put(w.ctx(), w.Keys.Head("order"), "{}")
	w.ok(err)
	if _, err := w.Commit(w.ctx(), w.unlocked("i2", u)); !errors.Is(err, store.ErrStale) {
		t.Error(err)
	}
	w.want("instance/", 1)
}

func TestAnIdThatIsTakenAfterAllIsAConflict(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	u, _ := w.standing()
	w.instance("i1")
	if _, err := w.Commit(w.ctx(), w.unlocked("i1", u)); !errors.Is(err, store.ErrConflict) {
		t.Error(err)
	}
}

// Its node does not know yet that its commit was applied, while others see the instance
// and delete it. Nothing proves the commit any more; run again, it would make the
// instance again.
func TestWhatWasMadeAndDeletedIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	u, _ := w.standing()
	c := w.unlocked("i1", u)
	w.faults.Add(clustertest.Rule{Fault: clustertest.LoseAnswer, Times: 1})
	if _, err := w.Commit(w.ctx(), c); !errors.Is(err, db.ErrUnknown) {
		t.Fatal(err)
	}
	w.remove("i1")
	if _, err := w.Commit(w.ctx(), c); !errors.Is(err, store.ErrFenced) {
		t.Error(err)
	}
	w.want("instance/", 0)
}

// The stimulus was there first. There is no lock to keep, so the work is left in
// the mailbox, where a death right after does not lose it.
func TestAQueuedStimulusIsNoticed(t *testing.T) {
	t.Parallel()
	for _, st := range []func(*world) (string, bool){
		func(w *world) (string, bool) { w.queued("q", event("go")); return "go", true },
		func(w *world) (string, bool) { w.queued("q", event("other")); return "go", false },
	} {
		w := newWorld(t)
		u, _ := w.standing()
		awaited, waits := st(w)
		if done := w.commit(w.unlocked("i1", u, awaited)); done.Waits != waits || !done.Released {
			t.Errorf("%+v, want waits %v", done, waits)
		}
		w.want("mailbox/", map[bool]int{true: 1}[waits])
	}
}
