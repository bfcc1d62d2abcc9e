package etcdstore

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

// mails puts a command into a mailbox.
func (w *world) mails(id, cmd string) {
	w.tb.Helper()
	out, _, err := w.PutMail(context.WithoutCancel(w.ctx()), id, workflow.Command{ID: cmd, Kind: workflow.CommandCancel, CreatedAt: w.now}, nil)
	if err != nil || out != record.PutDone {
		w.tb.Errorf("%s is not put: %v, %v", cmd, out, err)
	}
}

// hot makes instance a, whose mailbox is followed.
func (w *world) hot() (box string) {
	w.tb.Helper()
	w.instance("a", "paid")
	box = w.Keys.Mailbox("a")
	w.mails("a", "first")
	w.followed(w.Boxes, box, func() { w.mailOf("a") })
	w.commit(w.consumes(w.next("a", nil)))
	return box
}

func commandsOf(mail []store.Mail) (ids []string) {
	for i := range mail {
		ids = append(ids, mail[i].Command.ID)
	}
	return ids
}

// What an instance is sent all the time costs as much as in the beginning, in loads, commits that release,
// that go on and that keep the lock, and in releases.
func TestAMailboxCostsByWhatLiesInItAndNotByWhatDid(t *testing.T) {
	testsize.NotRaced(t, "it goes over many keys on one goroutine")
	t.Parallel()
	w := newWorld(t)
	count := w.walk()
	w.patient()
	w.follow()
	w.hot()
	count.since("mailbox")
	const rounds = 60
	for i := range rounds {
		cmd := fmt.Sprint("c", i)
		f := w.lock("a", "me")
		w.mails("a", cmd)
		l, err := w.Load(w.ctx(), "a", "", "")
		if w.ok(err); !slices.Equal(commandsOf(l.Mail), []string{cmd}) || l.Bytes == 0 {
			t.Fatalf("round %d loads %q", i, commandsOf(l.Mail))
		}
		c := w.next("a", f)
		c.SeenMail = l.Revision
		c.Consumed = []store.Consumed{{Command: l.Mail[0].Command, Created: l.Mail[0].Created, Effect: store.Effect{Outcome: workflow.OutcomeResumed}}}
		switch i % 3 {
		case 0:
			c.Release = true
			if done := w.commit(c); !done.Released || done.Waits || done.Kept != nil {
				t.Fatalf("round %d: %+v", i, done)
			}
		case 1:
			w.commit(c)
			if kept, waits, err := w.Release(w.ctx(), *f, "a", w.revision()); kept != nil || waits || err != nil {
				t.Fatalf("round %d: kept %+v, waits %t, %v", i, kept, waits, err)
			}
		default:
			c.Continue = w.rest()
			done := w.commit(c)
			if done.Kept == nil || !slices.Equal(commandsOf(done.Kept.Mail), []string{workflow.ContinueID}) || done.Kept.Revision != done.Modified {
				t.Fatalf("round %d: %+v", i, done.Kept)
			}
			c = w.consumes(w.next("a", f))
			c.Release = true
			if done := w.commit(c); !done.Released || done.Waits {
				t.Fatalf("round %d: %+v", i, done)
			}
		}
		w.want("lock/", 0)
	}
	if n := count.since("mailbox"); n > rounds {
		t.Errorf("%d rounds went over %d keys of mailboxes", rounds, n)
	}
	w.want("mailbox/", 0)
}

