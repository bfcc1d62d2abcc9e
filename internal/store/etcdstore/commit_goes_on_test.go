package etcdstore

import (
	"errors"
	"slices"
	"testing"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

// rest is the command that a commit leaves whose burst goes on.
func (w *world) rest() *workflow.Command {
	return &workflow.Command{ID: workflow.ContinueID, Kind: workflow.CommandContinue, CreatedAt: w.now}
}

// takingLock is the first commit of an instance whose burst goes on: it takes the lock.
func (w *world) takingLock(id string, u *store.Unlocked) *store.Commit {
	with := *u
	prefix := w.Keys.Root + "lock/" + id + "/"
	with.Lock = &store.LockKey{Key: prefix + "me", Prefix: prefix, Value: "{}", Lease: u.Lease}
	c := w.unlocked(id, &with, "go")
	c.Continue = w.rest()
	return c
}

// fenceTaken is the fence that such a commit gave.
func fenceTaken(c *store.Commit, done *store.Committed) *store.Fence {
	return &store.Fence{Key: c.Unlocked.Lock.Key, Prefix: c.Unlocked.Lock.Prefix, Revision: done.Locked}
}

func TestAFirstCommitTakesTheLockIfItsBurstGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	u, revoke := w.standing()
	c := w.takingLock("a", u)
	done := w.commit(c)
	kv, err := w.raw.Get(w.ctx(), c.Unlocked.Lock.Key)
	w.ok(err)
	if len(kv.Kvs) != 1 || kv.Kvs[0].CreateRevision != done.Locked || kv.Kvs[0].Lease != u.Lease {
		t.Fatalf("the lock key is %v, the commit says %+v", kv.Kvs, done)
	}
	if done.Released || done.Waits || done.Kept == nil || len(done.Kept.Mail) != 1 || done.Kept.Mail[0].Created != done.Locked || done.Kept.Revision != done.Modified {
		t.Errorf("%+v", done)
	}
	if mail := w.mailOf("a"); len(mail) != 1 || mail[0].Command.ID != workflow.ContinueID || mail[0].Created != done.Locked {
		t.Errorf("mail %+v", mail)
	}
	w.lock("a", "other") // waits behind it
	next := w.consumes(ends(w.next("a", fenceTaken(c, done))))
	next.SeenMail, next.Release = done.Kept.Revision, true
	if done := w.commit(next); !done.Released {
		t.Errorf("the next commit: %+v", done)
	}
	w.want("lock/a/me", 0)
	revoke()
}

// What is below the lock's name was there first. The commit needs no lock, so it stands;
// its burst goes on with who has it.
func TestAFirstCommitLeavesTheLockOfAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	u, _ := w.standing()
	other := w.lock("a", "other")
	c := w.takingLock("a", u)
	done := w.commit(c)
	if !done.Released || !done.Waits || done.Locked != 0 || done.Kept != nil {
		t.Errorf("%+v", done)
	}
	w.want("lock/a/", 1)
	w.want("mailbox/", 1)
	w.commit(w.consumes(ends(w.next("a", other))))
}

// The lock is there from the commit on, whatever becomes of its answer, and no copy puts
// it a second time.
func TestTheLockOfAFirstCommitIsFoundWithoutItsAnswer(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]clustertest.Fault{
		"lost": clustertest.LoseAnswer, "twice": clustertest.ApplyTwice, "not sent": clustertest.FailBefore, "late": clustertest.DeliverLate,
	} {
		for _, held := range []bool{false, true} {
			w := newWorld(t)
			u, _ := w.standing()
			if held {
				w.lock("a", "other")
			}
			c := w.takingLock("a", u)
			w.faults.Add(clustertest.Rule{Fault: fault, Times: 1, Match: writes})
			done, err := w.Commit(w.ctx(), c)
			for errors.Is(err, db.ErrUnknown) {
				done, err = w.Commit(w.ctx(), c)
			}
			w.ok(err)
			if done.Released != held || done.Waits != held || (done.Locked == 0) != held {
				t.Errorf("%s, held by another %t: %+v", name, held, done)
			}
			if !held {
				next := w.consumes(ends(w.next("a", fenceTaken(c, done))))
				next.Release = true
				w.commit(next)
			}
			before := w.dump()
			w.faults.Deliver()
			compare(t, name, w.dump(), before)
		}
	}
}

