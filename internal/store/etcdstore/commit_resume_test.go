package etcdstore

import (
	"errors"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

// resuming is a commit without the lock that resumes all that an instance waits for, by a
// node that stands as u says.
func (w *world) resuming(id string, u *store.Unlocked) *store.Commit {
	w.tb.Helper()
	with := *u
	with.Prefix = w.lockOf(id)
	c := w.next(id, nil)
	c.Unlocked, c.SeenMail = &with, 0
	c.Burned, c.After.Header.Bookmarks = c.Before.Header.Bookmarks, nil
	return c
}

// refusedFor holds what a commit is refused with, and whether it is void then.
func (w *world) refusedFor(c *store.Commit, want error, void bool) {
	w.tb.Helper()
	if _, err := w.Commit(w.ctx(), c); !errors.Is(err, want) {
		w.tb.Errorf("%v, want %v", err, want)
	}
	w.want("idem/c/"+c.After.Header.ID+"/~commit%40"+c.ID, map[bool]int{true: 1}[void])
}

func TestAResumeNeedsNoLock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.instance("a", "paid")
	u, _ := w.standing()
	c := w.keyed(w.resuming("a", u), false)
	if done := w.commit(c); !done.Released || done.Waits || done.Kept != nil || done.Modified != w.record("a").Modified {
		t.Errorf("%+v", done)
	}
	w.want("bookmark/", 0)
	w.want("mailbox/", 0)
	w.want("journal/a/", 2)
	w.want("idem/k/", 1)
	if done := w.commit(c); !done.Resolved || !done.Released {
		t.Errorf("the same again: %+v", done)
	}
	w.want("journal/a/", 2)
}

func TestAZombieResumesNothingWithoutALock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.instance("a", "paid")
	u, revoke := w.standing()
	c := w.resuming("a", u)
	revoke()
	w.refusedFor(c, store.ErrFenced, true)
	w.standing() // the same process in its next session: the record is there again
	w.refusedFor(c, store.ErrFenced, true)
	w.want("journal/a/", 1)
}

// Of two that began from one state, one is refused. It knows that for good, and is not void.
func TestOfTwoResumesOneIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.instance("a", "paid")
	u, _ := w.standing()
	one, two := w.resuming("a", u), w.resuming("a", u)
	w.commit(one)
	w.refusedFor(two, store.ErrConflict, false)
	w.want("journal/a/", 2)
}

// That somebody has the lock passes. What was refused for it stays refused.
func TestAResumeBesideWhoHasTheLockIsVoid(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string][]string{"the holder": {"other"}, "my own key": {"me"}, "the holder, who leaves, and one that waits": {"other", "waits"}} {
		w := newWorld(t)
		w.instance("a", "paid")
		u, _ := w.standing()
		c := w.resuming("a", u)
		var fences []*store.Fence
		for _, k := range keys {
			fences = append(fences, w.lock("a", k))
		}
		if len(fences) > 1 {
			w.unlock(fences[0])
		}
		w.refusedFor(c, store.ErrHeld, true)
		w.unlock(fences[len(fences)-1])
		w.refusedFor(c, store.ErrHeld, true)
		w.want("journal/a/", 1)
		next := w.resuming("a", u)
		w.commit(next) // the next attempt has another id
		if w.record("a").Seq != 2 {
			t.Errorf("%s: %d", name, w.record("a").Seq)
		}
	}
}

func TestAResumeWithAKeyThatIsUsedIsAConflict(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.instance("a", "paid")
	u, _ := w.standing()
	w.refusedFor(w.keyed(w.resuming("a", u), true), store.ErrConflict, true)
	w.want("journal/a/", 1)
}

// That its key was used refuses only a commit that answers it: another one is refused for
// who has the lock, and may be run again when that one leaves.
func TestAResumeIsNoConflictForAKeyThatItDoesNotAnswer(t *testing.T) {
	t.Parallel()
	for _, key := range []*workflow.CommandKey{{Name: "k", BodyHash: "h"}, nil} {
		w := newWorld(t)
		w.instance("a", "paid")
		u, _ := w.standing()
		c := w.keyed(w.resuming("a", u), true)
		c.Consumed[0].Command.Key, c.Consumed[0].Answer = key, nil
		w.lock("a", "other")
		w.refusedFor(c, store.ErrHeld, true)
		w.want("journal/a/", 1)
	}
}

