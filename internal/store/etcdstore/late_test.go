package etcdstore

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/claims"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/store/etcdstore/stimuli"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

// late is a transaction whose first copy stays under way: call sends it, then
// the world goes on, and when the copy arrives it must not do anything.
type late struct {
	name    string
	prepare func(w *world) (call func() error, goOn func())
}

var lateCopies = []late{
	{"sweeping files of an instance that comes", func(w *world) (func() error, func()) {
		w.kept("a", "hers")
		before := w.revision()
		return func() error { _, _, err := w.Contents.Sweep(w.ctx(), before, ""); return err },
			func() { w.withFile("a", "another") }
	}},
	{"queueing, refused for a bookmark that is burned later", func(w *world) (func() error, func()) {
		item, l := w.item("i", event("paid")), w.look(event("paid"))
		w.instance("a", "paid") // between look and transaction
		return func() error { ok, err := w.Enqueue(w.ctx(), item, l); w.refused(ok, err); return err },
			func() { w.burn("a") }
	}},
	{"queueing an addressed stimulus, refused as the instance moved", func(w *world) (func() error, func()) {
		w.instance("a")
		st := addressedTo("paid", "a")
		item, l := w.item("i", st), w.look(st)
		w.burn("a")
		return func() error { ok, err := w.Enqueue(w.ctx(), item, l); w.refused(ok, err); return err },
			func() { w.burn("a") }
	}},
	{"queueing, done and claimed", func(w *world) (func() error, func()) {
		item, l := w.item("i", event("paid")), w.look(event("paid"))
		return func() error { _, err := w.Enqueue(w.ctx(), item, l); return err }, func() {
			w.instance("a", "paid")
			items, _, err := w.QueueItems(w.ctx(), "", "", 10)
			w.ok(err)
			_, _, err = w.Claim(w.ctx(), &items[0], "a", workflow.Command{ID: "i", Kind: workflow.CommandResume, CreatedAt: w.now})
			w.ok(err)
			c := w.consumes(w.next("a", nil))
			c.Burned, c.After.Header.Bookmarks = c.Before.Header.Bookmarks, nil
			w.commit(c)
		}
	}},
	{"creating, refused for a gate that becomes free", func(w *world) (func() error, func()) {
		g := &store.Gate{Definition: "order"}
		_, err := w.Create(w.ctx(), w.newInstance("first", "s0", g), nil)
		w.ok(err)
		n := w.newInstance("a", "s1", g)
		return func() error {
				out, err := w.Create(w.ctx(), n, nil)
				w.refused(out == stimuli.Created, err)
				return err
			},
			func() { w.commit(ends(w.next("first", nil))) }
	}},
	{"waiting behind a gate, refused as it was free, and started by another node", func(w *world) (func() error, func()) {
		send, to := w.behindGate("s", "a")
		return func() error {
				ok, err := w.Deliver(w.ctx(), to, send, nil, nil, nil, nil)
				w.refused(ok, err)
				return err
			}, func() {
				w.gated("a") // as the next look at the send record does, and ends
				w.commit(ends(w.next("a", nil)))
				w.remove("a")
				w.gated("another")
			}
	}},
	{"starting behind a gate, done, ended and deleted", func(w *world) (func() error, func()) {
		item := w.held("s", "a")
		return func() error { _, err := w.StartHeld(w.ctx(), item, w.newInstance("a", "start-a", single)); return err },
			func() {
				w.commit(ends(w.consumes(w.next("a", nil))))
				w.remove("a")
			}
	}},
	{"giving a place, and it was given back", func(w *world) (func() error, func()) {
		w.setLimit(1)
		w.inLine("a", 5)
		return func() error { _, err := w.Limits.Give(w.ctx(), cards, w.now); return err }, func() {
			w.burn("a")
			w.now = w.now.Add(time.Second)
			w.inLine("b", 5)
			w.gives()
		}
	}},
	{"claiming a task, released since", func(w *world) (func() error, func()) {
		f := w.task("a")
		return func() error { _, err := w.Claims.Claim(w.ctx(), []claims.Free{f}, w.by("one")); return err }, func() {
			_, err := w.endLeases(w.ctx(), w.leases(), w.now.Add(time.Hour))
			w.ok(err)
		}
	}},
	{"a heartbeat, of a task that another has since", func(w *world) (func() error, func()) {
		g := w.claims(w.task("a"), "one")
		return func() error {
				_, err := w.Claims.Heartbeat(w.ctx(), g.Task.ID, g.Named(), claims.Beat{}, w.now)
				return err
			}, func() {
				_, err := w.endLeases(w.ctx(), w.leases(), w.now.Add(time.Hour))
				w.ok(err)
				p, err := w.Claims.Free(w.ctx(), "pack", "", time.Time{}, 1)
				w.ok(err)
				w.claims(p.Free[0], "two")
			}
	}},
	{"a release, of a task that another has since", func(w *world) (func() error, func()) {
		g := w.claims(w.task("a"), "one")
		return func() error {
				_, err := w.Claims.Release(w.ctx(), g.Task.ID, g.Named(), true, "no paper", w.now)
				return err
			}, func() {
				p, err := w.Claims.Free(w.ctx(), "pack", "", time.Time{}, 1)
				w.ok(err)
				w.claims(p.Free[0], "two")
			}
	}},
	{"the end of a lease, of a task that another has since", func(w *world) (func() error, func()) {
		w.claims(w.task("a"), "one")
		due := w.leases()
		return func() error { _, err := w.endLeases(w.ctx(), due, w.now.Add(time.Hour)); return err }, func() {
			p, err := w.Claims.Free(w.ctx(), "pack", "", time.Time{}, 1)
			w.ok(err)
			w.claims(p.Free[0], "two")
		}
	}},
	{"the end of a lease of a task with a retry, of which the instance was told since", func(w *world) (func() error, func()) {
		w.claims(w.retriedTask("a", 1), "one")
		due := w.leases()
		return func() error { _, err := w.endLeases(w.ctx(), due, w.now.Add(time.Hour)); return err },
			func() { w.commit(w.consumes(w.next("a", nil))) }
	}},
	{"the end of a task that nobody claimed, of which the instance was told since", func(w *world) (func() error, func()) {
		w.limitedTask("a")
		due := w.leases()
		return func() error { _, err := w.endLeases(w.ctx(), due, w.now.Add(time.Hour)); return err },
			func() { w.commit(w.consumes(w.next("a", nil))) }
	}},
	{"completing a task by a claim that has ended", func(w *world) (func() error, func()) {
		g := w.claims(w.task("a"), "one")
		_, err := w.endLeases(w.ctx(), w.leases(), w.now.Add(time.Hour))
		w.ok(err)
		c := w.completing(g)
		return func() error {
			if _, err := w.Commit(w.ctx(), c); !errors.Is(err, store.ErrConflict) {
				return fmt.Errorf("completed by a claim that has ended: %w", err)
			}
			return nil
		}, func() {}
	}},
	{"creating, refused for an id that becomes free", func(w *world) (func() error, func()) {
		w.instance("a")
		n := w.newInstance("a", "s1", nil)
		return func() error {
				out, err := w.Create(w.ctx(), n, nil)
				w.refused(out == stimuli.Created, err)
				return err
			},
			func() { w.remove("a") }
	}},
	{"creating, done, run and deleted", func(w *world) (func() error, func()) {
		n := w.newInstance("a", "s1", nil)
		return func() error { _, err := w.Create(w.ctx(), n, nil); return err }, func() {
			w.commit(w.consumes(w.next("a", nil)))
			w.remove("a")
		}
	}},
	{"a local start, done and deleted", func(w *world) (func() error, func()) {
		c := w.first("a", nil, w.bookmark("a", "b", "paid"))
		return func() error { _, err := w.Commit(w.ctx(), c); return err }, func() { w.remove("a") }
	}},
	{"a start under a fence, done, released and deleted", func(w *world) (func() error, func()) {
		c := w.first("a", w.lock("a", "me"))
		c.Release = true
		return func() error { _, err := w.Commit(w.ctx(), c); return err }, func() { w.remove("a") }
	}},
	{"a start whose burst goes on, done, released and deleted", func(w *world) (func() error, func()) {
		u, _ := w.standing()
		c := w.takingLock("a", u)
		return func() error { _, err := w.Commit(w.ctx(), c); return err }, func() {
			f := w.fence("a", "me")
			last := w.consumes(ends(w.next("a", f)))
			last.Release = true
			w.commit(last)
			w.remove("a")
		}
	}},
	{"a start whose burst goes on with another, who leaves", func(w *world) (func() error, func()) {
		u, _ := w.standing()
		other := w.lock("a", "other")
		c := w.takingLock("a", u)
		return func() error { _, err := w.Commit(w.ctx(), c); return err }, func() { w.unlock(other) }
	}},
	{"a resume without the lock, refused for who has it, and leaves", func(w *world) (func() error, func()) {
		w.instance("a", "paid")
		u, _ := w.standing()
		other := w.lock("a", "other")
		c := w.resuming("a", u)
		return func() error {
			_, err := w.Commit(w.ctx(), c)
			if errors.Is(err, store.ErrHeld) {
				return nil
			}
			return err
		}, func() { w.unlock(other) }
	}},
	{"a resume without the lock, done, deleted and made again", func(w *world) (func() error, func()) {
		w.instance("a", "paid")
		u, _ := w.standing()
		c := w.resuming("a", u)
		return func() error { _, err := w.Commit(w.ctx(), c); return err }, func() {
			w.remove("a")
			w.instance("a", "paid")
		}
	}},
	{"replaying a command, refused for an instance that comes later", func(w *world) (func() error, func()) {
		d := w.deadCommand("d", "a")
		return func() error {
				out, err := w.ReplayCommand(w.ctx(), d, "replay", nil)
				w.refused(out == stimuli.Replayed, err)
				return err
			},
			func() { w.instance("a") }
	}},
	{"replaying a command, done and consumed", func(w *world) (func() error, func()) {
		d := w.deadCommand("d", "a")
		w.instance("a")
		return func() error { _, err := w.ReplayCommand(w.ctx(), d, "replay", nil); return err },
			func() { w.commit(w.consumes(w.next("a", nil))) }
	}},
	{"taking back an attempt, done and counted again", func(w *world) (func() error, func()) {
		w.instance("a", "paid")
		b := w.look(event("paid")).Bookmarks[0]
		cmd := w.resume("c1", &b, nil)
		_, created, err := w.PutMail(w.ctx(), "a", cmd, &b)
		w.ok(err)
		f := w.lock("a", "me")
		counted, err := w.CountAttempt(w.ctx(), f, "a", cmd, created)
		w.ok(err)
		w.unlock(f)
		return func() error { _, err := w.TakeBackAttempt(w.ctx(), "a", cmd, counted); return err }, w.countAttempt
	}},
	{"mail for an instance that comes later", func(w *world) (func() error, func()) {
		cmd := workflow.Command{ID: "c1", Kind: workflow.CommandCancel, CreatedAt: w.now}
		return func() error {
				out, _, err := w.PutMail(w.ctx(), "a", cmd, nil)
				w.refused(out == record.PutDone, err)
				return err
			},
			func() { w.instance("a") }
	}},
	{"mail for a bookmark that stays", func(w *world) (func() error, func()) {
		w.instance("a", "paid")
		b := w.look(event("paid")).Bookmarks[0]
		return func() error { _, _, err := w.PutMail(w.ctx(), "a", w.resume("c1", &b, nil), &b); return err },
			func() { w.commit(w.consumes(w.next("a", nil))) }
	}},
	// A command that ends its nodes is set aside by the number of its attempts.
	{"mail whose attempts were counted", func(w *world) (func() error, func()) {
		w.instance("a", "paid")
		b := w.look(event("paid")).Bookmarks[0]
		return func() error { _, _, err := w.PutMail(w.ctx(), "a", w.resume("c1", &b, nil), &b); return err }, w.countAttempt
	}},
	{"a delivery whose attempts were counted", func(w *world) (func() error, func()) {
		w.instance("a", "paid")
		b := w.look(event("paid")).Bookmarks[0]
		to := []stimuli.Delivery{{Bookmark: &b, Command: w.resume("c1", &b, nil)}}
		return func() error { _, err := w.Deliver(w.ctx(), to, nil, nil, nil, nil, nil); return err }, w.countAttempt
	}},
	{"a delivery to bookmarks that stay", func(w *world) (func() error, func()) {
		w.instance("a", "paid")
		b := w.look(event("paid")).Bookmarks[0]
		to := []stimuli.Delivery{{Bookmark: &b, Command: w.resume("c1", &b, nil)}}
		return func() error { _, err := w.Deliver(w.ctx(), to, nil, nil, nil, nil, nil); return err },
			func() { w.commit(w.consumes(w.next("a", nil))) }
	}},
	{"an accepted stimulus that was resolved", func(w *world) (func() error, func()) {
		send := store.Send{ID: "s", Stimulus: event("paid"), CreatedAt: w.now}
		return func() error { return w.PutSend(w.ctx(), send, nil) }, func() {
			sends, _, err := w.Sends(w.ctx(), "", 10)
			w.ok(err)
			_, err = w.BurySend(w.ctx(), &sends[0], store.DeadLetter{ID: "s"})
			w.ok(err)
		}
	}},
	{"a secured command that was consumed", func(w *world) (func() error, func()) {
		rec, b := w.instance("a", "paid"), w.look(event("paid")).Bookmarks[0]
		return func() error { _, err := w.Secure(w.ctx(), nil, "a", rec, nil, w.resume("c1", &b, nil)); return err },
			func() { w.commit(w.consumes(w.next("a", nil))) }
	}},
	{"discarded mail of an instance that comes back and goes", func(w *world) (func() error, func()) {
		n := w.newInstance("a", "s1", nil)
		_, err := w.Create(w.ctx(), n, nil)
		w.ok(err)
		w.remove("a")
		m := w.mailOf("a")[0]
		gone := []store.Consumed{{Command: m.Command, Created: m.Created}}
		return func() error {
				return w.Discard(w.ctx(), nil, "a", nil, gone, []store.DeadLetter{{ID: "d"}})
			}, func() {
				d, err := w.DeadLetter(w.ctx(), "d")
				w.ok(err)
				_, err = w.TakeDeadLetter(w.ctx(), d, nil)
				w.ok(err)
			}
	}},
	{"the command of a job, refused as there is no such instance", func(w *world) (func() error, func()) {
		job := w.job("j")
		return func() error {
				out, err := w.Jobs.Give(w.ctx(), job, "a", workflow.Command{ID: "c1", Kind: workflow.CommandCancel, CreatedAt: w.now})
				w.refused(out != record.PutGone, err)
				return err
			},
			func() { w.instance("a") }
	}},
	{"a job that ended and was forgotten", func(w *world) (func() error, func()) {
		job := &store.Job{ID: "j", State: store.JobRunning, Write: "w1"}
		return func() error { _, err := w.Jobs.Create(w.ctx(), job); return err },
			func() {
				is, err := w.Jobs.Job(w.ctx(), "j")
				w.ok(err)
				_, err = w.Jobs.Delete(w.ctx(), is)
				w.ok(err)
			}
	}},
	{"a pause that ended", func(w *world) (func() error, func()) {
		return func() error { _, err := w.SetPaused(w.ctx(), true); return err },
			func() { _, err := w.SetPaused(w.ctx(), false); w.ok(err) }
	}},
	{"a purge of a key that was used again", func(w *world) (func() error, func()) {
		w.instance("a", "paid")
		w.accepted("k", w.now)
		records, _, err := w.KeyRecords(w.ctx(), "", 10)
		w.ok(err)
		return func() error { return w.PurgeKeys(w.ctx(), records) },
			func() { w.accepted("k", w.now) }
	}},
	{"expired records that were written again", func(w *world) (func() error, func()) {
		w.instance("a", "paid")
		w.ok(w.PutSend(w.ctx(), store.Send{ID: "s", Stimulus: event("paid"), CreatedAt: w.now}, nil))
		age := w.later(time.Hour)
		return func() error { _, _, err := w.ExpireRecords(w.ctx(), age, ""); return err },
			func() { w.ok(w.PutSend(w.ctx(), store.Send{ID: "s", Stimulus: event("paid"), CreatedAt: w.now}, nil)) }
	}},
}

