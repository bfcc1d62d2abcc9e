package etcdstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/balance"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/stimuli"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

// reckon counts up to now, as a node does that takes over and is killed then.
func (w *world) reckon() *store.Balance {
	w.tb.Helper()
	ctx, kill := context.WithTimeout(w.ctx(), time.Minute)
	defer kill()
	var got *store.Balance
	upTo := w.revision()
	w.ok(w.Reckon(ctx, w.reckoning(func(b *store.Balance) {
		if got = b; b.Revision >= upTo {
			kill()
		}
	})))
	if got == nil || got.Revision < upTo {
		w.tb.Fatalf("nothing was counted up to %d: %+v", upTo, got)
	}
	read, err := w.Balance(w.ctx())
	w.ok(err)
	if read == nil || read.Revision != got.Revision || read.Accepted != got.Accepted {
		w.tb.Fatalf("%+v was told, and %+v is kept", got, read)
	}
	return got
}

func (w *world) reckoning(told func(*store.Balance)) balance.Reckoning {
	return balance.Reckoning{Node: "node-1", Every: 20 * time.Millisecond, Now: func() time.Time { return w.now }, Mine: func() bool { return true }, Told: told}
}

func (w *world) balanced() *store.Balance {
	w.tb.Helper()
	b := w.reckon()
	if b.Difference != 0 || len(b.Lost) != 0 {
		w.tb.Errorf("a difference: %+v", b)
	}
	return b
}

// terms are those of a balance that a transaction moves.
type terms struct {
	accepted, applied, refused, deleted, aside, rests int64
	mail, queue, sends, dead                          int64 // that wait
}

func termsOf(b *store.Balance) terms {
	return terms{b.Accepted, b.Applied, b.Refused, b.Deleted, b.SetAside, b.Rests, b.Waiting.Mailboxes, b.Waiting.Queue, b.Waiting.Sends, b.Waiting.Dead}
}

// since is what was moved after other terms.
func (t terms) since(o terms) terms {
	return terms{t.accepted - o.accepted, t.applied - o.applied, t.refused - o.refused, t.deleted - o.deleted, t.aside - o.aside, t.rests - o.rests,
		t.mail - o.mail, t.queue - o.queue, t.sends - o.sends, t.dead - o.dead}
}

// Whatever a transaction takes away has its reason in it, sent once and twice, and is counted as what
// became of it: a wrong one of the terms leaves no difference.
func TestEveryTransactionIsBalanced(t *testing.T) {
	t.Parallel()
	for _, tx := range slices.Concat(transactions, worked, mended) {
		t.Run(tx.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.balanced()
			call := tx.prepare(w)
			before := termsOf(w.balanced())
			for range 2 {
				_, err := call()
				w.ok(err)
				if moved := termsOf(w.balanced()).since(before); moved != tx.moves {
					t.Errorf("it moves %+v, want %+v", moved, tx.moves)
				}
			}
		})
	}
}

