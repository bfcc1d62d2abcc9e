package etcdstore

import (
	"errors"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

// losses are the ways in which a lock is not mine (any more).
var losses = map[string]func(w *world) *store.Fence{
	"the lease is revoked": func(w *world) *store.Fence {
		lease, err := w.raw.Grant(w.ctx(), 60)
		w.ok(err)
		prefix := w.Keys.Root + "lock/a/"
		resp, err := w.raw.Put(w.ctx(), prefix+"me", "", clientv3.WithLease(lease.ID))
		w.ok(err)
		_, err = w.raw.Revoke(w.ctx(), lease.ID)
		w.ok(err)
		return &store.Fence{Key: prefix + "me", Prefix: prefix, Revision: resp.Header.Revision}
	},
	"another took it": func(w *world) *store.Fence {
		f := w.lock("a", "me")
		w.unlock(f)
		w.lock("a", "other")
		return f
	},
	"my own successor has it": func(w *world) *store.Fence {
		f := w.lock("a", "me")
		w.unlock(f)
		w.lock("a", "me")
		return f
	},
	"I only wait for it": func(w *world) *store.Fence {
		w.lock("a", "other")
		return w.lock("a", "me")
	},
}

func TestWithoutTheLockNothingIsWritten(t *testing.T) {
	t.Parallel()
	writes := map[string]func(w *world, f *store.Fence) error{
		"commit": func(w *world, f *store.Fence) error {
			_, err := w.Commit(w.ctx(), ends(w.next("a", f)))
			return err
		},
		"commit of a new instance": func(w *world, f *store.Fence) error {
			_, err := w.Commit(w.ctx(), w.first("new", f))
			return err
		},
		"delete": func(w *world, f *store.Fence) error {
			c := w.next("a", f)
			c.Delete = true
			_, err := w.Commit(w.ctx(), c)
			return err
		},
		"secure": func(w *world, f *store.Fence) error {
			_, err := w.Secure(w.ctx(), f, "a", w.record("a"), nil, workflow.Command{ID: "c2"})
			return err
		},
		"count an attempt": func(w *world, f *store.Fence) error {
			m := w.mailOf("a")[0]
			m.Command.Attempts++
			_, err := w.CountAttempt(w.ctx(), f, "a", m.Command, m.Created)
			return err
		},
		"discard": func(w *world, f *store.Fence) error {
			return w.Discard(w.ctx(), f, "gone", nil, nil, []store.DeadLetter{{ID: "d"}})
		},
	}
	for how, lose := range losses {
		for what, write := range writes {
			t.Run(how+"/"+what, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.instance("a", "paid")
				b := w.look(event("paid")).Bookmarks[0]
				_, _, err := w.PutMail(w.ctx(), "a", w.resume("c1", &b, nil), &b)
				w.ok(err)
				f := lose(w)
				want := w.dump()
				if err := write(w, f); !errors.Is(err, store.ErrFenced) {
					t.Errorf("error %v, want fenced", err)
				}
				compare(t, "fenced", w.dump(), want)
			})
		}
	}
}

func TestReleaseLeavesASuccessorsLock(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(w *world){
		"its mailbox is read":     func(*world) {},
		"its mailbox is followed": func(w *world) { w.follow(); w.hot() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			prepare(w)
			f := w.lock("a", "me")
			w.unlock(f)
			w.lock("a", "me")
			if _, _, err := w.Release(w.ctx(), *f, "a", w.revision()); !errors.Is(err, store.ErrFenced) {
				t.Errorf("error %v, want fenced", err)
			}
			w.want("lock/a/", 1)
		})
	}
}