// Mail that comes while a commit is on its way that does not compare it is not left behind: whenever it comes, the lock
// is kept for it, or is released, and its owner is told to take it again.
func TestMailBesideAReleaseIsNotLeftBehind(t *testing.T) {
	t.Parallel()
	commits := func(w *world, f *store.Fence) (released, waits bool, kept *store.Kept) {
		c := w.next("a", f)
		c.Release = true
		done := w.commit(c)
		return done.Released, done.Waits, done.Kept
	}
	releases := func(w *world, f *store.Fence) (released, waits bool, kept *store.Kept) {
		kept, waits, err := w.Release(w.ctx(), *f, "a", w.revision())
		w.ok(err)
		return kept == nil, waits, kept
	}
	for name, ends := range map[string]func(w *world, f *store.Fence) (bool, bool, *store.Kept){"a commit": commits, "a release": releases} {
		t.Run(name+", mail on its way", func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.follow()
			w.hot()
			f := w.lock("a", "me")
			var once sync.Once
			w.faults.Add(clustertest.Rule{Match: func(c clustertest.Call) bool {
				if c.DeletesUnder(f.Key) {
					once.Do(func() { w.spoil(w.Keys.Mail("a", "came"), []byte(`{"id":"came"}`)) })
				}
				return false
			}})
			if released, waits, kept := ends(w, f); !released || !waits || kept != nil {
				t.Errorf("released %t, waits %t, kept %+v", released, waits, kept)
			}
			w.want("lock/", 0)
			if got := commandsOf(w.mailOf("a")); !slices.Equal(got, []string{"came"}) {
				t.Errorf("the mailbox holds %q", got)
			}
		})
		t.Run(name+", the watch has ended", func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			stop := w.follow()
			w.hot()
			f := w.lock("a", "me")
			var once sync.Once
			w.faults.Add(clustertest.Rule{Match: func(c clustertest.Call) bool {
				if c.DeletesUnder(f.Key) {
					once.Do(stop)
				}
				return false
			}})
			if released, waits, _ := ends(w, f); !released || !waits {
				t.Errorf("released %t, waits %t: nobody knows whether there is mail", released, waits)
			}
		})
	}
	for name, way := range map[string]struct {
		mail      int
		waits     bool // it comes to wait at a new place, for which something may be queued
		goesOn    bool
		more      bool
		bookmarks int
	}{
		"it was told of":                      {mail: 1},
		"and the commit comes to wait":        {mail: 2, waits: true},
		"more than a burst takes":             {mail: record.MailBatch + 3, more: true},
		"as the burst goes on":                {mail: 1, goesOn: true},
		"more than a burst takes, it goes on": {mail: record.MailBatch + 3, goesOn: true, more: true},
	} {
		t.Run("a commit, "+name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.follow()
			box := w.hot()
			f := w.lock("a", "me")
			c := w.next("a", f)
			if c.Release = !way.goesOn; way.goesOn {
				c.Continue = w.rest()
			}
			if way.waits {
				c.Created = []workflow.Bookmark{w.bookmark("a", "b9", "other")}
				c.After.Header.Bookmarks = append(c.After.Header.Bookmarks, c.Created...)
			}
			var want []string
			for i := range way.mail {
				want = append(want, fmt.Sprintf("m%02d", way.mail-i)) // not in the order of the keys
				w.mails("a", want[i])
			}
			polltest.Eventually(t, "the watch has told", func() bool { return w.Boxes.NewMail(box, c.SeenMail) })
			if way.goesOn {
				want = append(want, workflow.ContinueID)
			}
			done := w.commit(c)
			if done.Released || done.Kept == nil {
				t.Fatalf("released: %+v", done)
			}
			if got := commandsOf(done.Kept.Mail); !slices.Equal(got, want[:min(len(want), record.MailBatch)]) || done.Kept.More != way.more || done.Kept.Unread != way.waits {
				t.Errorf("kept %q, more %t, unread %t", got, done.Kept.More, done.Kept.Unread)
			}
			if left := want[len(done.Kept.Mail):]; len(left) > 0 {
				mail, err := w.Mail(w.ctx(), "a", left[0])
				if w.ok(err); done.Kept.Revision != mail.Created-1 {
					t.Errorf("seen up to %d, and %s is of %d", done.Kept.Revision, left[0], mail.Created)
				}
			}
			w.want("lock/", 1)
			kept, waits, err := w.Release(w.ctx(), *f, "a", c.SeenMail)
			if w.ok(err); kept == nil || waits || !slices.Equal(commandsOf(kept.Mail), want[:min(len(want), record.MailBatch)]) {
				t.Errorf("a release keeps %+v, waits %t", kept, waits)
			}
		})
	}
}