// countAttempt notes that the one command of instance a was begun once more.
func (w *world) countAttempt() {
	w.tb.Helper()
	m := w.mailOf("a")[0]
	m.Command.Attempts++
	_, err := w.CountAttempt(w.ctx(), w.lock("a", "me"), "a", m.Command, m.Created)
	w.ok(err)
}

func (w *world) refused(ok bool, err error) {
	w.tb.Helper()
	if err == nil && ok {
		w.tb.Error("it should have been refused")
	}
}

func TestALateCopyDoesNothing(t *testing.T) {
	t.Parallel()
	for _, l := range lateCopies {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			call, goOn := l.prepare(w)
			w.faults.Add(clustertest.Rule{Fault: clustertest.DeliverLate, Times: 1, Match: writes})
			if err := call(); !errors.Is(err, db.ErrUnknown) {
				t.Fatalf("error %v, want unknown", err)
			}
			w.ok(call())
			goOn()
			want := w.dump()
			if n := w.faults.Deliver(); n != 1 {
				t.Fatalf("%d late copies", n)
			}
			compare(t, "late", w.dump(), want)
		})
	}
}

func TestARefusalIsSaidAgainAndTheNextAttemptIsFree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := &store.Gate{Definition: "order"}
	_, err := w.Create(w.ctx(), w.newInstance("first", "s0", g), nil)
	w.ok(err)
	n := w.newInstance("a", "s1", g)
	for range 2 {
		if out, err := w.Create(w.ctx(), n, nil); err != nil || out != stimuli.CreateGated {
			t.Errorf("outcome %d, %v", out, err)
		}
	}
	w.commit(ends(w.next("first", nil)))
	n.Header.CreatedAt = w.now.Add(time.Second) // the caller repeats with the same key
	if out, err := w.Create(w.ctx(), n, nil); err != nil || out != stimuli.Created {
		t.Errorf("the next attempt: outcome %d, %v", out, err)
	}
}

func TestTheAnswerOfAnAppliedDeliveryIsFoundHoweverFarItsTargetsCame(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.instance("a", "paid")
	w.instance("b", "paid")
	l := w.look(event("paid"))
	var to []stimuli.Delivery
	for i := range l.Bookmarks {
		to = append(to, stimuli.Delivery{Bookmark: &l.Bookmarks[i], Command: w.resume("c", &l.Bookmarks[i], nil)})
	}
	w.faults.Add(clustertest.Rule{Fault: clustertest.LoseAnswer, Times: 1, Match: writes})
	deliver := func() (bool, error) { return w.Deliver(w.ctx(), to, nil, nil, nil, nil, nil) }
	if _, err := deliver(); !errors.Is(err, db.ErrUnknown) {
		t.Fatal(err)
	}
	w.burn("a")
	w.burn("b")
	if ok, err := deliver(); err != nil || !ok {
		t.Errorf("%t, %v: the caller would send the stimulus again", ok, err)
	}
}
