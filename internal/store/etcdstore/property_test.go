package etcdstore

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/store/etcdstore/stimuli"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

// traffic drives one world with stimuli, waits, claims and commits in any order,
// each write spoiled or not. What it remembers is what was answered.
type traffic struct {
	*world
	t        *rapid.T
	sent     []string                 // ids of stimuli, in order
	accepted map[string]bool          // by id: the store said that it has it
	seen     map[string]*lookup.Match // by id of a stimulus that was not accepted: as it was last looked at
	stale    []*store.Commit          // built, and not sent yet
}

var instances = []string{"a", "b"}

// TestNoStimulusIsLostOrDoubled: whatever happens, an accepted stimulus is in
// exactly one place (send record, queue, one mailbox, dead letter, consumed), and
// one that was not accepted is in none. So says the balance.
func TestNoStimulusIsLostOrDoubled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rapid.Check(t, func(rt *rapid.T) {
		s, err := New(Config{Client: w.Client, Root: "/weft/" + clustertest.Namespace(t) + "/"})
		if err != nil {
			t.Fatal(err)
		}
		one := *w
		one.allParts = all(s)
		x := &traffic{world: &one, t: rt, accepted: map[string]bool{}, seen: map[string]*lookup.Match{}}
		x.balanced()
		for _, id := range instances {
			x.instanceIn(id, rapid.SampledFrom([]string{"", "k"}).Draw(rt, "correlation"))
		}
		rt.Repeat(map[string]func(*rapid.T){
			"look":    x.lookAtOne,
			"send":    x.send,
			"resolve": x.resolve,
			"claim":   x.claim,
			"build":   x.build,
			"commit":  x.commitOne,
			"expire":  x.expire,
			"arrive":  func(*rapid.T) { x.faults.Deliver() },
			"":        x.check,
		})
		x.faults.Deliver()
		x.check(rt)
		if b := x.reckon(); b.Difference != 0 {
			rt.Fatalf("the balance has a difference: %+v", b)
		}
	})
}

// spoiled does a write with or without a fault, and again until its outcome is
// known.
func (x *traffic) spoiled(t *rapid.T, write func() error) {
	var rule *clustertest.Armed
	if n := rapid.IntRange(0, 7).Draw(t, "fault"); n < 4 {
		fault := []clustertest.Fault{clustertest.FailBefore, clustertest.LoseAnswer, clustertest.ApplyTwice, clustertest.DeliverLate}[n]
		rule = x.faults.Add(clustertest.Rule{Fault: fault, Times: 1, Match: writes})
		defer rule.Disarm()
	}
	for range 5 {
		err := write()
		if errors.Is(err, db.ErrUnknown) {
			continue
		}
		for _, refusal := range []error{nil, store.ErrFenced, store.ErrConflict, store.ErrBreach} {
			if errors.Is(err, refusal) {
				return
			}
		}
		t.Fatal(err)
	}
	t.Fatal("the outcome stays unknown")
}

func (x *traffic) stimulus(id string) workflow.Stimulus {
	st := event("e" + id[len(id)-1:])
	st.Input = map[string]any{"id": id}
	switch id[0] {
	case 'c':
		st.CorrelationID = "k"
	case 'i':
		st.InstanceID = "a"
	}
	return st
}

// lookAtOne looks at a stimulus, new or refused before; what it finds may be old
// when it is acted on.
func (x *traffic) lookAtOne(t *rapid.T) {
	kind := rapid.SampledFrom([]string{"p", "c", "i"}).Draw(t, "kind")
	id := fmt.Sprintf("%s%03d-%d", kind, len(x.sent), rapid.IntRange(0, 1).Draw(t, "event"))
	if open := x.open(); len(open) > 0 && rapid.Bool().Draw(t, "again") {
		id = rapid.SampledFrom(open).Draw(t, "which")
	} else {
		x.sent = append(x.sent, id)
	}
	x.seen[id] = x.look(x.stimulus(id))
}

func (x *traffic) open() []string {
	return slices.DeleteFunc(slices.Clone(x.sent), func(id string) bool { return x.accepted[id] })
}

// send acts on what was seen: mail for one of the bookmarks, one command for
// each, or the queue.
func (x *traffic) send(t *rapid.T) {
	if len(x.seen) == 0 {
		t.Skip("nothing was looked at")
	}
	id := rapid.SampledFrom(slices.Sorted(maps.Keys(x.seen))).Draw(t, "which")
	l, st := x.seen[id], x.stimulus(id)
	delete(x.seen, id)
	x.spoiled(t, func() error {
		if len(l.Bookmarks) == 0 {
			ok, err := x.Enqueue(x.ctx(), x.item(id, st), l)
			x.accepted[id] = err == nil && ok
			return err
		}
		b := l.Bookmarks[0]
		if len(l.Bookmarks) > 1 {
			// One effect is what is counted, so it is for one of them.
			ok, err := x.Deliver(x.ctx(), []stimuli.Delivery{{Bookmark: &b, Command: x.resume(id, &b, &st)}}, nil, nil, nil, nil, nil)
			x.accepted[id] = err == nil && ok
			return err
		}
		cmd := x.resume(id, &b, &st)
		cmd.CreatedAt = x.now.Add(time.Duration(l.Revision)) // of this attempt
		out, _, err := x.PutMail(x.ctx(), b.InstanceID, cmd, &b)
		x.accepted[id] = err == nil && out != record.PutGone
		return err
	})
}

