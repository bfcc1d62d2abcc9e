package etcdstore

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/store/etcdstore/stimuli"
	"github.com/weft-run/weft/pkg/workflow"
)

func TestAQueueItemIsClaimedByOneInstance(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	item := w.queued("i", event("paid"))
	w.instance("a", "paid")
	w.instance("b", "paid")
	cmd := workflow.Command{ID: "i", Kind: workflow.CommandResume, CreatedAt: w.now}
	for id, want := range map[string]bool{"gone": false} {
		if _, ok, err := w.Claim(w.ctx(), item, id, cmd); err != nil || ok != want {
			t.Errorf("%s: %t, %v", id, ok, err)
		}
	}
	created, ok, err := w.Claim(w.ctx(), item, "a", cmd)
	if err != nil || !ok || created != w.mailOf("a")[0].Created {
		t.Errorf("%d, %t, %v", created, ok, err)
	}
	if _, ok, err := w.Claim(w.ctx(), item, "b", cmd); err != nil || ok {
		t.Errorf("a second instance: %t, %v", ok, err)
	}
	w.want("queue/", 0)
	w.want("timer/", 0)
	w.want("mailbox/", 1)
}

func TestACommandThatTookEffectIsNotClaimedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.instance("a", "paid")
	b := w.look(event("paid")).Bookmarks[0]
	_, _, err := w.PutMail(w.ctx(), "a", w.resume("i", &b, nil), &b)
	w.ok(err)
	w.commit(w.consumes(w.next("a", nil)))
	item := w.queued("i", event("other"))
	if _, ok, err := w.Claim(w.ctx(), item, "a", workflow.Command{ID: "i"}); err != nil || ok {
		t.Errorf("%t, %v", ok, err)
	}
}

// A stimulus that is sent on for a trigger, which is gone when it arrives, goes
// back to where it was, under its old id.
func TestARequeuedStimulusCanBeQueuedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	item := w.queued("i", event("paid"))
	if ok, err := w.Requeue(w.ctx(), item); err != nil || !ok {
		t.Fatalf("%t, %v", ok, err)
	}
	sends, _, err := w.Sends(w.ctx(), "", 10)
	w.ok(err)
	l, err := w.MatchAgain(w.ctx(), &sends[0], item.Hash)
	w.ok(err)
	if ok, err := w.Enqueue(w.ctx(), w.item("i", event("paid")), l); err != nil || !ok {
		t.Fatalf("%t, %v", ok, err)
	}
	w.want("send/", 0)
	w.want("queue/", 1)
}

func TestASentStimulusIsNotQueuedBesideABookmarkThatAppeared(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ok(w.PutSend(w.ctx(), store.Send{ID: "s", Stimulus: event("paid"), CreatedAt: w.now}, nil))
	sends, _, err := w.Sends(w.ctx(), "", 10)
	w.ok(err)
	l, err := w.MatchAgain(w.ctx(), &sends[0], hashOf("paid"))
	w.ok(err)
	w.instance("a", "paid")
	if ok, err := w.Enqueue(w.ctx(), w.item("s", event("paid")), l); err != nil || ok {
		t.Errorf("%t, %v", ok, err)
	}
	w.want("send/", 1)
}

func TestAnExpiredItemIsADeadLetterUnlessItWasClaimed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.queued("i", event("paid"))
	claimed := w.queued("j", event("shipped"))
	due := w.inQueue()
	w.instance("a", "shipped")
	_, ok, err := w.Claim(w.ctx(), claimed, "a", workflow.Command{ID: "j"})
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	n := 0
	for _, d := range due {
		reason, err := w.ExpireQueueItem(w.ctx(), d, time.Minute, w.now)
		w.ok(err)
		if reason == workflow.DeadExpired {
			n++
		}
	}
	d, err := w.DeadLetter(w.ctx(), record.StimulusDeadID("i", w.now))
	if n != 1 || err != nil || d == nil || d.Reason != workflow.DeadExpired || d.Stimulus == nil || !strings.Contains(d.Detail, "1m0s") {
		t.Errorf("%d expired, %+v, %v", n, d, err)
	}
	w.want("dead/", 1)
	w.want("queue/", 0)
	w.want("timer/", 0)
}

func TestPutMailTellsWhatBecameOfTheCommand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.instance("a", "paid", "paid")
	bs := w.look(event("paid")).Bookmarks
	put := func(cmd string, b *store.BookmarkRef, want record.PutOutcome) {
		t.Helper()
		if out, _, err := w.PutMail(w.ctx(), "a", w.resume(cmd, b, nil), b); err != nil || out != want {
			t.Errorf("command %s: outcome %d, %v, want %d", cmd, out, err, want)
		}
	}
	put("c1", &bs[0], record.PutDone)
	put("c1", &bs[0], record.PutDone)
	c := w.consumes(w.next("a", nil))
	c.Burned, c.After.Header.Bookmarks = c.Before.Header.Bookmarks[:1], c.Before.Header.Bookmarks[1:]
	w.commit(c)
	put("c1", &bs[0], record.PutConsumed)
	put("c2", &bs[0], record.PutGone)
	put("c3", &bs[1], record.PutDone)
	l := w.look(addressedTo("paid", "a"))
	if len(l.Bookmarks) != 1 || l.Bookmarks[0].ID != bs[1].ID {
		t.Fatalf("addressed: %+v", l.Bookmarks)
	}
	put("c4", &l.Bookmarks[0], record.PutDone)
	w.burn("a")
	put("c5", &l.Bookmarks[0], record.PutGone)
}