// worked are transactions, and the steps of several, whose faults other tests have.
var worked = []transaction{
	{name: "commit that consumes what leaves a record", moves: terms{applied: 1, mail: -1}, prepare: func(w *world) func() (string, error) {
		return w.consumesMail(workflow.OutcomeResumed, false)
	}},
	{name: "commit that consumes what only its journal names", moves: terms{applied: 1, mail: -1}, prepare: func(w *world) func() (string, error) {
		return w.consumesMail(workflow.OutcomeResumed, true)
	}},
	{name: "commit that consumes what it refuses", moves: terms{refused: 1, mail: -1}, prepare: func(w *world) func() (string, error) {
		return w.consumesMail(workflow.OutcomeRefused, false)
	}},
	{name: "commit that consumes the rest of its burst", moves: terms{rests: -1}, prepare: func(w *world) func() (string, error) {
		w.instance("a")
		on := w.next("a", nil)
		on.Continue = w.rest()
		w.commit(on)
		c := w.consumes(w.next("a", nil))
		c.Consumed[0].Drop = true
		return func() (string, error) { return committed(w.Commit(w.ctx(), c)) }
	}},
	{name: "delete with mail", prepare: func(w *world) func() (string, error) {
		w.mailed("a", "c1")
		c := w.next("a", w.lock("a", "me"))
		c.Delete, c.Burned, c.Release = true, c.Before.Header.Bookmarks, true
		return func() (string, error) { return committed(w.Commit(w.ctx(), c)) }
	}},
	{name: "discarding what leaves no dead letter", moves: terms{refused: 1, mail: -1}, prepare: func(w *world) func() (string, error) {
		created := w.mailed("a", "c1")
		w.remove("a")
		f := w.lock("a", "me")
		gone := []store.Consumed{{Command: workflow.Command{ID: "c1", Kind: workflow.CommandResume, Timer: true, CreatedAt: w.now}, Created: created, Effect: store.Effect{Outcome: workflow.OutcomeRefused}}}
		return func() (string, error) {
			if err := w.Discard(w.ctx(), f, "a", nil, gone, nil); err != nil && !errors.Is(err, store.ErrFenced) {
				return "", err
			}
			return "", nil
		}
	}},
	{name: "removing an instance with mail", moves: terms{refused: 1, mail: -2, dead: 1}, prepare: func(w *world) func() (string, error) {
		w.mailed("a", "c1")
		_, _, err := w.PutMail(w.ctx(), "a", workflow.Command{ID: "c2", Kind: workflow.CommandCancel, CreatedAt: w.now}, nil)
		w.ok(err)
		f := w.lock("a", "me")
		return func() (string, error) { return done(errOf(w.Remove(w.ctx(), f, "a", w.now))) }
	}},
	{name: "delivering a send record of which all was done before", moves: terms{accepted: -1, sends: -1}, prepare: func(w *world) func() (string, error) {
		w.ok(w.PutSend(w.ctx(), store.Send{ID: "s", Stimulus: event("paid"), CreatedAt: w.now}, nil))
		sends, _, err := w.Sends(w.ctx(), "", 10)
		w.ok(err)
		return func() (string, error) { return said(w.Deliver(w.ctx(), nil, &sends[0], nil, nil, nil, nil)) }
	}},
}

// mended are repairs of weft fsck, each of one finding.
var mended = []transaction{
	{name: "repair of damaged mail", moves: terms{aside: 1, mail: -1}, prepare: func(w *world) func() (string, error) {
		w.mailed("a", "c1")
		return w.mends(w.Keys.Mail("a", "c1"), "junk")
	}},
	{name: "repair of a damaged queue item", moves: terms{aside: 1, queue: -1}, prepare: func(w *world) func() (string, error) {
		return w.mends(w.keyOf(w.queued("q", event("paid"))), "junk")
	}},
	{name: "repair of a damaged item behind a gate", moves: terms{aside: 1, queue: -1}, prepare: func(w *world) func() (string, error) {
		w.held("s", "a")
		return w.mends(w.only("queue/~gated/"), "junk")
	}},
	{name: "repair of a damaged send record", moves: terms{aside: 1, sends: -1}, prepare: func(w *world) func() (string, error) {
		w.ok(w.PutSend(w.ctx(), store.Send{ID: "s", Stimulus: event("paid"), CreatedAt: w.now}, nil))
		return w.mends(w.Keys.Send("s"), "junk")
	}},
	{name: "repair of a damaged dead letter", moves: terms{aside: 1, dead: -1}, prepare: func(w *world) func() (string, error) {
		return w.mends(w.Keys.Dead(w.dead("d").ID), "junk")
	}},
	{name: "repair of a large damaged record", moves: terms{aside: 1, mail: -1}, prepare: func(w *world) func() (string, error) {
		w.mailed("a", "c1")
		return w.mends(w.Keys.Mail("a", "c1"), random(1_500_000))
	}},
	{name: "repair of a damaged rest of a burst", prepare: func(w *world) func() (string, error) {
		w.continuing("a")
		return w.mends(w.Keys.Mail("a", workflow.ContinueID), "junk")
	}},
	{name: "repair of a damaged instance with mail", moves: terms{mail: -1, dead: 1}, prepare: func(w *world) func() (string, error) {
		w.mailed("a", "c1")
		return w.mends(w.Keys.Instance("a"), "junk")
	}},
	{name: "repair of a misplaced queue item", moves: terms{queue: -1, sends: 1}, prepare: func(w *world) func() (string, error) {
		return w.mends(w.misplaced(), "")
	}},
	{name: "repair of a parent that nothing tells", moves: terms{accepted: 1, mail: 1}, prepare: func(w *world) func() (string, error) {
		w.parentOf("gone")
		return w.mends("", "")
	}},
}