// The commit was applied, and its node has no answer, or hears of a second copy only, which a client sent on its own.
// Others go on, and what proves it may be
// gone when the node asks: then nothing may follow from the refusal, or its commands are
// run again.
func TestAResumeWithoutAnAnswerIsFoundOrSaysNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		goOn func(w *world)
		want error
	}{
		"nobody came":       {func(*world) {}, nil},
		"others hold it":    {func(w *world) { w.lock("a", "other") }, nil},
		"others went on":    {func(w *world) { w.commit(w.next("a", nil)) }, nil},
		"others deleted it": {func(w *world) { w.remove("a") }, store.ErrFenced},
		"deleted, and made again": {func(w *world) {
			w.remove("a")
			w.instance("a", "paid")
		}, store.ErrFenced},
		"deleted, made again, and as far": {func(w *world) {
			w.remove("a")
			w.instance("a", "paid")
			w.commit(w.next("a", nil))
		}, store.ErrFenced},
		"its journal was shortened": {func(w *world) {
			_, err := w.raw.Delete(w.ctx(), w.Keys.Journal("a", 2))
			w.ok(err)
		}, store.ErrFenced},
	} {
		for _, lost := range []bool{true, false} {
			w := newWorld(t)
			w.instance("a", "paid")
			u, _ := w.standing()
			commit := w.resuming("a", u)
			if lost {
				w.faults.Add(clustertest.Rule{Fault: clustertest.LoseAnswer, Times: 1, Match: writes})
			}
			if _, err := w.Commit(w.ctx(), commit); errors.Is(err, db.ErrUnknown) != lost {
				t.Fatal(err)
			}
			c.goOn(w)
			done, err := w.Commit(w.ctx(), commit)
			if !errors.Is(err, c.want) || c.want == nil && (err != nil || !done.Resolved || !done.Released) {
				t.Errorf("%s, its answer lost %t: %+v, %v", name, lost, done, err)
			}
			w.want("idem/c/a/~commit", 0)
		}
	}
}

// What was deleted is the instance as the commit had loaded it. Then the commit was never applied, and needs no other
// proof of it, whatever became of its copies. Of one that had moved before, nothing is known.
func TestAResumeOfWhatWasDeletedIsAConflict(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		goOn func(w *world)
		want error
	}{
		"others deleted it": {func(w *world) { w.remove("a") }, store.ErrConflict},
		"a node without its program deleted it": {func(w *world) {
			w.ok(errOf(w.Remove(w.ctx(), nil, "a", w.now)))
		}, store.ErrConflict},
		"deleted, and made again": {func(w *world) {
			w.remove("a")
			w.instance("a", "paid")
		}, store.ErrConflict},
		"deleted, made again, and deleted": {func(w *world) {
			w.remove("a")
			w.instance("a", "paid")
			w.remove("a")
		}, store.ErrFenced},
		"others went on, and deleted it": {func(w *world) {
			w.commit(w.next("a", nil))
			w.remove("a")
		}, store.ErrFenced},
		"its journal was shortened": {func(w *world) {
			w.commit(w.next("a", nil))
			_, err := w.raw.Delete(w.ctx(), w.Keys.Journal("a", 2))
			w.ok(err)
		}, store.ErrFenced},
	} {
		w := newWorld(t)
		w.instance("a", "paid")
		u, _ := w.standing()
		commit := w.resuming("a", u)
		c.goOn(w)
		if _, err := w.Commit(w.ctx(), commit); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		w.faults.Add(clustertest.Rule{Fault: clustertest.FailBefore, Times: 1, Match: writes})
		if _, err := w.Commit(w.ctx(), commit); !errors.Is(err, db.ErrUnknown) {
			t.Fatal(err)
		}
		if _, err := w.Commit(w.ctx(), commit); !errors.Is(err, c.want) {
			t.Errorf("%s, and a copy had no answer: %v", name, err)
		}
		w.want("idem/c/a/~commit", 0)
	}
}

