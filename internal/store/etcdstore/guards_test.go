package etcdstore

import (
	"errors"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/commits"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/store/etcdstore/stimuli"
	"github.com/weft-run/weft/internal/store/etcdstore/upkeep"
	"github.com/weft-run/weft/pkg/workflow"
)

// TestWhatMovedIsRefused: each of these acts on something that is not as it was
// read. It is refused, says so, and writes nothing beyond records.
func TestWhatMovedIsRefused(t *testing.T) {
	t.Parallel()
	key := &workflow.CommandKey{Name: "k", BodyHash: "h"}
	useKey := func(w *world) {
		w.ok(w.PutSend(w.ctx(), store.Send{ID: "elsewhere", CreatedAt: w.now, Key: key}, &store.Answer{BodyHash: "h"}))
	}
	mailed := func(w *world) (store.BookmarkRef, store.Mail) {
		w.instance("a", "paid")
		b := w.look(event("paid")).Bookmarks[0]
		_, _, err := w.PutMail(w.ctx(), "a", w.resume("c1", &b, nil), &b)
		w.ok(err)
		return b, w.mailOf("a")[0]
	}
	for _, c := range []struct {
		name  string
		act   func(w *world) (refused bool, err error)
		under string // where nothing may have been put
	}{
		{"securing what took effect", func(w *world) (bool, error) {
			b, _ := mailed(w)
			w.commit(w.consumes(w.next("a", nil)))
			_, err := w.Secure(w.ctx(), w.lock("a", "me"), "a", w.record("a"), nil, w.resume("c1", &b, nil))
			return errors.Is(err, store.ErrFenced), nil
		}, "mailbox/"},
		{"securing on an instance that moved", func(w *world) (bool, error) {
			rec := w.instance("a", "paid")
			w.commit(w.next("a", nil))
			_, err := w.Secure(w.ctx(), w.lock("a", "me"), "a", rec, nil, workflow.Command{ID: "c1"})
			return errors.Is(err, store.ErrFenced), nil
		}, "mailbox/"},
		{"securing by a claim that has ended", func(w *world) (bool, error) {
			g := w.claims(w.task("a"), "one")
			_, err := w.endLeases(w.ctx(), w.leases(), w.now.Add(time.Hour))
			w.ok(err)
			_, err = w.Secure(w.ctx(), w.lock("a", "me"), "a", w.record("a"), nil, workflow.Command{ID: "c1", Bookmark: g.Task.ID, Claim: g.Named()})
			return errors.Is(err, store.ErrConflict), nil
		}, "mailbox/"},
		{"mail by a claim that has ended", func(w *world) (bool, error) {
			g := w.claims(w.task("a"), "one")
			_, err := w.endLeases(w.ctx(), w.leases(), w.now.Add(time.Hour))
			w.ok(err)
			out, _, err := w.PutMail(w.ctx(), "a", workflow.Command{ID: "c1", CreatedAt: w.now, Bookmark: g.Task.ID, Claim: g.Named()}, nil)
			return out == record.PutGone, err
		}, "mailbox/"},
		{"resuming without the lock by a claim that has ended", func(w *world) (bool, error) {
			g := w.claims(w.task("a"), "one")
			_, err := w.endLeases(w.ctx(), w.leases(), w.now.Add(time.Hour))
			w.ok(err)
			u, _ := w.standing()
			c := w.completing(g)
			c.Unlocked = w.resuming("a", u).Unlocked
			_, err = w.Commit(w.ctx(), c)
			return errors.Is(err, store.ErrConflict), nil
		}, "journal/a/000000000002"},
		{"counting an attempt of what is consumed", func(w *world) (bool, error) {
			_, m := mailed(w)
			w.commit(w.consumes(w.next("a", nil)))
			_, err := w.CountAttempt(w.ctx(), w.lock("a", "me"), "a", m.Command, m.Created)
			return errors.Is(err, store.ErrFenced), nil
		}, "mailbox/"},
		{"taking back an attempt of what is consumed", func(w *world) (bool, error) {
			_, m := mailed(w)
			f := w.lock("a", "me")
			counted, err := w.CountAttempt(w.ctx(), f, "a", m.Command, m.Created)
			w.ok(err)
			w.commit(w.consumes(w.next("a", f)))
			ok, err := w.TakeBackAttempt(w.ctx(), "a", m.Command, counted)
			return !ok, err
		}, "mailbox/"},
		{"discarding the mail of an instance that is there", func(w *world) (bool, error) {
			_, m := mailed(w)
			err := w.Discard(w.ctx(), w.lock("a", "me"), "a", nil, []store.Consumed{{Command: m.Command, Created: m.Created}}, []store.DeadLetter{{ID: "d"}})
			return errors.Is(err, store.ErrFenced) && len(w.mailOf("a")) == 1, nil
		}, "dead/"},
		{"setting mail aside of an instance that moved", func(w *world) (bool, error) {
			_, m := mailed(w)
			rec := w.record("a")
			w.commit(w.next("a", nil))
			err := w.Discard(w.ctx(), nil, "a", rec, []store.Consumed{{Command: m.Command, Created: m.Created}}, []store.DeadLetter{{ID: "d"}})
			return errors.Is(err, store.ErrFenced) && len(w.mailOf("a")) == 1, nil
		}, "dead/"},
		{"mail with a key that was used", func(w *world) (bool, error) {
			w.instance("a", "paid")
			useKey(w)
			b := w.look(event("paid")).Bookmarks[0]
			cmd := w.resume("c1", &b, nil)
			cmd.Key = key
			out, _, err := w.PutMail(w.ctx(), "a", cmd, &b)
			return out == record.PutConsumed, err
		}, "mailbox/"},
		{"mail for a place of a decision behind which another commit came", func(w *world) (bool, error) {
			w.commit(commits.Decide(w.first("a", nil, w.bookmark("a", "b", "paid"))))
			st := event("paid")
			st.InstanceID = "a"
			b := w.look(st).Bookmarks[0]
			w.ok(errOf(w.WriteIndex(w.ctx(), nil, w.record("a"))))
			w.completed("a")
			out, _, err := w.PutMail(w.ctx(), "a", w.resume("c1", &b, nil), &b)
			return b.Unindexed && out == record.PutGone, err
		}, "mailbox/"},
		{"creating from a head that moved", func(w *world) (bool, error) {
			n := w.newInstance("a", "s1", nil)
			n.Command.Start.Head = 1
			out, err := w.Create(w.ctx(), n, nil)
			return out == stimuli.CreateMoved, err
		}, "instance/"},
		{"creating from a trigger that was replaced", func(w *world) (bool, error) {
			n := w.newInstance("a", "s1", nil)
			n.Trigger = &store.TriggerRef{Hash: hashOf("paid"), DefinitionID: "order", ActivityID: "e", Modified: 1}
			out, err := w.Create(w.ctx(), n, nil)
			return out == stimuli.CreateMoved, err
		}, "instance/"},
		{"creating with a key that was used", func(w *world) (bool, error) {
			useKey(w)
			n := w.newInstance("a", "s1", nil)
			n.Command.Key = key
			out, err := w.Create(w.ctx(), n, &store.Answer{BodyHash: "h"})
			return out == stimuli.CreateUsed, err
		}, "instance/"},
		{"delivering what took effect", func(w *world) (bool, error) {
			b, _ := mailed(w)
			w.commit(w.consumes(w.next("a", nil)))
			ok, err := w.Deliver(w.ctx(), []stimuli.Delivery{{Bookmark: &b, Command: w.resume("c1", &b, nil)}}, nil, nil, nil, nil, nil)
			return !ok, err
		}, "mailbox/"},
		{"queueing from a send record that is gone", func(w *world) (bool, error) {
			w.ok(w.PutSend(w.ctx(), store.Send{ID: "s", Stimulus: event("paid"), CreatedAt: w.now}, nil))
			sends, _, err := w.Sends(w.ctx(), "", 10)
			w.ok(err)
			l, err := w.MatchAgain(w.ctx(), &sends[0], hashOf("paid"))
			w.ok(err)
			_, err = w.BurySend(w.ctx(), &sends[0], store.DeadLetter{ID: "s"})
			w.ok(err)
			_, err = w.Enqueue(w.ctx(), w.item("s", event("paid")), l)
			return true, err
		}, "queue/"},
		{"queueing from a send record that was worked on", func(w *world) (bool, error) {
			w.ok(w.PutSend(w.ctx(), store.Send{ID: "s", Stimulus: event("paid"), CreatedAt: w.now}, nil))
			sends, _, err := w.Sends(w.ctx(), "", 10)
			w.ok(err)
			l, err := w.MatchAgain(w.ctx(), &sends[0], hashOf("paid"))
			w.ok(err)
			_, err = w.Deliver(w.ctx(), nil, &sends[0], []store.Target{{}}, nil, nil, nil)
			w.ok(err)
			ok, err := w.Enqueue(w.ctx(), w.item("s", event("paid")), l)
			return !ok, err
		}, "queue/"},
		{"expiring an earlier stay in the queue", func(w *world) (bool, error) {
			item := w.queued("i", event("paid"))
			due := w.inQueue()
			_, err := w.Requeue(w.ctx(), item)
			w.ok(err)
			sends, _, err := w.Sends(w.ctx(), "", 10)
			w.ok(err)
			l, err := w.MatchAgain(w.ctx(), &sends[0], item.Hash)
			w.ok(err)
			_, err = w.Enqueue(w.ctx(), w.item("i", event("paid")), l)
			w.ok(err)
			reason, err := w.ExpireQueueItem(w.ctx(), due[0], time.Minute, w.now)
			return reason == "", err
		}, "dead/"},
		{"burying a send record that was worked on", func(w *world) (bool, error) {
			w.instance("a", "paid")
			w.ok(w.PutSend(w.ctx(), store.Send{ID: "s", Stimulus: event("paid"), CreatedAt: w.now}, nil))
			sends, _, err := w.Sends(w.ctx(), "", 10)
			w.ok(err)
			_, err = w.Deliver(w.ctx(), nil, &sends[0], []store.Target{{}}, nil, nil, nil)
			w.ok(err)
			ok, err := w.BurySend(w.ctx(), &sends[0], store.DeadLetter{ID: "s"})
			return !ok, err
		}, "dead/"},
		{"a slice of a fixed list that was worked on", func(w *world) (bool, error) {
			w.ok(w.PutSend(w.ctx(), store.Send{ID: "s", Stimulus: event("paid"), Targets: make([]store.Target, 3), CreatedAt: w.now}, nil))
			sends, _, err := w.Sends(w.ctx(), "", 10)
			w.ok(err)
			_, err = w.Deliver(w.ctx(), nil, &sends[0], make([]store.Target, 1), nil, nil, nil)
			w.ok(err)
			ok, err := w.Deliver(w.ctx(), nil, &sends[0], make([]store.Target, 2), nil, nil, nil)
			left, lerr := w.Left(w.ctx(), &sends[0])
			return !ok && len(left) == 1, errors.Join(err, lerr)
		}, "dead/"},
		{"burying a fixed list that was worked on", func(w *world) (bool, error) {
			w.ok(w.PutSend(w.ctx(), store.Send{ID: "s", Stimulus: event("paid"), Targets: make([]store.Target, 2), CreatedAt: w.now}, nil))
			sends, _, err := w.Sends(w.ctx(), "", 10)
			w.ok(err)
			_, err = w.Deliver(w.ctx(), nil, &sends[0], make([]store.Target, 1), nil, nil, nil)
			w.ok(err)
			ok, err := w.BurySend(w.ctx(), &sends[0], store.DeadLetter{ID: "s"})
			return !ok, err
		}, "dead/"},
		{"dropping what waits behind its gate again", func(w *world) (bool, error) {
			err := w.DropHeld(w.ctx(), w.heldAgain("s", "a"))
			return w.has("queue/") == 1, err
		}, "dead/"},
		{"burying what waits behind its gate again", func(w *world) (bool, error) {
			ok, err := w.BuryHeld(w.ctx(), w.heldAgain("s", "a"), "large", w.now)
			return !ok && w.has("queue/") == 1, err
		}, "dead/"},
		{"burying what started meanwhile", func(w *world) (bool, error) {
			item := w.held("s", "a")
			out, err := w.StartHeld(w.ctx(), item, w.newInstance("a", "start-a", single))
			if w.ok(err); out != upkeep.HeldStarted {
				w.tb.Fatal(out)
			}
			ok, err := w.BuryHeld(w.ctx(), item, "large", w.now)
			return !ok, err
		}, "dead/"},
		{"firing for a head that moved", func(w *world) (bool, error) {
			due, next := w.occurrence()
			ok, _, err := w.FireSchedule(w.ctx(), due, &store.DefinitionHead{Modified: 1}, next, []lookup.NewInstance{*w.newInstance("a", "s1", nil)})
			return !ok, err
		}, "instance/"},
		{"queueing for an instance that comes after the look", func(w *world) (bool, error) {
			st := addressedTo("paid", "a")
			item, l := w.item("i", st), w.look(st)
			w.instance("a", "paid")
			ok, err := w.Enqueue(w.ctx(), item, l)
			return !ok, err
		}, "queue/"},
		{"taking a queue item twice", func(w *world) (bool, error) {
			w.queued("i", event("paid"))
			item, err := w.FindQueueItem(w.ctx(), "i")
			w.ok(err)
			_, err = w.TakeQueueItem(w.ctx(), item, nil)
			w.ok(err)
			ok, err := w.TakeQueueItem(w.ctx(), item, &store.Send{ID: "replay", CreatedAt: w.now})
			return !ok, err
		}, "send/replay"},
		{"replaying a dead letter for a key that was used", func(w *world) (bool, error) {
			k := &workflow.CommandKey{Name: "k", BodyHash: "b"}
			_, err := w.TakeDeadLetter(w.ctx(), w.dead("d"), &store.Send{ID: "first", Key: k, CreatedAt: w.now})
			w.ok(err)
			w.queued("i", event("paid"))
			item, err := w.FindQueueItem(w.ctx(), "i")
			w.ok(err)
			_, err = w.TakeQueueItem(w.ctx(), item, &store.Send{ID: "replay", Key: k, CreatedAt: w.now})
			if !errors.Is(err, store.ErrConflict) {
				return false, err
			}
			return true, nil
		}, "send/replay"},
		{"replaying a command for a key that was used", func(w *world) (bool, error) {
			d := w.deadCommand("d", "a")
			w.instance("a")
			useKey(w)
			_, err := w.ReplayCommand(w.ctx(), d, "replay", key)
			return errors.Is(err, store.ErrConflict), nil
		}, "mailbox/"},
		{"writing a job that another node has written", func(w *world) (bool, error) {
			job, other := w.job("j"), *w.job("j")
			other.State, other.Write = store.JobCancelled, "w2"
			_, err := w.Jobs.Write(w.ctx(), &other)
			w.ok(err)
			job.Write = "w3"
			ok, err := w.Jobs.Write(w.ctx(), job)
			return !ok, err
		}, "job-open/"},
		{"giving the command of a job that was cancelled", func(w *world) (bool, error) {
			w.instance("a")
			job, other := w.job("j"), *w.job("j")
			other.State, other.Write = store.JobCancelled, "w2"
			_, err := w.Jobs.Write(w.ctx(), &other)
			w.ok(err)
			out, err := w.Jobs.Give(w.ctx(), job, "a", workflow.Command{ID: "c1", Kind: workflow.CommandCancel, CreatedAt: w.now})
			return out == record.PutMoved, err
		}, "mailbox/"},
		{"creating a job that is there, and whose record is gone", func(w *world) (bool, error) {
			job := w.job("j")
			job.State = store.JobDone
			_, err := w.Jobs.Write(w.ctx(), job)
			w.ok(err)
			w.ok(errOf(w.raw.Delete(w.ctx(), w.Keys.CommandRecord("~job", "j"))))
			old, err := w.Jobs.Create(w.ctx(), &store.Job{ID: "j", State: store.JobRunning, Write: "w2"})
			return old != nil && old.State == store.JobDone, err
		}, "job-open/"},
		{"creating a job that was there and is gone", func(w *world) (bool, error) {
			job := w.job("j")
			_, err := w.Jobs.Delete(w.ctx(), job)
			w.ok(err)
			_, err = w.Jobs.Create(w.ctx(), &store.Job{ID: "j", State: store.JobRunning, Write: "w1"})
			if workflow.CodeOf(err) == workflow.CodeKeyReused {
				return true, nil
			}
			return false, err
		}, "job-open/"},
		{"creating a job whose key was used for one that is gone, with its record", func(w *world) (bool, error) {
			job := func() *store.Job {
				return &store.Job{ID: "j", State: store.JobRunning, Write: "w1", Key: &workflow.CommandKey{Name: "k", BodyHash: "h"}}
			}
			_, err := w.Jobs.Create(w.ctx(), job())
			w.ok(err)
			is, err := w.Jobs.Job(w.ctx(), "j")
			w.ok(err)
			_, err = w.Jobs.Delete(w.ctx(), is)
			w.ok(err)
			w.ok(errOf(w.raw.Delete(w.ctx(), w.Keys.CommandRecord("~job", "j"))))
			_, err = w.Jobs.Create(w.ctx(), job())
			if workflow.CodeOf(err) == workflow.CodeKeyReused {
				return true, nil
			}
			return false, err
		}, "job-open/"},
		{"deleting a job that another node has written", func(w *world) (bool, error) {
			job, other := w.job("j"), *w.job("j")
			other.State, other.Write = store.JobCancelled, "w2"
			_, err := w.Jobs.Write(w.ctx(), &other)
			w.ok(err)
			ok, err := w.Jobs.Delete(w.ctx(), job)
			if err == nil && !ok {
				w.want("job/", 1)
			}
			return !ok, err
		}, "job-open/"},
		{"taking a dead letter twice", func(w *world) (bool, error) {
			d := w.dead("d")
			_, err := w.TakeDeadLetter(w.ctx(), d, nil)
			w.ok(err)
			ok, err := w.TakeDeadLetter(w.ctx(), d, &store.Send{ID: "replay", CreatedAt: w.now})
			return !ok, err
		}, "send/replay"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			refused, err := c.act(w)
			if err != nil || !refused {
				t.Errorf("refused %t, %v", refused, err)
			}
			w.want(c.under, 0)
		})
	}
}

func TestATimerWithoutAnInstanceGoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	fired, err := w.FireTimers(w.ctx(), w.dueTimers(), w.now)
	if err != nil || len(fired) != 1 || fired[0] != "a" {
		t.Errorf("fired %v, %v", fired, err)
	}
	w.want("timer/", 0)
	if n := len(w.mailOf("orphan")); n != 0 {
		t.Errorf("%d commands for nobody", n)
	}
}
