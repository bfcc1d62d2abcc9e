package etcdstore

import (
	"slices"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// Each transaction of a webhook takes effect once, and none after its webhook is gone.
func TestTransactionsOfWebhooks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := w.Webhooks
	did := w.did
	put := func() *store.Webhook {
		t.Helper()
		hook := &store.Webhook{Name: "h", On: []store.WebhookKind{store.WebhookEnded}}
		did(true)(h.PutWebhook(w.ctx(), hook))
		did(false)(h.PutWebhook(w.ctx(), &store.Webhook{Name: "h", On: hook.On})) // somebody else made it
		again := *hook
		did(true)(h.PutWebhook(w.ctx(), &again))
		did(false)(h.PutWebhook(w.ctx(), hook)) // as it was read before
		is, _, _, _, err := h.Webhook(w.ctx(), "h")
		w.ok(err)
		return is
	}
	read := func() (at *store.WebhookPosition, due, failed int64) {
		t.Helper()
		_, at, due, failed, err := h.Webhook(w.ctx(), "h")
		w.ok(err)
		return at, due, failed
	}
	hook := put()
	at, _, _ := read()
	stale := *at
	letter := func(id string) store.WebhookLetter {
		return store.WebhookLetter{ID: id, Webhook: hook.Created, Events: []store.WebhookEvent{{ID: "e"}}, At: w.now, Due: w.now}
	}
	did(true)(h.Advance(w.ctx(), hook, at, letter("one"), letter("two")))
	did(false)(h.Advance(w.ctx(), hook, &stale, letter("three"))) // another node told it
	did(true)(h.Advance(w.ctx(), hook, at))
	letters, all, err := h.Letters(w.ctx(), hook, 10)
	w.ok(err)
	if len(letters) != 2 || all != 2 || !letters[0].Due.Equal(w.now.Truncate(time.Millisecond)) {
		t.Fatalf("%+v, %d", letters, all)
	}
	one, two := letters[0], letters[1]
	left := one
	left.Due, left.Attempts = w.now.Add(time.Hour), 1
	did(true)(h.Settle(w.ctx(), hook, &one, &left, false))
	did(false)(h.Settle(w.ctx(), hook, &one, &left, false)) // another node was at it
	did(true)(h.Settle(w.ctx(), hook, &two, &two, true))
	if _, due, failed := read(); due != 1 || failed != 1 {
		t.Errorf("%d due, %d failed", due, failed)
	}
	given, end, err := h.Failed(w.ctx(), "h", "", 10)
	if w.ok(err); len(given) != 1 || given[0].ID != "two" || end.Next != "" {
		t.Fatalf("%+v %+v", given, end)
	}
	did(true)(h.Replay(w.ctx(), hook, &given[0], w.now, false))
	did(false)(h.Replay(w.ctx(), hook, &given[0], w.now, false))
	letters, _, err = h.Letters(w.ctx(), hook, 10)
	w.ok(err)
	did(true)(h.Settle(w.ctx(), hook, &letters[0], &letters[0], true))
	given, _, err = h.Failed(w.ctx(), "h", "", 10)
	w.ok(err)

	// One that is deleted is told no more, and neither is one of its name.
	did(false)(h.DeleteWebhook(w.ctx(), "h", hook.Modified-1))
	at, _, _ = read()
	did(true)(h.DeleteWebhook(w.ctx(), "h", hook.Modified))
	for _, prefix := range []string{"webhook/", "webhook-at/", "webhook-due/", "webhook-failed/"} {
		w.want(prefix, 0)
	}
	for i := range 2 {
		did(false)(h.Advance(w.ctx(), hook, &store.WebhookPosition{}, letter("four")))
		did(false)(h.Advance(w.ctx(), hook, at, letter("four")))
		did(false)(h.Settle(w.ctx(), hook, &letters[0], &letters[0], false))
		did(false)(h.Replay(w.ctx(), hook, &given[0], w.now, false))
		if i == 0 {
			if put().Created == hook.Created {
				t.Fatal("it is the same one")
			}
			at, _, _ = read() // the old one's node reads the new one's position
		}
	}
	is, _, _, _, err := h.Webhook(w.ctx(), "h")
	w.ok(err)
	own := letter("five")
	own.Webhook = is.Created
	at, _, _ = read()
	did(true)(h.Advance(w.ctx(), is, at, own))
	w.ok(h.dropLetters(w.ctx(), "h", w.keys.webhookDues("h"))) // a late one, of the webhook before
	w.want("webhook-due/", 1)
}