// Until a refusal is settled it is none: what is sent again may be applied.
func TestASettlingWithoutAnAnswerSaysNothing(t *testing.T) {
	t.Parallel()
	settles := func(c clustertest.Call) bool {
		return writes(c) && len(c.Puts) > 0 && strings.Contains(c.Puts[0], "~commit%40")
	}
	for name, fault := range map[string]clustertest.Fault{
		"lost": clustertest.LoseAnswer, "twice": clustertest.ApplyTwice, "not sent": clustertest.FailBefore, "late": clustertest.DeliverLate,
	} {
		for _, leaves := range []bool{true, false} {
			w := newWorld(t)
			w.instance("a", "paid")
			u, _ := w.standing()
			other, c := w.lock("a", "other"), w.resuming("a", u)
			armed := w.faults.Add(clustertest.Rule{Fault: fault, Times: 1, Match: settles})
			_, err := w.Commit(w.ctx(), c)
			if armed.Fired() != 1 || errors.Is(err, db.ErrUnknown) != (fault != clustertest.ApplyTwice) {
				t.Fatalf("%s: %v, %d times", name, err, armed.Fired())
			}
			if leaves {
				w.unlock(other)
			}
			_, err = w.Commit(w.ctx(), c)
			applied := leaves && (fault == clustertest.FailBefore || fault == clustertest.DeliverLate)
			if applied != (err == nil) || !applied && !errors.Is(err, store.ErrHeld) {
				t.Errorf("%s, the other leaves %t: %v", name, leaves, err)
			}
			w.faults.Deliver()
			w.want("journal/a/", map[bool]int{true: 2, false: 1}[applied])
			w.want("idem/c/a/~commit", map[bool]int{false: 1}[applied])
		}
	}
}

// The stimulus was there before the bookmark, which is new, or new in its slice.
func TestAResumeNoticesWhatIsQueued(t *testing.T) {
	t.Parallel()
	for name, st := range map[string]workflow.Stimulus{"created": event("go"), "moved": correlated("paid", "k"), "neither": event("other")} {
		w := newWorld(t)
		w.instance("a", "paid")
		w.queued("q", st)
		u, _ := w.standing()
		c := w.resuming("a", u)
		c.Burned, c.After.Header.Bookmarks, c.After.Header.CorrelationID = nil, c.Before.Header.Bookmarks, "k"
		c.Created = []workflow.Bookmark{w.bookmark("a", "new", "go")}
		c.After.Header.Bookmarks = append(c.After.Header.Bookmarks, c.Created...)
		if done := w.commit(c); done.Waits != (name != "neither") || !done.Released {
			t.Errorf("%s: %+v", name, done)
		}
		w.want("mailbox/", map[bool]int{true: 1}[name != "neither"])
	}
}

// What only who has the lock may do is not sent without it.
func TestWhatWantsTheLockIsNotSentWithoutIt(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(w *world, c *store.Commit){
		"mail": func(_ *world, c *store.Commit) {
			c.Consumed = []store.Consumed{{Command: workflow.Command{ID: "m"}, Created: 1}}
		},
		"delete":  func(_ *world, c *store.Commit) { c.Delete = true },
		"goes on": func(w *world, c *store.Commit) { c.Continue = w.rest() },
		"no name": func(_ *world, c *store.Commit) { c.Unlocked.Prefix = "" },
		"takes it": func(w *world, c *store.Commit) {
			c.Unlocked.Lock = &store.LockKey{Key: w.lockOf("a") + "me", Prefix: w.lockOf("a"), Lease: c.Unlocked.Lease}
		},
	} {
		w := newWorld(t)
		w.instance("a", "paid")
		u, _ := w.standing()
		c := w.resuming("a", u)
		change(w, c)
		before := w.dump()
		if _, err := w.Commit(w.ctx(), c); err == nil || errors.Is(err, db.ErrUnknown) {
			t.Errorf("%s: %v", name, err)
		}
		compare(t, name, w.dump(), before)
	}
}

func TestALoadTellsWhetherSomebodyHasTheLock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rec := w.instance("a", "paid")
	for _, known := range []*store.Record{nil, rec} {
		load := func() bool {
			l, err := w.Loading("a", "", "", known).WithLock(w.lockOf("a")).Load(w.ctx())
			w.ok(err)
			if l.Record == nil || (l.Record == rec) != (known != nil) {
				t.Errorf("loaded %+v", l.Record)
			}
			return l.Locked
		}
		if load() {
			t.Error("nobody has it")
		}
		f := w.lock("a", "holds")
		if !load() {
			t.Error("somebody has it")
		}
		w.unlock(f)
	}
}