// mailed makes an instance with a command in its mailbox, and gives the create revision of that.
func (w *world) mailed(id, cmd string) (created int64) {
	w.tb.Helper()
	w.instance(id, "paid")
	b := w.look(event("paid")).Bookmarks[0]
	_, created, err := w.PutMail(w.ctx(), id, w.resume(cmd, &b, nil), &b)
	w.ok(err)
	return created
}

// consumesMail is a commit that consumes one command.
func (w *world) consumesMail(outcome workflow.Outcome, drop bool) func() (string, error) {
	w.tb.Helper()
	w.mailed("a", "c1")
	c := w.consumes(w.next("a", nil))
	c.Consumed[0].Effect.Outcome, c.Consumed[0].Drop = outcome, drop
	return func() (string, error) { return committed(w.Commit(w.ctx(), c)) }
}

// mends spoils a value, if one is given, and repairs what does not fit then.
func (w *world) mends(key, value string) func() (string, error) {
	w.tb.Helper()
	if value != "" {
		w.spoil(key, []byte(value))
	}
	first := true
	return func() (string, error) {
		repairs, err := w.Repair(w.ctx(), w.locks())
		if err == nil && len(repairs.Done) == 0 == first {
			err = fmt.Errorf("repaired: %+v, left: %+v", repairs.Done, repairs.Check.Findings)
		}
		first = false
		return "", err
	}
}

// keyOf is where a queue item lies.
func (w *world) keyOf(item *store.QueueItem) string { return w.QueueKey(item) }

// misplaced puts a queue item where it does not belong, and gives its key.
func (w *world) misplaced() string {
	w.tb.Helper()
	item := w.queued("q", event("paid"))
	at := w.keyOf(item)
	wrong := strings.Replace(at, hashOf("paid"), hashOf("other"), 1)
	_, err := w.raw.Txn(w.ctx()).Then(clientv3.OpPut(wrong, string(w.value(at))), clientv3.OpDelete(at)).Commit()
	w.ok(err)
	return wrong
}

// served makes one stimulus a command of an instance, by the way that kind says, and lets the
// instance deal with it.
func (w *world) served(i int) {
	w.tb.Helper()
	id, name := fmt.Sprint("i", i), fmt.Sprint("e", i)
	switch i % 4 {
	case 0: // mail
		w.instance(id, name)
		b := w.look(event(name)).Bookmarks[0]
		_, _, err := w.PutMail(w.ctx(), id, w.resume("c", &b, nil), &b)
		w.ok(err)
	case 1: // the queue, from which it is claimed
		item := w.queued(fmt.Sprint("q", i), event(name))
		w.instance(id, name)
		_, ok, err := w.Claim(w.ctx(), item, id, workflow.Command{ID: item.ID, Kind: workflow.CommandResume, CreatedAt: w.now})
		w.ok(err)
		if !ok {
			w.tb.Fatal("it was not claimed")
		}
	case 2: // a send record
		w.instance(id, name)
		st := event(name)
		w.ok(w.PutSend(w.ctx(), store.Send{ID: fmt.Sprint("s", i), Stimulus: st, CreatedAt: w.now}, nil))
		sends, _, err := w.Sends(w.ctx(), "", 100)
		w.ok(err)
		l, err := w.MatchAgain(w.ctx(), &sends[0], hashOf(name))
		w.ok(err)
		b := &l.Bookmarks[0]
		_, err = w.Deliver(w.ctx(), []stimuli.Delivery{{Bookmark: b, Command: w.resume(store.TargetCommand(sends[0].ID, b.ID), b, &st)}}, &sends[0], nil, nil, nil, nil)
		w.ok(err)
	case 3: // a start
		_, err := w.Create(w.ctx(), w.newInstance(id, "start", nil), nil)
		w.ok(err)
	}
	c := w.consumes(w.next(id, nil))
	if len(c.Consumed) != 1 {
		w.tb.Fatalf("%s has %d commands", id, len(c.Consumed))
	}
	c.Consumed[0].Drop = i%8 < 4 // as timers and ends of children: only the journal says it
	w.commit(ends(c))
}

