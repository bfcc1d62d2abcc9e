package etcdstore

import (
	"fmt"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

func (w *world) incident(message string) workflow.Incident {
	w.ids++
	return workflow.Incident{ActivityID: "a", Message: message, Time: w.now.Add(time.Duration(w.ids) * time.Microsecond)}
}

func TestNewIncidentsAreCounted(t *testing.T) {
	t.Parallel()
	some := func(from, to int) *workflow.Instance {
		h := &workflow.Instance{}
		for i := from; i < to; i++ {
			h.Incidents = append(h.Incidents, workflow.Incident{Message: "m", Time: time.Unix(int64(i/2), 0), ContextID: fmt.Sprint(i)})
		}
		return h
	}
	elsewhere := some(0, 3)
	for i := range elsewhere.Incidents {
		elsewhere.Incidents[i].Time = elsewhere.Incidents[i].Time.In(time.FixedZone("x", 3600))
	}
	for _, c := range []struct {
		before, after *workflow.Instance
		want          int
	}{
		{nil, some(0, 0), 0},
		{nil, some(0, 2), 2},
		{some(0, 0), some(0, 1), 1},
		{some(0, 3), some(0, 3), 0},
		{elsewhere, some(0, 3), 0},
		{some(0, 3), some(0, 4), 1},
		{some(0, 50), some(1, 51), 1},    // the oldest is forgotten
		{some(0, 50), some(50, 100), 50}, // all are
		{some(0, 50), some(60, 110), 50}, // and some that nobody saw
		{some(0, 3), some(10, 12), 2},    // an import
		{some(0, 3), some(0, 0), 0},      // one that has none
		{some(0, 3), some(2, 3), 0},      // one that forgot
	} {
		if got := record.NewIncidents(c.before, c.after); got != c.want {
			t.Errorf("%d after %v: %d are new, want %d", len(c.after.Incidents), c.before, got, c.want)
		}
	}
}

// hook puts a webhook that is told of incidents.
func (w *world) hook(name string, definitions ...string) *store.Webhook {
	w.tb.Helper()
	hook := &store.Webhook{Name: name, On: []store.WebhookKind{store.WebhookIncident}, Definitions: definitions}
	w.rehook(hook)
	return hook
}

func (w *world) rehook(hook *store.Webhook) {
	w.tb.Helper()
	ok, err := w.Webhooks.PutWebhook(w.ctx(), hook)
	if w.ok(err); !ok {
		w.tb.Fatal("it is not as it was read")
	}
}

func TestIncidentsAreNotedWhereAWebhookWantsThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	notes, commits := 0, 0
	breaks := func(noted bool) {
		t.Helper()
		commits++
		id := fmt.Sprintf("i%d", commits)
		w.instance(id)
		c := w.next(id, nil)
		c.After.Header.Incidents = append(c.After.Header.Incidents, w.incident("no"))
		w.commit(c)
		if noted {
			notes++
		}
		w.want("incident/", notes)
	}
	breaks(false) // nobody wants it
	other := w.hook("other", "shipping", "billing")
	ends := &store.Webhook{Name: "ends", On: []store.WebhookKind{store.WebhookEnded, store.WebhookFaulted}}
	w.rehook(ends)
	w.want("incident-wanted/", 2)
	breaks(false)
	all := w.hook("all")
	breaks(true)
	one := w.hook("one", "order")
	breaks(true)
	all.Definitions = []string{"billing"}
	w.rehook(all)
	breaks(true) // as one wants it
	one.On = ends.On
	w.rehook(one)
	breaks(false)
	w.want("incident-wanted/", 3)
	ends.On = append(ends.On, store.WebhookIncident)
	w.rehook(ends)
	breaks(true)
	ends.Paused = true // what happens until it goes on is told then
	w.rehook(ends)
	breaks(true)
	for _, hook := range []*store.Webhook{other, all, one, ends} {
		if ok, err := w.Webhooks.DeleteWebhook(w.ctx(), hook.Name, hook.Modified); err != nil || !ok {
			t.Fatal(ok, err)
		}
	}
	w.want("incident-wanted/", 0)
	breaks(false)
}

// A node that knows nothing of incidents deletes and changes webhooks, and leaves behind that they
// are wanted: the next one that is put or deleted takes it along, and nothing of another.
func TestWhatAnOlderNodeLeavesWantedGoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	left := func(keys ...string) {
		t.Helper()
		for _, key := range keys {
			if _, err := w.Client.Put(w.ctx(), key, ""); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.hook("other", "order")
	w.hook("an-other", "order")
	left(w.Keys.Wanted("order", "one"), w.Keys.Wanted(record.AnyDefinition, "one"))
	w.want("incident-wanted/", 4)
	one := w.hook("one", "billing") // a new one of that name
	w.want("incident-wanted/", 3)
	left(w.Keys.Wanted("order", "one"))
	one.On = []store.WebhookKind{store.WebhookEnded}
	w.rehook(one)
	w.want("incident-wanted/", 2)
	left(w.Keys.Wanted("order", "one"))
	if ok, err := w.Webhooks.DeleteWebhook(w.ctx(), "one", one.Modified); err != nil || !ok {
		t.Fatal(ok, err)
	}
	w.want("incident-wanted/", 2)
}

// A note is of one commit: a copy of it that comes late puts none, one without new incidents
// neither, and it goes with its instance, or with the entry of the journal.
func TestNotesOfIncidentsLiveAsLongAsTheirCommits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hook("all")
	breaks := func(id string) *store.Commit {
		c := w.next(id, nil)
		c.After.Header.Incidents = append(c.After.Header.Incidents, w.incident("no"))
		return c
	}
	w.instance("a", "paid")
	c := breaks("a")
	w.commit(c)
	_, err := w.raw.Delete(w.ctx(), w.Keys.Incident("order", "a", c.After.Seq))
	w.ok(err)
	w.commit(c)
	w.want("incident/", 0)
	w.commit(w.next("a", nil))
	w.want("incident/", 0)
	w.commit(breaks("a"))
	w.instance("ab", "paid") // another one whose id begins so
	w.commit(breaks("ab"))
	w.want("incident/order/a/", 1)
	moved := w.next("a", nil) // an import
	moved.After.Header.DefinitionID = "billing"
	w.commit(moved)
	w.want("incident/order/a/", 0)
	w.commit(breaks("a"))
	w.want("incident/billing/a/", 1)
	w.remove("a")
	w.want("incident/", 1)

	// The oldest go with the oldest entries of the journal.
	w.KeepEntries = 100
	for range 140 {
		w.commit(breaks("ab"))
	}
	from := record.JournalFrom(w.record("ab"))
	if from < 30 {
		t.Fatalf("the journal begins at %d", from)
	}
	w.want("incident/order/ab/", 142-int(from)+1)

	// Retention takes them with the instance.
	w.commit(ends(w.next("ab", nil)))
	purged, err := w.Purge(w.ctx(), Late("ab"), nil, nil)
	if w.ok(err); len(purged) != 1 {
		t.Fatal(purged)
	}
	w.want("incident/", 0)

	// So does the removal of one that cannot be read.
	for _, id := range []string{"c", "d"} {
		w.instance(id, "paid")
		w.commit(breaks(id))
	}
	_, err = w.raw.Put(w.ctx(), w.Keys.Instance("d"), "{junk")
	w.ok(err)
	for _, id := range []string{"c", "d"} {
		w.ok(errOf(w.Remove(w.ctx(), w.lock(id, "me"), id, w.now)))
	}
	w.want("incident/", 0)
}
