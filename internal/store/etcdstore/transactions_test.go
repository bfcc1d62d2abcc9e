package etcdstore

import (
	"errors"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/claims"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/store/etcdstore/stimuli"
	"github.com/weft-run/weft/internal/store/etcdstore/upkeep"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/files"
)

// transaction is one kind of write: prepare makes the world for it and gives the
// call, which does the same whenever it is called. It says in a word what it
// reported. again is what it reports when it has been applied before; "" if the
// same as at first. moves is what it counts in the balance.
type transaction struct {
	name    string
	prepare func(w *world) func() (string, error)
	again   string
	moves   terms
}

func said[T any](v T, err error) (string, error) { return fmt.Sprint(v), err }

func done(err error) (string, error) { return "done", err }

func committed(c *store.Committed, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("released %t kept %t", c.Released, c.Kept != nil), nil
}

var transactions = []transaction{
	{name: "commit of a new instance", prepare: func(w *world) func() (string, error) {
		c := w.first("a", w.lock("a", "me"), w.bookmark("a", "b", "paid"))
		return func() (string, error) { return committed(w.Commit(w.ctx(), c)) }
	}},
	{name: "commit of a start whose burst goes on", moves: terms{rests: 1}, prepare: func(w *world) func() (string, error) {
		u, _ := w.standing()
		c := w.takingLock("a", u)
		return func() (string, error) { return committed(w.Commit(w.ctx(), c)) }
	}},
	{name: "commit that resumes without the lock", prepare: func(w *world) func() (string, error) {
		w.instance("a", "paid")
		u, _ := w.standing()
		c := w.keyed(w.resuming("a", u), false)
		return func() (string, error) { return committed(w.Commit(w.ctx(), c)) }
	}},
	{name: "giving places", moves: terms{accepted: 1, mail: 1}, prepare: func(w *world) func() (string, error) {
		w.setLimit(1)
		w.inLine("a", 5)
		return func() (string, error) {
			_, err := w.Limits.Give(w.ctx(), cards, w.now)
			return done(err)
		}
	}},
	{name: "commit that takes a place", moves: terms{accepted: 1, mail: 1}, prepare: func(w *world) func() (string, error) {
		w.setLimit(1)
		w.inLine("a", 5)
		w.gives()
		w.burn("a")
		c := w.first("b", w.lock("b", "me"), w.placeFor("b", "b", 5))
		return func() (string, error) {
			_, err := w.Commit(w.ctx(), c)
			return done(err)
		}
	}},
	{name: "setting a limit", prepare: func(w *world) func() (string, error) {
		return func() (string, error) {
			_, err := w.Limits.Set(w.ctx(), store.Limit{Name: "cards", Most: 1, At: w.now}, 0)
			return done(err)
		}
	}},
	{name: "forgetting a limit", prepare: func(w *world) func() (string, error) {
		w.setLimit(1)
		is, err := w.Limits.Get(w.ctx(), "cards")
		w.ok(err)
		return func() (string, error) {
			_, err := w.Limits.Forget(w.ctx(), is)
			return done(err)
		}
	}},
	{name: "dropping the head of a line", prepare: func(w *world) func() (string, error) {
		w.setLimit(1)
		w.inLine("a", 5)
		w.gives()
		w.burn("a")
		all, err := w.Limits.Stands(w.ctx(), "cards")
		w.ok(err)
		return func() (string, error) { return done(w.Limits.DropHeads(w.ctx(), []*Stand{all[cards]})) }
	}},
	{name: "ending a session", prepare: func(w *world) func() (string, error) {
		return func() (string, error) {
			return done(w.SignOuts.Put(w.ctx(), store.SignOut{Until: w.now.Add(time.Hour), Who: "key:a", Session: "s"}))
		}
	}},
	{name: "ending all sessions of a person", prepare: func(w *world) func() (string, error) {
		return func() (string, error) {
			return done(w.SignOuts.Put(w.ctx(), store.SignOut{Until: w.now.Add(time.Hour), Who: "oidc:a/b", Before: w.now}))
		}
	}},
	{name: "forgetting sessions that have ended", prepare: func(w *world) func() (string, error) {
		s := w.SignOuts
		w.ok(s.Put(w.ctx(), store.SignOut{Until: w.now, Who: "key:a", Session: "s"}))
		return func() (string, error) { return done(s.Forget(w.ctx(), w.now.Add(time.Hour))) }
	}},
	{name: "keeping a file", prepare: func(w *world) func() (string, error) {
		w.instance("a", "paid")
		return func() (string, error) {
			c, err := w.Contents.Put(w.ctx(), "a", true, []byte("what is in it"))
			return c.Hash, err
		}
	}},
	{name: "sweeping files", prepare: func(w *world) func() (string, error) {
		w.withFile("a", "hers")
		w.kept("b", "nobody's")
		before := w.revision()
		return func() (string, error) {
			_, next, err := w.Contents.Sweep(w.ctx(), before, "")
			return next, err
		}
	}},
	{name: "commit of a new instance with a file", prepare: func(w *world) func() (string, error) {
		c := w.first("a", w.lock("a", "me"))
		c.Contents = []files.Content{w.kept("a", "hers")}
		return func() (string, error) { return committed(w.Commit(w.ctx(), c)) }
	}},
	{name: "claiming a task", prepare: func(w *world) func() (string, error) {
		free := []claims.Free{w.task("a"), w.task("b")}
		return func() (string, error) {
			got, err := w.Claims.Claim(w.ctx(), free, w.by("one"))
			return said(len(got), err)
		}
	}},
	{name: "heartbeat of a claim", prepare: func(w *world) func() (string, error) {
		g := w.claims(w.task("a"), "one")
		return func() (string, error) {
			_, err := w.Claims.Heartbeat(w.ctx(), g.Task.ID, g.Named(), claims.Beat{Text: "on"}, w.now.Add(time.Second))
			return done(err)
		}
	}},
	{name: "release of a task", prepare: func(w *world) func() (string, error) {
		g := w.claims(w.task("a"), "one")
		return func() (string, error) {
			_, err := w.Claims.Release(w.ctx(), g.Task.ID, g.Named(), true, "no paper", w.now)
			return done(err)
		}
	}},
	{name: "end of leases", again: "0", prepare: func(w *world) func() (string, error) {
		w.claims(w.task("a"), "one")
		due := w.leases()
		return func() (string, error) { return said(w.endLeases(w.ctx(), due, w.now.Add(time.Hour))) }
	}},
	{name: "end of the lease of a task with a retry", moves: terms{accepted: 1, mail: 1}, again: "0", prepare: func(w *world) func() (string, error) {
		w.claims(w.retriedTask("a", 1), "one")
		due := w.leases()
		return func() (string, error) {
			ended, err := w.EndLeases(w.ctx(), due, w.now.Add(time.Hour))
			return said(len(ended.Failed), err)
		}
	}},
	{name: "claiming a task with limits", prepare: func(w *world) func() (string, error) {
		free := []claims.Free{w.limitedTask("a")}
		return func() (string, error) {
			got, err := w.Claims.Claim(w.ctx(), free, w.by("one"))
			return said(len(got), err)
		}
	}},
	{name: "end of a task that nobody claimed", moves: terms{accepted: 1, mail: 1}, again: "0", prepare: func(w *world) func() (string, error) {
		w.limitedTask("a")
		due := w.leases()
		return func() (string, error) {
			ended, err := w.EndLeases(w.ctx(), due, w.now.Add(time.Hour))
			return said(len(ended.Failed), err)
		}
	}},
	{name: "lease that was extended", prepare: func(w *world) func() (string, error) {
		g := w.claims(w.task("a"), "one")
		_, err := w.Claims.Heartbeat(w.ctx(), g.Task.ID, g.Named(), claims.Beat{}, w.now.Add(time.Hour))
		w.ok(err)
		due := w.leases()
		return func() (string, error) { return said(w.endLeases(w.ctx(), due, w.now.Add(time.Hour))) }
	}},
	{name: "undoing the claim of what waits no more", prepare: func(w *world) func() (string, error) {
		free := []claims.Free{w.task("a")}
		w.del(w.Keys.Instance("a"))
		return func() (string, error) {
			got, err := w.Claims.Claim(w.ctx(), free, w.by("one"))
			return said(len(got), err)
		}
	}},
	{name: "commit that completes a task by its claim", prepare: func(w *world) func() (string, error) {
		c := w.completing(w.claims(w.task("a"), "one"))
		return func() (string, error) { _, err := w.Commit(w.ctx(), c); return done(err) }
	}},
	{name: "settling", prepare: func(w *world) func() (string, error) {
		w.instance("a", "paid")
		u, _ := w.standing()
		w.lock("a", "other")
		c := w.resuming("a", u)
		return func() (string, error) {
			_, err := w.Commit(w.ctx(), c)
			if errors.Is(err, store.ErrHeld) {
				return "held", nil
			}
			return committed(nil, err)
		}
	}},
	{name: "commit that releases", prepare: func(w *world) func() (string, error) {
		w.instance("a", "paid")
		c := ends(w.next("a", w.lock("a", "me")))
		c.Release = true
		return func() (string, error) { return committed(w.Commit(w.ctx(), c)) }
	}},
	{name: "commit with an incident that a webhook wants", prepare: func(w *world) func() (string, error) {
		w.instance("a", "paid")
		_, err := w.raw.Put(w.ctx(), w.Keys.Wanted("order", "h"), "") // the webhook itself would tell revisions
		w.ok(err)
		c := w.next("a", w.lock("a", "me"))
		c.After.Header.Incidents = []workflow.Incident{w.incident("no")}
		return func() (string, error) { return committed(w.Commit(w.ctx(), c)) }
	}},
	{name: "commit with everything", moves: terms{accepted: 5, applied: 1, rests: 1, mail: 1, sends: 2, dead: 1}, again: "released false kept false", prepare: func(w *world) func() (string, error) {
		w.instance("a", "paid", "shipped")
		w.instance("b", "x")
		b := w.look(event("paid")).Bookmarks[0]
		_, _, err := w.PutMail(w.ctx(), "a", w.resume("c1", &b, nil), &b)
		w.ok(err)
		c := w.consumes(w.next("a", w.lock("a", "me")))
		c.After.Header.CorrelationID = "k"
		c.Burned, c.After.Header.Bookmarks = c.After.Header.Bookmarks[:1], c.After.Header.Bookmarks[1:]
		c.Children = []store.Child{{ID: "kid", Command: w.start("s1"), Gate: &store.Gate{Definition: "order"}}}
		c.Outgoing = []store.Outgoing{{InstanceID: "b", Command: workflow.Command{ID: "cancel", Kind: workflow.CommandCancel, CreatedAt: w.now}}}
		c.Sends = []store.Send{{ID: "s", Stimulus: event("e"), CreatedAt: w.now}}
		c.Requeue = []store.QueueItem{w.item("again", event("f"))}
		c.Dead = []store.DeadLetter{{ID: "d", Reason: workflow.DeadPoison}}
		c.Continue = &workflow.Command{ID: workflow.ContinueID, Kind: workflow.CommandContinue, CreatedAt: w.now}
		return func() (string, error) { return committed(w.Commit(w.ctx(), c)) }
	}},
	{name: "delete", prepare: func(w *world) func() (string, error) {
		w.instanceIn("a", "k", "paid")
		c := w.next("a", w.lock("a", "me"))
		c.Delete, c.Burned, c.Release = true, c.Before.Header.Bookmarks, true
		return func() (string, error) { return committed(w.Commit(w.ctx(), c)) }
	}},
	{name: "local commit", prepare: func(w *world) func() (string, error) {
		c := w.first("a", nil, w.bookmark("a", "b", "paid"))
		return func() (string, error) { _, err := w.Commit(w.ctx(), c); return done(err) }
	}},
	{name: "securing a start", moves: terms{accepted: 1, mail: 1}, prepare: func(w *world) func() (string, error) {
		f, cmd := w.lock("a", "me"), w.start("s1")
		h := NewHeader("a", cmd, w.now)
		return func() (string, error) {
			_, err := w.Secure(w.ctx(), f, "a", nil, &store.Record{Header: h}, cmd)
			return done(err)
		}
	}},
	{name: "securing a resume", moves: terms{accepted: 1, mail: 1}, prepare: func(w *world) func() (string, error) {
		rec, f, b := w.instance("a", "paid"), w.lock("a", "me"), w.look(event("paid")).Bookmarks[0]
		return func() (string, error) {
			_, err := w.Secure(w.ctx(), f, "a", rec, nil, w.resume("c1", &b, nil))
			return done(err)
		}
	}},
	{name: "counting an attempt", prepare: func(w *world) func() (string, error) {
		w.instance("a", "paid")
		f, b := w.lock("a", "me"), w.look(event("paid")).Bookmarks[0]
		_, created, err := w.PutMail(w.ctx(), "a", w.resume("c1", &b, nil), &b)
		w.ok(err)
		cmd := w.resume("c1", &b, nil)
		cmd.Attempts = 1
		return func() (string, error) { _, err := w.CountAttempt(w.ctx(), f, "a", cmd, created); return done(err) }
	}},
	{name: "discarding mail", moves: terms{mail: -1, dead: 1}, again: "fenced", prepare: func(w *world) func() (string, error) {
		w.instance("a", "paid")
		b := w.look(event("paid")).Bookmarks[0]
		_, created, err := w.PutMail(w.ctx(), "a", w.resume("c1", &b, nil), &b)
		w.ok(err)
		w.remove("a")
		f := w.lock("a", "me")
		cmd := w.resume("c1", &b, nil)
		gone := []store.Consumed{{Command: cmd, Created: created, Effect: store.Effect{Outcome: workflow.OutcomeRefused}}}
		return func() (string, error) {
			err := w.Discard(w.ctx(), f, "a", nil, gone, []store.DeadLetter{{ID: "d", Reason: workflow.DeadInstanceGone, InstanceID: "a", Command: &cmd}})
			if errors.Is(err, store.ErrFenced) {
				return "fenced", nil
			}
			return done(err)
		}
	}},
	{name: "releasing", again: "fenced", prepare: func(w *world) func() (string, error) {
		f := w.lock("a", "me")
		seen := w.revision()
		return func() (string, error) {
			kept, _, err := w.Release(w.ctx(), *f, "a", seen)
			if errors.Is(err, store.ErrFenced) {
				return "fenced", nil
			}
			return said(kept != nil, err)
		}
	}},
	{name: "mail for a bookmark", moves: terms{accepted: 1, mail: 1}, prepare: func(w *world) func() (string, error) {
		w.instance("a", "paid")
		b := w.look(event("paid")).Bookmarks[0]
		cmd := w.resume("c1", &b, nil)
		cmd.Key = &workflow.CommandKey{Name: "k", BodyHash: "h"}
		return func() (string, error) {
			out, _, err := w.PutMail(w.ctx(), "a", cmd, &b)
			return said(out, err)
		}
	}},
	{name: "cancelling by mail", moves: terms{accepted: 1, mail: 1}, prepare: func(w *world) func() (string, error) {
		w.instance("a", "paid")
		cmd := workflow.Command{ID: "c1", Kind: workflow.CommandCancel, CreatedAt: w.now}
		return func() (string, error) {
			out, _, err := w.PutMail(w.ctx(), "a", cmd, nil)
			return said(out, err)
		}
	}},
	{name: "creating", moves: terms{accepted: 1, mail: 1}, again: "4", prepare: func(w *world) func() (string, error) {
		n := w.newInstance("a", "s1", &store.Gate{Definition: "order"})
		n.Command.Key = &workflow.CommandKey{Name: "k", BodyHash: "h"}
		return func() (string, error) { return said(w.Create(w.ctx(), n, &store.Answer{BodyHash: "h"})) }
	}},
	{name: "delivering to several", moves: terms{accepted: 3, mail: 3}, prepare: func(w *world) func() (string, error) {
		w.instance("a", "paid")
		w.instance("b", "paid")
		l := w.look(event("paid"))
		var to []stimuli.Delivery
		for i := range l.Bookmarks {
			to = append(to, stimuli.Delivery{Bookmark: &l.Bookmarks[i], Command: w.resume(fmt.Sprint("c", i), &l.Bookmarks[i], nil)})
		}
		n := w.newInstance("c", "s1", nil)
		to = append(to, stimuli.Delivery{New: n, Command: n.Command})
		return func() (string, error) { return said(w.Deliver(w.ctx(), to, nil, nil, nil, nil, nil)) }
	}},
	{name: "delivering a slice of a send record", moves: terms{accepted: 1, mail: 1}, again: "false", prepare: func(w *world) func() (string, error) {
		w.instance("a", "paid")
		l := w.look(event("paid"))
		w.ok(w.PutSend(w.ctx(), store.Send{ID: "s", Stimulus: event("paid"), CreatedAt: w.now}, nil))
		sends, _, err := w.Sends(w.ctx(), "", 10)
		w.ok(err)
		to := []stimuli.Delivery{{Bookmark: &l.Bookmarks[0], Command: w.resume("c1", &l.Bookmarks[0], nil)}}
		rest := []store.Target{{Bookmark: &store.BookmarkRef{ID: "b~1", InstanceID: "b"}}}
		return func() (string, error) { return said(w.Deliver(w.ctx(), to, &sends[0], rest, nil, nil, nil)) }
	}},
	{name: "delivering a slice of a fixed list", moves: terms{accepted: 1, mail: 1}, again: "false", prepare: func(w *world) func() (string, error) {
		w.instance("a", "paid")
		l := w.look(event("paid"))
		met := l.Bookmarks[0]
		met.Created = 0 // it is another each time
		targets := []store.Target{{Bookmark: &met}, {Bookmark: &store.BookmarkRef{ID: "b~1", InstanceID: "b"}}, {Bookmark: &store.BookmarkRef{ID: "c~1", InstanceID: "c"}}}
		w.ok(w.PutSend(w.ctx(), store.Send{ID: "s", Stimulus: event("paid"), Targets: targets, CreatedAt: w.now}, nil))
		sends, _, err := w.Sends(w.ctx(), "", 10)
		w.ok(err)
		left, err := w.Left(w.ctx(), &sends[0])
		w.ok(err)
		to := []stimuli.Delivery{{Bookmark: &l.Bookmarks[0], Command: w.resume("c1", &l.Bookmarks[0], nil)}}
		return func() (string, error) { return said(w.Deliver(w.ctx(), to, &sends[0], left[1:], nil, nil, nil)) }
	}},
	{name: "delivering the last slice of a fixed list", moves: terms{mail: 1, sends: -1}, again: "false", prepare: func(w *world) func() (string, error) {
		w.instance("a", "paid")
		l := w.look(event("paid"))
		targets := []store.Target{{Bookmark: &store.BookmarkRef{ID: "b~1", InstanceID: "b"}}, {Bookmark: &l.Bookmarks[0]}}
		w.ok(w.PutSend(w.ctx(), store.Send{ID: "s", Stimulus: event("paid"), Targets: targets, CreatedAt: w.now}, nil))
		sends, _, err := w.Sends(w.ctx(), "", 10)
		w.ok(err)
		if ok, err := w.Deliver(w.ctx(), nil, &sends[0], targets[1:], nil, nil, nil); err != nil || !ok {
			w.tb.Fatal(ok, err)
		}
		left, err := w.Left(w.ctx(), &sends[0])
		w.ok(err)
		if len(left) != 1 || left[0].Bookmark.ID != l.Bookmarks[0].ID {
			w.tb.Fatalf("left: %+v", left)
		}
		to := []stimuli.Delivery{{Bookmark: left[0].Bookmark, Command: w.resume(store.TargetCommand("s", left[0].Bookmark.ID), left[0].Bookmark, nil)}}
		return func() (string, error) { return said(w.Deliver(w.ctx(), to, &sends[0], nil, nil, nil, nil)) }
	}},
	{name: "accepting a stimulus", moves: terms{accepted: 1, sends: 1}, prepare: func(w *world) func() (string, error) {
		send := store.Send{ID: "s", Stimulus: event("paid"), CreatedAt: w.now, Key: &workflow.CommandKey{Name: "k", BodyHash: "h"}}
		return func() (string, error) { return done(w.PutSend(w.ctx(), send, &store.Answer{BodyHash: "h"})) }
	}},
	{name: "queueing", moves: terms{accepted: 1, queue: 1}, prepare: func(w *world) func() (string, error) {
		item, l := w.item("i", event("paid")), w.look(event("paid"))
		item.Key = &workflow.CommandKey{Name: "k", BodyHash: "h"}
		return func() (string, error) { return said(w.Enqueue(w.ctx(), item, l)) }
	}},
	{name: "queueing a sent stimulus", moves: terms{queue: 1, sends: -1}, prepare: func(w *world) func() (string, error) {
		w.ok(w.PutSend(w.ctx(), store.Send{ID: "s", Stimulus: event("paid"), CreatedAt: w.now}, nil))
		sends, _, err := w.Sends(w.ctx(), "", 10)
		w.ok(err)
		l, err := w.MatchAgain(w.ctx(), &sends[0], hashOf("paid"))
		w.ok(err)
		return func() (string, error) { return said(w.Enqueue(w.ctx(), w.item("s", event("paid")), l)) }
	}},
	{name: "claiming", moves: terms{mail: 1, queue: -1}, prepare: func(w *world) func() (string, error) {
		item := w.queued("i", event("paid"))
		w.instance("a", "paid")
		return func() (string, error) {
			_, ok, err := w.Claim(w.ctx(), item, "a", workflow.Command{ID: "i", Kind: workflow.CommandResume, CreatedAt: w.now})
			return said(ok, err)
		}
	}},
	{name: "claiming the last of a slice", moves: terms{mail: 1, queue: -1}, prepare: func(w *world) func() (string, error) {
		w.queued("i", event("paid"))
		item := w.waiting("a", "paid")[0]
		return func() (string, error) {
			_, ok, err := w.Claim(w.ctx(), &item, "a", workflow.Command{ID: "i", Kind: workflow.CommandResume, CreatedAt: w.now})
			return said(ok, err)
		}
	}},
	{name: "dropping marks", prepare: func(w *world) func() (string, error) {
		_, err := w.raw.Put(w.ctx(), w.Keys.Mark(w.Keys.QueueSlice(hashOf("paid"), record.NoCorrelation), "i"), "")
		w.ok(err)
		return func() (string, error) { _, err := w.DropMarks(w.ctx(), ""); return done(err) }
	}},
	{name: "requeueing", moves: terms{queue: -1, sends: 1}, again: "false", prepare: func(w *world) func() (string, error) {
		item := w.queued("i", event("paid"))
		return func() (string, error) { return said(w.Requeue(w.ctx(), item)) }
	}},
	{name: "burying", moves: terms{sends: -1, dead: 1}, again: "false", prepare: func(w *world) func() (string, error) {
		w.ok(w.PutSend(w.ctx(), store.Send{ID: "s", Stimulus: event("paid"), CreatedAt: w.now}, nil))
		sends, _, err := w.Sends(w.ctx(), "", 10)
		w.ok(err)
		return func() (string, error) {
			return said(w.BurySend(w.ctx(), &sends[0], store.DeadLetter{ID: record.StimulusDeadID("s", w.now), Reason: workflow.DeadInstanceGone}))
		}
	}},
	{name: "firing timers", moves: terms{accepted: 1, mail: 1}, again: "[]", prepare: func(w *world) func() (string, error) {
		due := w.dueTimers()
		return func() (string, error) { return said(w.FireTimers(w.ctx(), due, w.now)) }
	}},
	{name: "placing a misplaced timer", again: "0", prepare: func(w *world) func() (string, error) {
		w.before(w.timersAt(time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)))
		shard := record.TimerShard(workflow.BookmarkID("far00", "b"))
		places, err := w.Misplaced(w.ctx(), shard)
		w.ok(err)
		return func() (string, error) { return said(w.MoveMisplaced(w.ctx(), shard, places)) }
	}},
	{name: "expiring", moves: terms{queue: -1, dead: 1}, again: " ", prepare: func(w *world) func() (string, error) {
		w.queued("i", event("paid"))
		due := w.inQueue()
		return func() (string, error) {
			reason, err := w.ExpireQueueItem(w.ctx(), due[0], time.Minute, w.now)
			return string(reason) + " ", err
		}
	}},
	{name: "replaying a dead letter", moves: terms{sends: 1, dead: -1}, prepare: func(w *world) func() (string, error) {
		d := w.dead("d")
		return func() (string, error) {
			return said(w.TakeDeadLetter(w.ctx(), d, &store.Send{ID: store.Replayed + "1", Stimulus: event("paid"), CreatedAt: w.now}))
		}
	}},
	{name: "replaying the command of a dead letter", moves: terms{mail: 1, dead: -1}, prepare: func(w *world) func() (string, error) {
		d := w.deadCommand("d", "a")
		w.instance("a")
		return func() (string, error) {
			out, err := w.ReplayCommand(w.ctx(), d, store.Replayed+"1", nil)
			return fmt.Sprint(out), err
		}
	}},
	{name: "taking back an attempt", again: "false", prepare: func(w *world) func() (string, error) {
		w.instance("a", "paid")
		b := w.look(event("paid")).Bookmarks[0]
		cmd := w.resume("c1", &b, nil)
		_, created, err := w.PutMail(w.ctx(), "a", cmd, &b)
		w.ok(err)
		begun := cmd
		begun.Attempts = 1
		counted, err := w.CountAttempt(w.ctx(), w.lock("a", "me"), "a", begun, created)
		w.ok(err)
		return func() (string, error) { return said(w.TakeBackAttempt(w.ctx(), "a", cmd, counted)) }
	}},
	{name: "replaying a dead letter for a key", moves: terms{sends: 1, dead: -1}, prepare: func(w *world) func() (string, error) {
		d := w.dead("d")
		return func() (string, error) {
			return said(w.TakeDeadLetter(w.ctx(), d, &store.Send{ID: store.Replayed + "1", Stimulus: event("paid"), Key: &workflow.CommandKey{Name: "k", BodyHash: "b"}, CreatedAt: w.now}))
		}
	}},
	{name: "sending a queue item again", moves: terms{queue: -1, sends: 1}, prepare: func(w *world) func() (string, error) {
		w.queued("i", event("paid"))
		item, err := w.FindQueueItem(w.ctx(), "i")
		w.ok(err)
		return func() (string, error) {
			return said(w.TakeQueueItem(w.ctx(), item, &store.Send{ID: store.Replayed + "1", Stimulus: event("paid"), CreatedAt: w.now}))
		}
	}},
	{name: "deleting a queue item", moves: terms{refused: 1, queue: -1}, prepare: func(w *world) func() (string, error) {
		w.queued("i", event("paid"))
		item, err := w.FindQueueItem(w.ctx(), "i")
		w.ok(err)
		return func() (string, error) { return said(w.TakeQueueItem(w.ctx(), item, nil)) }
	}},
	{name: "creating a job", prepare: func(w *world) func() (string, error) {
		return func() (string, error) {
			old, err := w.Jobs.Create(w.ctx(), &store.Job{ID: "j", State: store.JobRunning, Write: "w1"})
			return fmt.Sprint(old), err
		}
	}},
	{name: "creating a job with a key", prepare: func(w *world) func() (string, error) {
		return func() (string, error) {
			old, err := w.Jobs.Create(w.ctx(), &store.Job{ID: "j", State: store.JobRunning, Write: "w1", Key: &workflow.CommandKey{Name: "k", BodyHash: "h"}})
			return fmt.Sprint(old), err
		}
	}},
	{name: "writing a job", prepare: func(w *world) func() (string, error) {
		job := w.job("j")
		return func() (string, error) {
			is := *job
			is.State, is.Write = store.JobDone, "w2"
			return said(w.Jobs.Write(w.ctx(), &is))
		}
	}},
	{name: "giving the command of a job", moves: terms{accepted: 1, mail: 1}, prepare: func(w *world) func() (string, error) {
		w.instance("a")
		job := w.job("j")
		return func() (string, error) {
			out, err := w.Jobs.Give(w.ctx(), job, "a", workflow.Command{ID: "c1", Kind: workflow.CommandCancel, CreatedAt: w.now})
			return fmt.Sprint(out), err
		}
	}},
	{name: "deleting a job", prepare: func(w *world) func() (string, error) {
		job := w.job("j")
		return func() (string, error) { return said(w.Jobs.Delete(w.ctx(), job)) }
	}},
	{name: "deleting a dead letter", moves: terms{deleted: 1, dead: -1}, again: "false", prepare: func(w *world) func() (string, error) {
		d := w.dead("d")
		return func() (string, error) { return said(w.TakeDeadLetter(w.ctx(), d, nil)) }
	}},
	{name: "firing a schedule", moves: terms{accepted: 1, mail: 1}, again: "false", prepare: func(w *world) func() (string, error) {
		due, next := w.occurrence()
		starts := []lookup.NewInstance{*w.newInstance("a", "s1", nil)}
		return func() (string, error) {
			ok, _, err := w.FireSchedule(w.ctx(), due, nil, next, starts)
			return said(ok, err)
		}
	}},
	{name: "firing a schedule behind a gate", again: "false", prepare: func(w *world) func() (string, error) {
		due, next := w.occurrence()
		w.gated("holder")
		starts := []lookup.NewInstance{*w.newInstance("a", "s1", single)}
		return func() (string, error) {
			ok, _, err := w.FireSchedule(w.ctx(), due, nil, next, starts)
			return said(ok, err)
		}
	}},
	{name: "waiting behind a gate", moves: terms{queue: 1, sends: -1}, again: "false", prepare: func(w *world) func() (string, error) {
		w.gated("holder")
		send, to := w.behindGate("s", "a")
		return func() (string, error) { return said(w.Deliver(w.ctx(), to, send, nil, nil, nil, nil)) }
	}},
	{name: "starting what waited behind a gate", moves: terms{mail: 1, queue: -1}, again: fmt.Sprint(upkeep.HeldGone), prepare: func(w *world) func() (string, error) {
		n := w.newInstance(store.TriggeredInstance("s", "order", "a"), store.TriggeredStart("s", "order", "a"), single)
		n.Command.Start.Trigger = "a"
		item := w.held("s", n.Header.ID)
		return func() (string, error) { return said(w.StartHeld(w.ctx(), item, n)) }
	}},
	{name: "dropping what waited behind a gate", moves: terms{accepted: -1, queue: -1}, prepare: func(w *world) func() (string, error) {
		item := w.held("s", "a")
		return func() (string, error) { return done(w.DropHeld(w.ctx(), item)) }
	}},
	{name: "putting the balance", again: "false", prepare: func(w *world) func() (string, error) {
		b := &store.Balance{Etcd: "1f", Since: 1, Revision: 2, At: w.now}
		return func() (string, error) {
			_, ok, err := w.PutBalance(w.ctx(), b, 0)
			return said(ok, err)
		}
	}},
	{name: "pausing", prepare: func(w *world) func() (string, error) {
		return func() (string, error) { _, err := w.SetPaused(w.ctx(), true); return done(err) }
	}},
	{name: "purging finished instances", again: "[]", prepare: func(w *world) func() (string, error) {
		w.ended("a")
		w.ended("b")
		return func() (string, error) { return said(w.Purge(w.ctx(), Late("a", "b"), w.lockOf, nil)) }
	}},
	{name: "shortening the journal of a finished instance", prepare: func(w *world) func() (string, error) {
		w.ended("a")
		rec := w.record("a")
		for rec.Seq <= record.JournalSlice { // as many commits would be slow
			rec.Seq++
			_, err := w.raw.Put(w.ctx(), w.Keys.Journal("a", rec.Seq), "{}")
			w.ok(err)
		}
		raw, err := db.Encode(rec)
		w.ok(err)
		_, err = w.raw.Put(w.ctx(), w.Keys.Instance("a"), string(raw))
		w.ok(err)
		rec = w.record("a") // a purge reads anew; a copy is of one reading
		guard := []clientv3.Cmp{db.ModifiedAt(w.Keys.Instance("a"), rec.Modified)}
		return func() (string, error) { return done(w.ShortenJournal(w.ctx(), rec, guard)) }
	}},
	{name: "purging dead letters", moves: terms{deleted: 1, dead: -1}, again: "0", prepare: func(w *world) func() (string, error) {
		d := w.dead("d")
		return func() (string, error) {
			return said(w.PurgeDead(w.ctx(), []upkeep.DeadSize{{ID: d.ID, Created: d.Created}}))
		}
	}},
	{name: "purging idempotency keys", prepare: func(w *world) func() (string, error) {
		w.accepted("k", w.now)
		records, _, err := w.KeyRecords(w.ctx(), "", 10)
		w.ok(err)
		return func() (string, error) { return done(w.PurgeKeys(w.ctx(), records)) }
	}},
	{name: "expiring records", prepare: func(w *world) func() (string, error) {
		w.ok(w.PutSend(w.ctx(), store.Send{ID: "s", Stimulus: event("paid"), CreatedAt: w.now}, nil))
		age := w.later(time.Hour)
		return func() (string, error) {
			_, _, err := w.ExpireRecords(w.ctx(), age, "")
			return done(err)
		}
	}},
}