// Its letters go after it: of one that is still there nothing is put any more, neither beside no webhook
// nor beside another one of its name.
func TestALetterOfAWebhookThatIsGone(t *testing.T) {
	t.Parallel()
	for name, another := range map[string]bool{"none of its name": false, "another of its name": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			h := w.Webhooks
			put := func() *store.Webhook {
				w.did(true)(h.PutWebhook(w.ctx(), &store.Webhook{Name: "h", On: []store.WebhookKind{store.WebhookEnded}}))
				is, _, _, _, err := h.Webhook(w.ctx(), "h")
				w.ok(err)
				return is
			}
			hook := put()
			_, at, _, _, err := h.Webhook(w.ctx(), "h")
			w.ok(err)
			letter := func(id string) store.WebhookLetter {
				return store.WebhookLetter{ID: id, Webhook: hook.Created, Events: []store.WebhookEvent{{ID: "e"}}, At: w.now, Due: w.now}
			}
			w.did(true)(h.Advance(w.ctx(), hook, at, letter("one"), letter("two")))
			letters, _, err := h.Letters(w.ctx(), hook, 10)
			w.ok(err)
			w.did(true)(h.Settle(w.ctx(), hook, &letters[1], &letters[1], true))
			failed, _, err := h.Failed(w.ctx(), "h", "", 10)
			w.ok(err)
			w.ok(errOf(w.raw.Delete(w.ctx(), w.keys.webhook("h")))) // as its delete does first
			if another {
				put()
			}
			later := letters[0]
			later.Due = w.now.Add(time.Hour)
			w.did(false)(h.Settle(w.ctx(), hook, &letters[0], &later, false))
			w.did(false)(h.Settle(w.ctx(), hook, &letters[0], &letters[0], true))
			w.did(false)(h.Replay(w.ctx(), hook, &failed[0], w.now, false))
			w.want("webhook-due/", 1)
			w.want("webhook-failed/", 1)
			// What leaves nothing behind needs no webhook.
			w.did(true)(h.Settle(w.ctx(), hook, &letters[0], nil, false))
			w.did(true)(h.Replay(w.ctx(), hook, &failed[0], w.now, true))
			w.want("webhook-due/", 0)
			w.want("webhook-failed/", 0)
		})
	}
}

// There are so many and no more.
func TestAsManyWebhooksAsMayBe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range MaxWebhooks + 1 {
		ok, err := w.Webhooks.PutWebhook(w.ctx(), &store.Webhook{Name: workflow.DeriveID("h", string(rune(i))), On: []store.WebhookKind{store.WebhookEnded}})
		if ok != (i < MaxWebhooks) || (err != nil) == ok {
			t.Fatalf("number %d: %t %v", i, ok, err)
		}
	}
	all, err := w.Webhooks.List(w.ctx())
	if w.ok(err); len(all) != MaxWebhooks {
		t.Errorf("%d webhooks", len(all))
	}
}

// A webhook watches what it tells, and nothing else.
func TestRangesOfWebhooks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		w    store.Webhook
		want []string
	}{
		{store.Webhook{On: []store.WebhookKind{store.WebhookEnded, store.WebhookFaulted}}, []string{"index/Cancelled/", "index/Faulted/", "index/Finished/"}},
		{store.Webhook{On: []store.WebhookKind{store.WebhookFaulted}, Definitions: []string{"b", "a"}}, []string{"index/Faulted/a/", "index/Faulted/b/"}},
		{store.Webhook{On: []store.WebhookKind{store.WebhookDeadLetter}}, []string{"dead/"}},
		{store.Webhook{On: []store.WebhookKind{store.WebhookIncident, store.WebhookFaulted}}, []string{"incident/", "index/Faulted/"}},
		{store.Webhook{On: []store.WebhookKind{store.WebhookIncident}, Definitions: []string{"b", "a"}}, []string{"incident/a/", "incident/b/"}},
		{store.Webhook{On: []store.WebhookKind{"of a newer program", store.WebhookFaulted}}, []string{"index/Faulted/"}},
		{store.Webhook{On: []store.WebhookKind{"of a newer program"}}, nil},
	} {
		if got := WebhookRanges(&c.w); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v", c.w, got)
		}
	}
}

// A position with what only a newer program knows stays as it is.
func TestAPositionOfANewerProgramIsNotAdvanced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hook := &store.Webhook{Name: "h", On: []store.WebhookKind{store.WebhookEnded}}
	if ok, err := w.Webhooks.PutWebhook(w.ctx(), hook); err != nil || !ok {
		t.Fatal(ok, err)
	}
	newer := `{"newer":{"x":1},` + string(w.value(w.keys.webhookAt("h"))[1:])
	w.spoil(w.keys.webhookAt("h"), []byte(newer))
	hook, at, _, _, err := w.Webhooks.Webhook(w.ctx(), "h")
	if w.ok(err); !at.Foreign {
		t.Errorf("it is read as %+v", at)
	}
	_, to, err := w.Webhooks.Collect(w.ctx(), hook, at, 1, time.Millisecond)
	w.ok(err)
	if ok, err := w.Webhooks.Advance(w.ctx(), hook, to); ok || err != nil {
		t.Error("it was advanced", err)
	}
	if is := string(w.value(w.keys.webhookAt("h"))); is != newer {
		t.Errorf("it became %s", is)
	}
}