// Readers that are killed at any moment, and two at a time, count everything once.
func TestTheBalanceIsTakenOverExactly(t *testing.T) {
	t.Parallel()
	n := testsize.Of[int64](48, 24)
	w := newWorld(t)
	w.balanced()
	ctx, stop := context.WithCancel(w.ctx())
	defer stop()
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for ctx.Err() == nil {
				life, kill := context.WithTimeout(ctx, time.Duration(rand.IntN(120))*time.Millisecond)
				_ = w.Reckon(life, w.reckoning(func(*store.Balance) {})) // lost answers, and that the other has counted
				kill()
			}
		})
	}
	lost := w.faults.Add(clustertest.Rule{Fault: clustertest.LoseAnswer, Prob: 0.3, Match: func(c clustertest.Call) bool { return c.PutsUnder(w.Keys.Balance()) }})
	for i := range n {
		w.served(int(i))
	}
	stop()
	readers.Wait()
	lost.Disarm()
	if b := w.balanced(); b.Accepted != n || b.Applied != n || b.Waiting != (store.Waiting{}) || b.Because != "nobody counted before" {
		t.Errorf("%d were accepted and applied: %+v", n, b)
	}
}

// A key that goes without a reason is named; a dead letter may be deleted.
func TestWhatVanishesIsNamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		put  func(w *world)
		key  string
		lost int64
	}{
		"mail": {func(w *world) {
			w.instance("a", "paid")
			b := w.look(event("paid")).Bookmarks[0]
			_, _, err := w.PutMail(w.ctx(), "a", w.resume("c", &b, nil), &b)
			w.ok(err)
		}, "mailbox/", 1},
		"a queue item": {func(w *world) { w.queued("q", event("paid")) }, "queue/", 1},
		"a send record": {func(w *world) {
			w.ok(w.PutSend(w.ctx(), store.Send{ID: "s", Stimulus: event("paid"), CreatedAt: w.now}, nil))
		}, "send/", 1},
		"a dead letter": {func(w *world) {
			w.queued("q", event("paid"))
			_, err := w.ExpireQueueItem(w.ctx(), w.inQueue()[0], time.Minute, w.now)
			w.ok(err)
		}, "dead/", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.balanced()
			c.put(w)
			w.served(0)
			if b := w.balanced(); b.Accepted != 2 || b.Applied != 1 {
				t.Errorf("before it vanishes: %+v", b)
			}
			resp, err := w.raw.Delete(w.ctx(), w.Keys.Root+c.key, clientv3.WithPrefix())
			w.ok(err)
			b := w.reckon()
			if b.Difference != c.lost || int64(len(b.Lost)) != c.lost || b.Deleted != 1-c.lost {
				t.Fatalf("%d keys went: %+v", resp.Deleted, b)
			}
			for _, l := range b.Lost {
				if !strings.HasPrefix(l.Key, c.key) || l.Revision != resp.Header.Revision {
					t.Errorf("it names %+v", l)
				}
			}
			w.served(1)
			if again := w.reckon(); again.Difference != c.lost || again.Applied != 2 {
				t.Errorf("the difference does not stay as it is: %+v", again)
			}
		})
	}
}

// Where it cannot go on, it begins again with what is there, and says why.
func TestTheBalanceBeginsAgain(t *testing.T) {
	t.Parallel()
	etcd := clustertest.Start(t)
	for because, do := range map[string]func(w *world){
		"compacted": func(w *world) {
			w.served(0)
			_, err := w.raw.Compact(w.ctx(), w.revision())
			w.ok(err)
		},
		"nobody counted": func(w *world) { w.ok(errOf(w.raw.Delete(w.ctx(), w.Keys.Balance()))) },
		"cannot be read": func(w *world) { w.ok(errOf(w.raw.Put(w.ctx(), w.Keys.Balance(), "{"))) },
		"another etcd": func(w *world) {
			b, modified, _, err := balance.Read(w.ctx(), w.Conn)
			w.ok(err)
			b.Etcd = "1f"
			_, ok, err := w.PutBalance(w.ctx(), b, modified)
			if w.ok(err); !ok {
				w.tb.Fatal("it was not put")
			}
		},
	} {
		t.Run(because, func(t *testing.T) {
			s, err := New(Config{Client: etcd.Client(t), Root: "/weft/" + clustertest.Namespace(t) + "/"})
			if err != nil {
				t.Fatal(err)
			}
			w := &world{allParts: all(s), tb: t, raw: etcd.Client(t), faults: clustertest.NewFaults(1), now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}
			w.served(1)
			w.queued("waits", event("never"))
			first := w.balanced()
			do(w)
			b := w.balanced()
			if b.Since <= first.Since || !strings.Contains(b.Because, because) {
				t.Errorf("it counts since %d, because %q; before since %d", b.Since, b.Because, first.Since)
			}
			if b.Accepted != 1 || b.Waiting != (store.Waiting{Queue: 1}) {
				t.Errorf("one stimulus waits: %+v", b)
			}
		})
	}
}