func TestADeliveryIsForAllItsTargetsOrNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.instance("a", "paid")
	w.instance("b", "paid")
	l := w.look(event("paid"))
	to := []stimuli.Delivery{{Bookmark: &l.Bookmarks[0], Command: w.resume("c0", &l.Bookmarks[0], nil)}, {Bookmark: &l.Bookmarks[1], Command: w.resume("c1", &l.Bookmarks[1], nil)}}
	w.burn("b")
	if ok, err := w.Deliver(w.ctx(), to, nil, nil, nil, nil, nil); err != nil || ok {
		t.Errorf("%t, %v", ok, err)
	}
	w.want("mailbox/", 0)
	// As many new instances as one delivery takes, with all that each can have.
	var starts []stimuli.Delivery
	for range stimuli.MaxDeliveries {
		n := w.newInstance(w.id("new"), w.id("start"), nil)
		n.Header.CorrelationID, n.Command.Start.Head = "k", 0
		starts = append(starts, stimuli.Delivery{New: n, Command: n.Command})
	}
	key := &workflow.CommandKey{Name: "k", BodyHash: "h"}
	if ok, err := w.Deliver(w.ctx(), starts, nil, nil, nil, key, &store.Answer{BodyHash: "h"}); err != nil || !ok {
		t.Errorf("%t, %v", ok, err)
	}
	w.want("mailbox/", stimuli.MaxDeliveries)
	w.want("by-correlation/", stimuli.MaxDeliveries)
	if ok, err := w.Deliver(w.ctx(), to[:1], nil, nil, nil, key, &store.Answer{BodyHash: "h"}); err != nil || ok {
		t.Errorf("with a key that was used: %t, %v", ok, err)
	}
}

func TestPutSendUsesTheCallersKeyOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	key := &workflow.CommandKey{Name: "k", BodyHash: "h"}
	w.ok(w.PutSend(w.ctx(), store.Send{ID: "s", CreatedAt: w.now, Key: key}, &store.Answer{BodyHash: "h", Queued: "s"}))
	if err := w.PutSend(w.ctx(), store.Send{ID: "twin", CreatedAt: w.now, Key: key}, &store.Answer{BodyHash: "h"}); !errors.Is(err, store.ErrConflict) {
		t.Errorf("error %v, want conflict", err)
	}
	if a, err := w.Stimuli.Answer(w.ctx(), "k"); err != nil || a == nil || a.Queued != "s" {
		t.Errorf("%+v, %v", a, err)
	}
	w.want("send/", 1)
}

func TestAnExpiryEntryTakesOnlyTheRecordThatItWasWrittenWith(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	item := w.item("i", event("paid"))
	item.Key = &workflow.CommandKey{Name: "k", BodyHash: "h"}
	if ok, err := w.Enqueue(w.ctx(), item, w.look(event("paid"))); err != nil || !ok {
		t.Fatal(ok, err)
	}
	w.later(12 * time.Hour) // the answer becomes final
	w.instance("a")
	c := w.next("a", nil)
	c.Consumed = []store.Consumed{{Command: workflow.Command{ID: "i", Key: item.Key}, Created: 1, Answer: &store.Answer{BodyHash: "h"}}}
	w.commit(c)
	for _, step := range []struct {
		after time.Duration
		left  int
	}{{13 * time.Hour, 1}, {12 * time.Hour, 0}} {
		w.expire(w.later(step.after))
		w.want("idem/k/", step.left)
	}
	w.want("idem-expiry/", 0)
	w.want("idem/", 0)
}

func TestErrorsThatSayNothingAboutEarlierCopiesAreUnknown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want error // nil: definite
	}{
		{rpctypes.ErrTooManyRequests, db.ErrUnknown},
		{rpctypes.ErrNoSpace, db.ErrUnknown},
		{rpctypes.ErrTimeout, db.ErrUnknown},
		{status.Error(codes.Unavailable, "gone"), db.ErrUnknown},
		{status.Error(codes.Canceled, "cancelled"), db.ErrUnknown},
		{rpctypes.ErrRequestTooLarge, db.ErrTooLarge},
		{status.Error(codes.ResourceExhausted, "trying to send message larger than max"), db.ErrTooLarge},
		{rpctypes.ErrDuplicateKey, nil},
		{rpctypes.ErrTooManyOps, nil},
	} {
		got := db.Classify(c.err)
		for _, kind := range []error{db.ErrUnknown, db.ErrTooLarge} {
			if errors.Is(got, kind) != (kind == c.want) { //nolint:errorlint // these are the sentinels themselves
				t.Errorf("%v became %v, want %v", c.err, got, c.want)
			}
		}
	}
}
