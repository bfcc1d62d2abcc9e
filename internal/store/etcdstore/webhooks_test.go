package etcdstore

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/store/etcdstore/webhooks"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
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
	w.ok(h.DropLetters(w.ctx(), "h", w.Keys.WebhookDues("h"))) // a late one, of the webhook before
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
			w.ok(errOf(w.raw.Delete(w.ctx(), w.Keys.Webhook("h")))) // as its delete does first
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

// A change is made of the position as it was read: one that was told in between is changed again.
func TestAChangeOfAWebhookThatIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	teller, err := New(Config{Client: w.raw, Root: w.Keys.Root})
	w.ok(err)
	hook := &store.Webhook{Name: "h", On: []store.WebhookKind{store.WebhookEnded}}
	w.did(true)(w.Webhooks.PutWebhook(w.ctx(), hook))
	w.faults.Add(clustertest.Rule{Times: 1, Match: func(c clustertest.Call) bool {
		if !c.PutsUnder(w.Keys.Webhook("h")) {
			return false
		}
		is, at, _, _, err := teller.Webhooks.Webhook(w.ctx(), "h")
		w.ok(err)
		at.At["index/Finished/"]++
		w.did(true)(teller.Webhooks.Advance(w.ctx(), is, at))
		return true
	}, Fault: clustertest.DelayBefore})
	changed := *hook
	changed.On = append(changed.On, store.WebhookDeadLetter)
	w.did(false)(w.Webhooks.PutWebhook(w.ctx(), &changed))
	changed.Modified = hook.Modified
	w.did(true)(w.Webhooks.PutWebhook(w.ctx(), &changed))
}

// There are so many and no more.
func TestAsManyWebhooksAsMayBe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range webhooks.Max + 1 {
		ok, err := w.Webhooks.PutWebhook(w.ctx(), &store.Webhook{Name: workflow.DeriveID("h", string(rune(i))), On: []store.WebhookKind{store.WebhookEnded}})
		if ok != (i < webhooks.Max) || (err != nil) == ok {
			t.Fatalf("number %d: %t %v", i, ok, err)
		}
	}
	all, err := w.Webhooks.List(w.ctx())
	if w.ok(err); len(all) != webhooks.Max {
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
		if got := webhooks.Ranges(&c.w); !slices.Equal(got, c.want) {
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
	newer := `{"newer":{"x":1},` + string(w.value(w.Keys.WebhookAt("h"))[1:])
	w.spoil(w.Keys.WebhookAt("h"), []byte(newer))
	hook, at, _, _, err := w.Webhooks.Webhook(w.ctx(), "h")
	if w.ok(err); !at.Foreign {
		t.Errorf("it is read as %+v", at)
	}
	_, to, err := w.Webhooks.Collect(w.ctx(), hook, at, 1, time.Millisecond)
	w.ok(err)
	if ok, err := w.Webhooks.Advance(w.ctx(), hook, to); ok || err != nil {
		t.Error("it was advanced", err)
	}
	if is := string(w.value(w.Keys.WebhookAt("h"))); is != newer {
		t.Errorf("it became %s", is)
	}
}

// What a webhook tells counts from the change on that asks for it, and stays asked for through every later change
// that asks for it too, whether anything was told in between or not.
func TestNothingIsLostByChangesOfAWebhook(t *testing.T) {
	t.Parallel()
	etcd := clustertest.Start(t) // which forgets
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { newChanging(t, etcd, seed).walk(40) })
	}
}

// changing is a webhook that is changed at random, and what it owes.
type changing struct {
	*world
	rnd  *rand.Rand
	hook store.Webhook
	n    int
	owed map[string]changingEvent // by subject: asked for when it came, and by every change since
	all  map[string]bool          // that were ever owed
	told map[string]bool
}

type changingEvent struct {
	kind       store.WebhookKind // Faulted, Ended (which is a Finished), DeadLetter
	definition string
	key        string
}

func newChanging(t *testing.T, etcd *clustertest.Etcd, seed uint64) *changing {
	t.Helper()
	c := &changing{world: newWorldOn(t, etcd), rnd: rand.New(rand.NewPCG(seed, 31)), owed: map[string]changingEvent{}, all: map[string]bool{}, told: map[string]bool{}}
	c.hook.Name = "h"
	return c
}

func (c *changing) wants(e changingEvent) bool {
	if e.kind == store.WebhookDeadLetter {
		return c.hook.Tells(e.kind)
	}
	if len(c.hook.Definitions) > 0 && !slices.Contains(c.hook.Definitions, e.definition) {
		return false
	}
	return c.hook.Tells(store.WebhookEnded) || e.kind == store.WebhookFaulted && c.hook.Tells(store.WebhookFaulted)
}

func (c *changing) change() {
	kinds := []store.WebhookKind{store.WebhookFaulted, store.WebhookEnded, store.WebhookDeadLetter}
	c.hook.On, c.hook.Definitions = nil, nil
	for _, k := range kinds {
		if c.rnd.IntN(2) == 0 {
			c.hook.On = append(c.hook.On, k)
		}
	}
	if len(c.hook.On) == 0 {
		c.hook.On = kinds[:1]
	}
	for _, def := range []string{"order", "order2", "bill"} {
		if c.rnd.IntN(3) == 0 {
			c.hook.Definitions = append(c.hook.Definitions, def)
		}
	}
	c.hook.Paused = c.rnd.IntN(2) == 0
	c.did(true)(c.Webhooks.PutWebhook(c.ctx(), &c.hook))
	for subject, e := range c.owed {
		if !c.wants(e) {
			delete(c.owed, subject)
		}
	}
}