// What is missing is so where the counting begins again too.
func TestADifferenceStaysOverANewBeginning(t *testing.T) {
	t.Parallel()
	etcd := clustertest.Start(t)
	s, err := New(Config{Client: etcd.Client(t), Root: "/weft/" + clustertest.Namespace(t) + "/"})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{allParts: all(s), tb: t, raw: etcd.Client(t), faults: clustertest.NewFaults(1), now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}
	w.balanced()
	w.queued("q", event("paid"))
	w.queued("waits", event("never"))
	w.balanced()
	w.ok(errOf(w.raw.Delete(w.ctx(), w.inQueue()[0].At)))
	before := w.reckon()
	w.served(0)
	_, err = w.raw.Compact(w.ctx(), w.revision())
	w.ok(err)
	b := w.reckon()
	if b.Since <= before.Since || b.Difference != 1 || len(b.Lost) != 1 || b.Lost[0] != before.Lost[0] {
		t.Errorf("before %+v, then %+v", before, b)
	}
	w.served(1)
	if b = w.reckon(); b.Difference != 1 || b.Applied != 1 {
		t.Errorf("it does not stay: %+v", b)
	}
}

// Group commit may give a dead letter that is deleted and a queue item that is sent again one revision.
func TestADeletedDeadLetterIsNoReplayOfAQueueItem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.queued("dies", event("paid"))
	_, err := w.ExpireQueueItem(w.ctx(), w.inQueue()[0], time.Minute, w.now)
	w.ok(err)
	w.queued("q", event("paid"))
	w.balanced()
	send := store.Send{ID: store.Replayed + "x", Stimulus: event("paid"), CreatedAt: w.now}
	raw, err := db.Encode(&send)
	w.ok(err)
	resp, err := w.raw.Txn(w.ctx()).Then(
		clientv3.OpDelete(w.Keys.Deads(), clientv3.WithPrefix()), clientv3.OpDelete(w.inQueue()[0].At),
		clientv3.OpPut(w.Keys.Send(send.ID), string(raw)), clientv3.OpPut(w.Keys.CommandRecord("~send", send.ID), `{"outcome":"accepted"}`)).Commit()
	w.ok(err)
	if n := resp.Responses[0].GetResponseDeleteRange().Deleted; n != 1 {
		t.Fatalf("%d dead letters", n)
	}
	if b := w.balanced(); b.Deleted != 1 || b.Accepted != 2 || b.Waiting != (store.Waiting{Sends: 1}) {
		t.Errorf("%+v", b)
	}
}

// The rest of a burst is no accepted work, wherever the counting begins.
func TestTheRestOfABurstIsNotAccepted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.instance("a")
	on := w.next("a", nil)
	on.Continue = w.rest()
	w.commit(on)
	if b := w.balanced(); b.Accepted != 0 || b.Rests != 1 {
		t.Errorf("where it begins: %+v", b)
	}
	w.instance("b")
	on = w.next("b", nil)
	on.Continue = w.rest()
	w.commit(on)
	if b := w.balanced(); b.Accepted != 0 || b.Rests != 2 {
		t.Errorf("where it comes: %+v", b)
	}
	last := w.consumes(w.next("a", nil))
	last.Consumed[0].Drop = true
	w.commit(last)
	if b := w.balanced(); b.Accepted != 0 || b.Rests != 1 {
		t.Errorf("where it goes: %+v", b)
	}
}

// A balance that was read before another was put is not put.
func TestAStaleBalanceIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.balanced()
	b, modified, _, err := balance.Read(w.ctx(), w.Conn)
	w.ok(err)
	for _, want := range []bool{true, false} {
		_, ok, err := w.PutBalance(w.ctx(), b, modified)
		if w.ok(err); ok != want {
			t.Errorf("put: %t, want %t", ok, want)
		}
	}
}
