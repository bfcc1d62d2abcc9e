package etcdstore

import (
	"context"
	"testing"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/upkeep"
)

// leaveTold has an instance leave for who asks what webhooks have told, and tells whether it did.
func (w *world) leaveTold(told *upkeep.Told, id string) bool {
	w.tb.Helper()
	left, err := w.Purge(w.ctx(), []Leaving{{ID: id, Early: true, Told: told}}, w.lockOf, func(_ context.Context, some []Ended) error {
		if len(some) == 0 {
			w.tb.Error("nothing is archived")
		}
		return nil
	})
	w.ok(err)
	return len(left) == 1
}

func (w *world) told() *upkeep.Told {
	w.tb.Helper()
	told, err := upkeep.ReadTold(w.ctx(), w.Upkeep)
	w.ok(err)
	return told
}

// What a webhook has not told stays: if etcd compacts its log, it lists what is there.
func TestWhatWasNotToldStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.ended("before")
	hook := &store.Webhook{Name: "h", URL: "http://example.org", On: []store.WebhookKind{store.WebhookEnded, store.WebhookDeadLetter}}
	if ok, err := w.Webhooks.PutWebhook(w.ctx(), hook); err != nil || !ok {
		t.Fatal(ok, err)
	}
	after := w.ended("after")
	told := w.told()
	if told.UpTo() < before.Modified || told.UpTo() >= after.Modified {
		t.Errorf("told up to %d; before is of %d, after of %d", told.UpTo(), before.Modified, after.Modified)
	}
	if !w.leaveTold(told, "before") || w.leaveTold(told, "after") {
		t.Error("what was there before the webhook goes, and what came after it stays")
	}
	hook, at, _, _, err := w.Webhooks.Webhook(w.ctx(), "h")
	w.ok(err)
	move := func(of string, to int64) {
		t.Helper()
		at.At[of] = to
		if ok, err := w.Webhooks.Advance(w.ctx(), hook, at); err != nil || !ok {
			t.Fatal(ok, err)
		}
	}
	move("index/Cancelled/", after.Modified)
	if told := w.told(); told.UpTo() < after.Modified || w.leaveTold(told, "after") {
		t.Error("another list was told, and not that in which it is")
	}
	move("index/Finished/", after.Modified)
	if !w.leaveTold(w.told(), "after") {
		t.Error("it is told, and stays")
	}
	w.sound()
}

// A position that a newer program wrote says nothing to this one.
func TestWhoseTellingIsNotUnderstoodKeepsAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.raw.Put(w.ctx(), w.Keys.WebhookAt("newer"), `{"at":{"index/Finished/":99999999},"new":1}`)
	w.ok(err)
	if told := w.told(); told.UpTo() != 0 {
		t.Errorf("told up to %d", told.UpTo())
	}
}