// What is queued is found beside a mailbox that is followed, and the mail with it.
func TestALockIsKeptForTheQueueBesideAFollowedMailbox(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.follow()
	w.hot()
	w.queues("q", event("other"))
	f := w.lock("a", "me")
	c := w.next("a", f)
	c.Release, c.Created = true, []workflow.Bookmark{w.bookmark("a", "b9", "other")}
	c.After.Header.Bookmarks = append(c.After.Header.Bookmarks, c.Created...)
	done := w.commit(c)
	if done.Released || done.Kept == nil || len(done.Kept.Queue) != 1 || len(done.Kept.Mail) != 0 {
		t.Fatalf("%+v", done)
	}
}

// Of a commit without an answer it is not known whether it compared the mailbox.
func TestAReleaseWhoseAnswerWasLostIsLookedBehind(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stop := w.follow()
	w.hot()
	f := w.lock("a", "me")
	c := w.next("a", f)
	c.Release = true
	w.faults.Add(clustertest.Rule{Fault: clustertest.LoseAnswer, Match: func(call clustertest.Call) bool { return call.DeletesUnder(f.Key) }, Times: 1})
	if _, err := w.Commit(w.ctx(), c); err == nil {
		t.Fatal("it was answered")
	}
	stop()
	if done := w.commit(c); !done.Resolved || !done.Released || !done.Waits {
		t.Errorf("%+v", done)
	}
}

// A load is of one moment: what came later is not in it, and what the watch does not tell in time is read.
func TestALoadOfAFollowedMailboxIsOfItsRevision(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.follow()
	box := w.hot()
	w.mails("a", "old")
	at := w.revision()
	w.mails("a", "new")
	w.mails("a", "newer")
	polltest.Eventually(t, "the watch has told", func() bool { return w.Boxes.NewMail(box, at+1) })
	read := func(way string, want ...string) {
		t.Helper()
		kvs, err := w.Boxes.MailAt(w.ctx(), "a", at)
		if w.ok(err); !slices.Equal(commandsOf(record.DecodeMail(kvs)), want) {
			t.Errorf("%s: %q", way, commandsOf(record.DecodeMail(kvs)))
		}
	}
	read("followed", "old")
	w.Boxes.Leave(box)
	read("not followed any more", "old")
}

// What was taken since does not hide what lies behind: of a mailbox with more than a burst takes it is known that there
// is more.
func TestWhatWasTakenSinceHidesNoMail(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.follow()
	w.hot()
	var want []string
	for i := range record.MailBatch + 5 {
		want = append(want, fmt.Sprintf("m%03d", i))
		w.mails("a", want[i])
	}
	at := w.revision()
	var once sync.Once
	w.faults.Add(clustertest.Rule{Match: func(c clustertest.Call) bool {
		if c.Touches(w.Keys.Mail("a", want[0])) { // it is about to be read
			once.Do(func() {
				for _, id := range want[:2] {
					w.del(w.Keys.Mail("a", id))
				}
			})
		}
		return false
	}})
	kvs, err := w.Boxes.MailAt(w.ctx(), "a", at)
	if w.ok(err); !slices.Equal(commandsOf(record.DecodeMail(kvs)), want[2:record.MailBatch+3]) {
		t.Errorf("%d: %q", len(kvs), commandsOf(record.DecodeMail(kvs)))
	}
}

// A mailbox that is looked into and never holds anything is read: there is nothing to go over.
func TestAnEmptyMailboxIsNotFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.instance("a", "paid")
	for range 2 * lookup.FollowAfter {
		w.mailOf("a")
	}
	if n := w.Boxes.Wants(); n > 0 {
		t.Error("it is to be followed")
	}
}