// That the lock key is gone, or another's, is seen where the answer was lost.
func TestALockThatWasLostSinceIsNotTaken(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(w *world, k *store.LockKey){
		"gone": func(w *world, k *store.LockKey) { w.unlock(&store.Fence{Key: k.Key}) },
		"of a later acquisition": func(w *world, k *store.LockKey) {
			w.unlock(&store.Fence{Key: k.Key})
			w.lock("a", "me")
		},
	} {
		w := newWorld(t)
		u, _ := w.standing()
		c := w.takingLock("a", u)
		w.commit(c)
		lose(w, c.Unlocked.Lock)
		if done := w.commit(c); !done.Resolved || !done.Released || !done.Waits || done.Locked != 0 {
			t.Errorf("%s: %+v", name, done)
		}
	}
}

func TestAZombieTakesNoLockWithItsCommit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	u, revoke := w.standing()
	c := w.takingLock("a", u)
	revoke()
	if _, err := w.Commit(w.ctx(), c); !errors.Is(err, store.ErrFenced) {
		t.Error(err)
	}
	w.want("lock/a/", 0)
	w.want("instance/", 0)
}

// The rest of a burst is written with the first of its commits, and deleted with the
// last. One that was taken over is written again, without its attempts.
func TestTheRestOfABurstIsWrittenOnce(t *testing.T) {
	t.Parallel()
	for name, took := range map[string]func(*workflow.Command){
		"as it was":          nil,
		"attempts":           func(c *workflow.Command) { c.Attempts = 1 },
		"begun by a process": func(c *workflow.Command) { c.Begun = []workflow.Begun{{Process: "p"}} },
	} {
		w := newWorld(t)
		f := w.lock("a", "me")
		first := w.first("a", f)
		first.Continue = w.rest()
		put := w.commit(first).Modified
		if took != nil {
			m := w.mailOf("a")[0]
			took(&m.Command)
			_, err := w.CountAttempt(w.ctx(), f, "a", m.Command, m.Created)
			w.ok(err)
		}
		on := w.consumes(w.next("a", f))
		on.Consumed[0].Drop, on.Continue = true, w.rest()
		on.Continue.CreatedAt = w.now.AddDate(0, 0, 1)
		done := w.commit(on)
		mail := w.mailOf("a")
		if len(mail) != 1 || mail[0].Created != put || (mail[0].Modified == put) != (took == nil) || mail[0].Command.Attempts != 0 || len(mail[0].Command.Begun) != 0 {
			t.Errorf("%s: mail %+v, first written at %d", name, mail, put)
		}
		if k := done.Kept; k == nil || len(k.Mail) != 1 || k.Mail[0].Created != put {
			t.Errorf("%s: %+v", name, done)
		}
		last := w.consumes(ends(w.next("a", f)))
		last.Consumed[0].Drop = true
		w.commit(last)
		w.want("mailbox/", 0)
	}
}

// A child that is refused is told to who waits for it with the commit, whose compares were
// before that: what goes on under the lock learns of it, and not a sweep.
func TestTheEndOfARefusedChildIsSeenByTheBurstThatGoesOn(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]func(w *world) *store.Commit{
		"taking the lock": func(w *world) *store.Commit {
			u, _ := w.standing()
			return w.takingLock("a", u)
		},
		"under the lock": func(w *world) *store.Commit {
			c := w.first("a", w.lock("a", "me"))
			c.Continue = w.rest()
			return c
		},
	} {
		for _, held := range []bool{true, false} {
			w := newWorld(t)
			if held {
				w.gated("stranger")
			}
			c := first(w)
			c.Children = []store.Child{w.child("x", single)}
			done := w.commit(c)
			next := w.consumes(ends(w.next("a", w.fence("a", "me"))))
			next.Consumed = slices.DeleteFunc(next.Consumed, func(c store.Consumed) bool { return c.Command.ID != workflow.ContinueID })
			next.SeenMail, next.Release = done.Kept.Revision, true
			if len(next.Consumed) != 1 {
				t.Fatalf("%s: %+v", name, next.Consumed)
			}
			last := w.commit(next)
			if held && (last.Kept == nil || len(last.Kept.Mail) != 1 || last.Kept.Mail[0].Command.Kind != workflow.CommandChildEnd) {
				t.Errorf("%s: after the next commit: %+v", name, last)
			}
			if !held && last.Kept != nil && len(last.Kept.Mail) > 0 {
				t.Errorf("%s: nobody was refused: %+v", name, last)
			}
		}
	}
}