func (c *changing) happen() {
	c.n++
	subject := fmt.Sprintf("s%03d", c.n)
	e := changingEvent{kind: []store.WebhookKind{store.WebhookFaulted, store.WebhookEnded, store.WebhookDeadLetter}[c.rnd.IntN(3)],
		definition: []string{"order", "order2", "bill"}[c.rnd.IntN(3)]}
	switch e.kind {
	case store.WebhookDeadLetter:
		e.key = c.Keys.Dead(subject)
	case store.WebhookFaulted:
		e.key = c.Keys.IndexEntry(&workflow.Instance{ID: subject, DefinitionID: e.definition, Version: 1, SubStatus: workflow.Faulted, CreatedAt: c.now})
	default:
		e.key = c.Keys.IndexEntry(&workflow.Instance{ID: subject, DefinitionID: e.definition, Version: 1, SubStatus: workflow.Finished, CreatedAt: c.now})
	}
	c.ok(errOf(c.raw.Put(c.ctx(), e.key, "1")))
	if c.wants(e) {
		c.owed[subject], c.all[subject] = e, true
	}
}

// tell tells all that there is.
func (c *changing) tell() {
	c.tb.Helper()
	for range 50 {
		w, at, _, _, err := c.Webhooks.Webhook(c.ctx(), "h")
		c.ok(err)
		events, to, err := c.Webhooks.Collect(c.ctx(), w, at, 1+c.rnd.IntN(20), time.Millisecond)
		c.ok(err)
		for _, e := range events {
			c.told[e.Subject] = true
			delete(c.owed, e.Subject)
			if !c.all[e.Subject] {
				c.tb.Fatalf("%s is told, which nobody asked for: %+v", e.Subject, e)
			}
		}
		c.did(true)(c.Webhooks.Advance(c.ctx(), w, to))
		if len(events) == 0 && len(to.Behind) == 0 && len(c.owed) == 0 {
			return
		}
	}
	c.tb.Fatalf("it owes %v, of %+v", slices.Sorted(maps.Keys(c.owed)), c.hook)
}

func (c *changing) walk(steps int) {
	c.change()
	for range steps {
		switch n := c.rnd.IntN(20); {
		case n < 12:
			c.happen()
		case n < 18:
			c.change()
		case n == 18: // etcd forgets: what is there is listed
			if _, err := c.raw.Compact(c.ctx(), c.revision()); !errors.Is(err, db.ErrCompacted) { // it has by now
				c.ok(err)
			}
		default:
			c.tell()
		}
	}
	c.tell()
}

func (c *changing) revision() int64 {
	resp, err := c.raw.Get(c.ctx(), "x", clientv3.WithCountOnly())
	c.ok(err)
	return resp.Header.Revision
}

// An event keeps its id where etcd was restored, and what came after the backup is done again.
func TestTheIDOfAnEventOutlivesARestore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hook := &store.Webhook{Name: "h", Created: 7}
	h := workflow.Instance{ID: "i", DefinitionID: "order", Version: 1, Status: workflow.StatusFinished, SubStatus: workflow.Finished, CreatedAt: w.now}
	note, err := db.Encode(record.IncidentNote{New: 1, At: w.now, Made: w.now})
	w.ok(err)
	later, err := db.Encode(record.IncidentNote{New: 1, At: w.now.Add(time.Hour), Made: w.now})
	w.ok(err)
	other, err := db.Encode(record.IncidentNote{New: 1, At: w.now, Made: w.now.Add(time.Second)})
	w.ok(err)
	id := func(key string, revision int64, value []byte) string {
		e, ok := w.Webhooks.EventOf(hook, &mvccpb.KeyValue{Key: []byte(key), ModRevision: revision, Value: value})
		if !ok {
			t.Fatalf("%s says nothing", key)
		}
		return e.ID
	}
	end, incident, dead := w.Keys.IndexEntry(&h), w.Keys.Incident("order", "i", 3), w.Keys.Dead("d")
	for name, same := range map[string][2]string{
		"an end":               {id(end, 10, []byte("4")), id(end, 20, []byte("4"))},
		"an incident":          {id(incident, 10, note), id(incident, 20, later)},
		"a dead letter":        {id(dead, 10, nil), id(dead, 20, nil)},
		"of an older program":  {id(end, 10, nil), id(end, 10, nil)},
		"a note of older ones": {id(incident, 10, []byte(`{"new":1}`)), id(incident, 10, []byte(`{"new":1}`))},
	} {
		if same[0] != same[1] {
			t.Errorf("%s: the same event has two ids", name)
		}
	}
	for name, two := range map[string][2]string{
		"a second end":                       {id(end, 10, []byte("4")), id(end, 20, []byte("6"))},
		"an incident of another of that id":  {id(incident, 10, note), id(incident, 20, other)},
		"a second end as older programs put": {id(end, 10, nil), id(end, 20, nil)},
	} {
		if two[0] == two[1] {
			t.Errorf("%s: two events have one id", name)
		}
	}
	cmd := workflow.Command{ID: "c", CreatedAt: w.now}
	again := cmd
	again.Replays = 1
	if record.DeadID("i", &cmd) == record.DeadID("i", &again) {
		t.Error("a command that was sent again and could not be done again has the dead letter of before")
	}
}