// resolve works off a send record.
func (x *traffic) resolve(t *rapid.T) {
	sends, _, err := x.Sends(x.ctx(), "", 100)
	x.ok(err)
	if len(sends) == 0 {
		t.Skip("no send record")
	}
	send := &sends[rapid.IntRange(0, len(sends)-1).Draw(t, "which")]
	l, err := x.MatchAgain(x.ctx(), send, hashOf(send.Stimulus.Payload.(map[string]any)["eventName"].(string)))
	x.ok(err)
	x.spoiled(t, func() error {
		if len(l.Bookmarks) == 0 {
			_, err := x.Enqueue(x.ctx(), x.item(send.ID, send.Stimulus), l)
			return err
		}
		b := &l.Bookmarks[0]
		_, err := x.Deliver(x.ctx(), []stimuli.Delivery{{Bookmark: b, Command: x.resume(send.ID, b, &send.Stimulus)}}, send, nil, nil, nil, nil)
		return err
	})
}

func (x *traffic) items() []store.QueueItem {
	items, _, err := x.QueueItems(x.ctx(), "", "", 1000)
	x.ok(err)
	return items
}

// claim takes a queue item into any instance: one that does not wait for it sends
// it on.
func (x *traffic) claim(t *rapid.T) {
	items := x.items()
	if len(items) == 0 {
		t.Skip("nothing is queued")
	}
	item := &items[rapid.IntRange(0, len(items)-1).Draw(t, "which")]
	x.claimInto(t, item, rapid.SampledFrom(instances).Draw(t, "instance"))
}

func (x *traffic) claimInto(t *rapid.T, item *store.QueueItem, id string) {
	b := &store.BookmarkRef{}
	for _, bm := range x.record(id).Header.Bookmarks {
		if bm.Hash == item.Hash {
			b.ID = bm.ID
		}
	}
	x.spoiled(t, func() error {
		_, _, err := x.Claim(x.ctx(), item, id, x.resume(item.ID, b, &item.Stimulus))
		return err
	})
}

// build makes a commit of what an instance has in its mailbox; others may come
// before it is sent.
func (x *traffic) build(t *rapid.T) {
	id := rapid.SampledFrom(instances).Draw(t, "instance")
	c := x.next(id, x.lock(id, "me"))
	x.unlock(c.Fence)
	c.Fence = nil // local: by the revision alone, the harder case
	if rapid.Bool().Draw(t, "fenced") {
		c.Fence = x.lock(id, "me")
		c.Release = true
	}
	h := &c.After.Header
	for _, m := range x.mailOf(id) {
		cmd := m.Command
		effect := store.Effect{Outcome: workflow.OutcomeRequeued}
		at := slices.IndexFunc(h.Bookmarks, func(b workflow.Bookmark) bool { return b.ID == cmd.Bookmark })
		if at >= 0 {
			effect.Outcome = "resumed"
			c.Burned = append(c.Burned, h.Bookmarks[at])
			h.Bookmarks = slices.Delete(slices.Clone(h.Bookmarks), at, at+1)
			c.Journal = append(c.Journal, workflow.JournalItem{Event: "Resumed", Text: cmd.Stimulus.Input["id"].(string)})
		} else {
			c.Requeue = append(c.Requeue, store.QueueItem{ID: "again-" + workflow.DeriveID(id, cmd.ID), Stimulus: *cmd.Stimulus})
		}
		c.Consumed = append(c.Consumed, store.Consumed{Command: cmd, Created: m.Created, Effect: effect})
	}
	for e := range 2 {
		if rapid.Bool().Draw(t, "wait") {
			b := x.bookmark(id, fmt.Sprintf("%s-%d", x.id("b"), e), fmt.Sprint("e", e))
			c.Created, h.Bookmarks = append(c.Created, b), append(h.Bookmarks, b)
		}
	}
	if rapid.IntRange(0, 4).Draw(t, "move") == 0 {
		h.CorrelationID = rapid.SampledFrom([]string{"", "k"}).Draw(t, "correlation")
	}
	x.stale = append(x.stale, c)
}

func (x *traffic) commitOne(t *rapid.T) {
	if len(x.stale) == 0 {
		t.Skip("no commit is built")
	}
	i := rapid.IntRange(0, len(x.stale)-1).Draw(t, "which")
	c := x.stale[i]
	x.stale = slices.Delete(x.stale, i, i+1)
	x.spoiled(t, func() error {
		done, err := x.Commit(x.ctx(), c)
		if err == nil && done.Kept != nil {
			for i := range done.Kept.Queue {
				defer x.claimInto(t, &done.Kept.Queue[i], c.After.Header.ID)
			}
		}
		return err
	})
}

func (x *traffic) expire(t *rapid.T) {
	due := x.inQueue()
	if len(due) == 0 {
		t.Skip("nothing expires")
	}
	d := due[rapid.IntRange(0, len(due)-1).Draw(t, "which")]
	x.spoiled(t, func() error { _, err := x.ExpireQueueItem(x.ctx(), d, time.Minute, x.now); return err })
}

// check counts the places of every stimulus.
func (x *traffic) check(t *rapid.T) {
	places := map[string][]string{}
	for key, value := range x.dump() {
		part, _, _ := strings.Cut(key, "/")
		if !slices.Contains([]string{"send", "queue", "mailbox", "dead", "journal"}, part) {
			continue
		}
		for _, id := range x.sent {
			mark := `"input":{"id":"` + id + `"}`
			if part == "journal" {
				mark = `"text":"` + id + `"`
			}
			for range strings.Count(value, mark) {
				places[id] = append(places[id], key)
			}
		}
	}
	for _, id := range x.sent {
		want := 0
		if x.accepted[id] {
			want = 1
		}
		if len(places[id]) != want {
			t.Fatalf("stimulus %s (accepted %t) is in %d places: %v", id, x.accepted[id], len(places[id]), places[id])
		}
	}
}