// TestClassification is the order in which a refused commit is judged: proof in
// the journal, then the fence, then what the lock does not protect, then breach.
func TestClassification(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		spoil    func(w *world, c *store.Commit) // before the answer is asked for again
		want     error
		released bool
	}{
		{"applied, lock kept", func(*world, *store.Commit) {}, nil, false},
		{"applied, then the lock was lost", func(w *world, c *store.Commit) { w.unlock(c.Fence) }, nil, true},
		{"applied, then another took the lock", func(w *world, c *store.Commit) { w.unlock(c.Fence); w.lock("a", "other") }, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.instance("a", "paid")
			commit := ends(w.next("a", w.lock("a", "me")))
			w.faults.Add(clustertest.Rule{Fault: clustertest.LoseAnswer, Times: 1, Match: writes})
			if _, err := w.Commit(w.ctx(), commit); !errors.Is(err, db.ErrUnknown) {
				t.Fatal(err)
			}
			at := w.record("a").Modified
			c.spoil(w, commit)
			done, err := w.Commit(w.ctx(), commit)
			if err != nil || !done.Resolved || done.Modified != at || done.Released != c.released {
				t.Errorf("%+v, %v", done, err)
			}
		})
	}
	refusals := []struct {
		name    string
		prepare func(w *world) *store.Commit
		want    error
	}{
		{"another commit of the same number is no proof", func(w *world) *store.Commit {
			f := w.lock("a", "me")
			c := w.next("a", f)
			w.commit(w.next("a", f))
			return c
		}, store.ErrBreach},
		{"fenced comes before breach", func(w *world) *store.Commit {
			f := w.lock("a", "me")
			c := w.next("a", f)
			w.commit(w.next("a", f))
			w.unlock(f)
			return c
		}, store.ErrFenced},
		{"a used key is a conflict", func(w *world) *store.Commit { return w.keyed(w.next("a", w.lock("a", "me")), true) }, store.ErrConflict},
		{"a used key and a moved instance are a breach", func(w *world) *store.Commit {
			f := w.lock("a", "me")
			c := w.keyed(w.next("a", f), true)
			w.commit(w.next("a", f))
			return c
		}, store.ErrBreach},
		{"an instance that was created meanwhile is a conflict", func(w *world) *store.Commit {
			c := w.first("new", w.lock("new", "me"))
			_, err := w.Create(w.ctx(), w.newInstance("new", "s1", nil), nil)
			w.ok(err)
			return c
		}, store.ErrConflict},
		{"locally a moved instance is a conflict", func(w *world) *store.Commit {
			c := w.next("a", nil)
			w.commit(w.next("a", nil))
			return c
		}, store.ErrConflict},
	}
	for _, c := range refusals {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.instance("a", "paid")
			commit := c.prepare(w)
			want := w.dump()
			if _, err := w.Commit(w.ctx(), commit); !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
			compare(t, "refused", w.dump(), want)
		})
	}
}

// What made an instance may do so without its lock, and what deletes it may not: one that came
// and went under the lock of a first commit was deleted beside it.
func TestAnInstanceThatCameAndWentUnderTheLockIsABreach(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.first("a", w.lock("a", "me"))
	key := w.Keys.Instance("a")
	w.spoil(key, []byte("{}"))
	w.faults.Add(clustertest.Rule{Match: func(c clustertest.Call) bool {
		if !c.Mutating && c.Touches(key) { // why was it refused?
			w.del(key)
		}
		return false
	}})
	if _, err := w.Commit(w.ctx(), c); !errors.Is(err, store.ErrBreach) {
		t.Errorf("%v, want breach", err)
	}
	w.want("instance/", 0)
}

// keyed adds a command in hand with a key that was used or not.
func (w *world) keyed(c *store.Commit, used bool) *store.Commit {
	w.tb.Helper()
	cmd := workflow.Command{ID: "k", Kind: workflow.CommandResume, CreatedAt: w.now, Key: &workflow.CommandKey{Name: "k", BodyHash: "h"}}
	c.Consumed = append(c.Consumed, store.Consumed{Command: cmd, Effect: store.Effect{Outcome: workflow.OutcomeResumed}, Answer: &store.Answer{BodyHash: "h"}})
	if used {
		w.ok(w.PutSend(w.ctx(), store.Send{ID: "elsewhere", CreatedAt: w.now, Key: cmd.Key}, &store.Answer{BodyHash: "h"}))
	}
	return c
}

func TestADeleteIsProvenByItsRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.instance("a", "paid")
	c := w.next("a", w.lock("a", "me"))
	c.Delete, c.Release = true, true
	w.faults.Add(clustertest.Rule{Fault: clustertest.LoseAnswer, Times: 1, Match: writes})
	if _, err := w.Commit(w.ctx(), c); !errors.Is(err, db.ErrUnknown) {
		t.Fatal(err)
	}
	if done, err := w.Commit(w.ctx(), c); err != nil || !done.Resolved || !done.Released {
		t.Errorf("%+v, %v", done, err)
	}
	other := *c
	other.ID = "another delete"
	if _, err := w.Commit(w.ctx(), &other); !errors.Is(err, store.ErrFenced) {
		t.Errorf("another delete: %v", err)
	}
	// One that was not applied has none.
	w.instance("b", "paid")
	fence := w.lock("b", "me")
	never := w.next("b", fence)
	never.Delete, never.Release = true, true
	w.unlock(fence)
	if _, err := w.Commit(w.ctx(), never); !errors.Is(err, store.ErrFenced) {
		t.Errorf("a delete without the lock: %v", err)
	}
}

// A commit that kept the lock, and whose answer was lost, has it still.
func TestALockThatWasKeptIsNotReportedAsReleased(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.instance("a", "paid")
	c := w.next("a", w.lock("a", "me"))
	c.Release = false
	w.faults.Add(clustertest.Rule{Fault: clustertest.LoseAnswer, Times: 1, Match: writes})
	if _, err := w.Commit(w.ctx(), c); !errors.Is(err, db.ErrUnknown) {
		t.Fatal(err)
	}
	if done, err := w.Commit(w.ctx(), c); err != nil || !done.Resolved || done.Released {
		t.Errorf("%+v, %v", done, err)
	}
}

func TestAKeyThatWasUsedElsewhereIsNotSecured(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rec := w.instance("a", "paid")
	c := w.keyed(w.next("a", nil), true)
	want := w.dump()
	if _, err := w.Secure(w.ctx(), w.lock("a", "me"), "a", rec, nil, c.Consumed[0].Command); !errors.Is(err, store.ErrConflict) {
		t.Errorf("error %v, want conflict", err)
	}
	if n := len(w.mailOf("a")); n != 0 {
		t.Errorf("%d commands in the mailbox, %d keys before", n, len(want))
	}
}

// A twin of a keyed call put the command into the mailbox while this node had it
// in hand: accepted is accepted, so the commit in hand is refused, and the one
// that takes it from the mailbox leaves the record that the twin waits for.
func TestATwinsMailGoesBeforeTheCommandInHand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.instance("a", "paid")
	f := w.lock("a", "me")
	c := w.keyed(w.next("a", f), false)
	c.Release = true
	cmd := c.Consumed[0].Command
	b := w.look(event("paid")).Bookmarks[0]
	out, created, err := w.PutMail(w.ctx(), "a", cmd, &b)
	if err != nil || out != record.PutDone {
		t.Fatalf("outcome %d, %v", out, err)
	}
	if _, err := w.Commit(w.ctx(), c); !errors.Is(err, store.ErrConflict) {
		t.Fatalf("in hand: %v", err)
	}
	c.Consumed[0].Created, c.SeenMail = created, created
	w.commit(c)
	if e, err := w.Effect(w.ctx(), "a", cmd.ID); err != nil || e == nil || e.Outcome != "resumed" {
		t.Errorf("the twin's answer: %+v, %v", e, err)
	}
	if n := len(w.mailOf("a")); n != 0 {
		t.Errorf("%d commands are left", n)
	}
	if out, _, err := w.PutMail(w.ctx(), "a", cmd, &b); err != nil || out != record.PutConsumed {
		t.Errorf("a late twin: outcome %d, %v", out, err)
	}
	cmd.CreatedAt = w.now.Add(time.Second)
	if ok, err := w.Enqueue(w.ctx(), store.QueueItem{ID: "other", Hash: "h", Key: cmd.Key, CreatedAt: w.now}, w.look(event("x"))); ok || !errors.Is(err, store.ErrConflict) {
		t.Errorf("queued by another twin: %t, %v", ok, err)
	}
}
