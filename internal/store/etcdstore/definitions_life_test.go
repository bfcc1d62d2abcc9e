package etcdstore

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/definitions"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/pkg/workflow"
)

func testDraft(d *defs) {
	t := d.tb
	d.mustPublish("order", "one", triggers("h1"))
	before := d.keysUnder("trigger/")
	h, err := d.SaveDraft(d.ctx(), d.state("order", ""), store.DefinitionVersion{Hash: "two", Source: "two"}, "n", "d", d.now)
	if err != nil || h.Published != 1 || h.Latest != 2 || h.LatestHash != "two" || h.Hash != "one" {
		t.Fatalf("%+v, %v", h, err)
	}
	d.wantKeys("trigger/", before)
	if st := d.state("order", "two"); st.Seen != 0 {
		t.Error("a draft counts as published")
	}
	v, err := d.Version(d.ctx(), "order", 2)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.PublishVersion(d.ctx(), d.state("order", "two"), v, definitions.Published{Index: triggers("h2")}, d.now); err != nil {
		t.Fatal(err)
	}
	d.wantHead("order", 2, 2)
	d.wantKeys("trigger/", "trigger/h2/order/a-h2")
	if st := d.state("order", "two"); st.Seen != 2 {
		t.Errorf("the published draft was seen as %d", st.Seen)
	}
	if _, err := d.SaveDraft(d.ctx(), d.state("new", ""), store.DefinitionVersion{Hash: "x"}, "Name", "", d.now); err != nil {
		t.Fatal(err)
	}
	if h := d.wantHead("new", 0, 1); h.Name != "Name" {
		t.Errorf("head of a draft: %+v", h)
	}
}

func testRetract(d *defs) {
	t := d.tb
	idx := triggers("h1")
	idx.Routes = routes("a").Routes
	idx.Schedules = []store.CronEntry{timer("c", 5)}
	d.mustPublish("order", "one", idx)
	h, err := d.Retract(d.ctx(), d.state("order", ""), d.now)
	if err != nil || h.Published != 0 || h.Hash != "" || h.Activation != "" {
		t.Fatalf("%+v, %v", h, err)
	}
	for _, part := range []string{"trigger/", "route/", "cron/", "definition-index/"} {
		d.wantKeys(part, "")
	}
	if h := d.mustPublish("order", "one", idx); h.Published != 2 {
		t.Errorf("published again as %d", h.Published)
	}
}

func (d *defs) run(id, instance string, sub workflow.SubStatus) {
	d.tb.Helper()
	h := workflow.Instance{ID: instance, DefinitionID: id, Status: sub.Status(), SubStatus: sub}
	if _, err := d.raw.Put(d.ctx(), d.Keys.IndexEntry(&h), ""); err != nil {
		d.tb.Fatal(err)
	}
}

func testDeleteInUse(d *defs) {
	t := d.tb
	d.mustPublish("order", "one", triggers("h"))
	d.run("order2", "i2", workflow.Suspended) // of another definition
	d.run("order", "i3", workflow.Faulted)
	for i, sub := range []workflow.SubStatus{workflow.Pending, workflow.Executing, workflow.Suspended} {
		h := workflow.Instance{ID: "i1", DefinitionID: "order", Status: workflow.StatusRunning, SubStatus: sub}
		d.run("order", "i1", sub)
		_, err := d.DeleteDefinition(d.ctx(), d.state("order", ""), false, d.now)
		if workflow.CodeOf(err) != workflow.CodeDefinitionInUse {
			t.Fatalf("%s: error %v", sub, err)
		}
		if i == 2 {
			break
		}
		if _, err := d.raw.Delete(d.ctx(), d.Keys.IndexEntry(&h)); err != nil {
			t.Fatal(err)
		}
	}
	d.wantHead("order", 1, 1)
	if _, err := d.DeleteDefinition(d.ctx(), d.state("order", ""), true, d.now); err != nil {
		t.Fatal(err)
	}
	if st := d.state("order", ""); st.Exists() || st.Head == nil {
		t.Errorf("head %+v", st.Head)
	}
	d.wantKeys("trigger/", "")
	d.wantKeys("definition-version/", "definition-version/order/00000001")
	if ok, err := d.PurgeDefinition(d.ctx(), "order"); ok || err != nil {
		t.Errorf("purged under a running instance: %v, %v", ok, err)
	}
}

func testDeleteRace(d *defs) {
	t := d.tb
	d.mustPublish("order", "one", triggers("h"))
	d.between("order", 1, func() { d.run("order", "i1", workflow.Executing) })
	_, err := d.DeleteDefinition(d.ctx(), d.state("order", ""), false, d.now)
	if workflow.CodeOf(err) != workflow.CodeDefinitionInUse {
		t.Errorf("error %v", err)
	}
	d.wantHead("order", 1, 1)
}

func testPurgeRace(d *defs) {
	t := d.tb
	d.mustPublish("order", "one", triggers("h"))
	if _, err := d.DeleteDefinition(d.ctx(), d.state("order", ""), false, d.now); err != nil {
		t.Fatal(err)
	}
	beside, err := New(Config{Client: d.raw, Root: d.Keys.Root})
	if err != nil {
		t.Fatal(err)
	}
	other := &defs{allParts: all(beside), tb: t, raw: d.raw, now: d.now}
	d.between("order", 1, func() { other.mustPublish("order", "two", triggers("h")) })
	if ok, err := d.PurgeDefinition(d.ctx(), "order"); ok || err != nil {
		t.Errorf("purged %v, %v", ok, err)
	}
	d.wantKeys("definition-version/", "definition-version/order/00000001 definition-version/order/00000002")
}

func testPurge(d *defs) {
	t := d.tb
	d.mustPublish("order", "one", triggers("h"))
	d.mustPublish("order", "two", triggers("h"))
	d.mustPublish("order2", "other", triggers("h"))
	if ok, err := d.PurgeDefinition(d.ctx(), "order"); ok || err != nil {
		t.Fatalf("purged although it is there: %v, %v", ok, err)
	}
	if _, err := d.DeleteDefinition(d.ctx(), d.state("order", ""), false, d.now); err != nil {
		t.Fatal(err)
	}
	if ok, err := d.PurgeDefinition(d.ctx(), "order"); !ok || err != nil {
		t.Fatalf("%v, %v", ok, err)
	}
	d.wantKeys("definition-version/", "definition-version/order2/00000001")
	if h := d.wantHead("order", 0, 2); !h.Purged {
		t.Error("the head does not say so")
	}
}

func timer(activity string, dueSeconds int64) store.CronEntry {
	return store.CronEntry{ActivityID: activity, Kind: store.ScheduleTimer, Interval: time.Hour, Due: time.Unix(dueSeconds, 0).UTC()}
}

func schedules(entries ...store.CronEntry) store.DefinitionIndex {
	return store.DefinitionIndex{Schedules: entries}
}

// due gives the occurrences that would fire, by activity.
func (d *defs) due(id string) map[string]int64 {
	d.tb.Helper()
	st := d.state(id, "")
	out := map[string]int64{}
	for _, e := range st.Crons {
		if st.Head.Fires(&e) {
			if out[e.ActivityID] != 0 {
				d.tb.Errorf("activity %s has two occurrences", e.ActivityID)
			}
			out[e.ActivityID] = e.Due.Unix()
		}
	}
	return out
}

func testCronKept(d *defs) {
	t := d.tb
	d.mustPublish("order", "one", schedules(timer("kept", 10), timer("changed", 11), timer("gone", 12)))
	changed := timer("changed", 91)
	changed.Interval = time.Minute
	d.mustPublish("order", "two", schedules(timer("kept", 90), changed, timer("new", 92)))
	if got := d.due("order"); len(got) != 3 || got["kept"] != 10 || got["changed"] != 91 || got["new"] != 92 {
		t.Errorf("due: %v", got)
	}
	if st := d.state("order", ""); len(st.Crons) != 3 || st.Crons[0].Version != 2 {
		t.Errorf("cron keys: %+v", st.Crons)
	}
}

// fire does what the cron worker does: it deletes the key and puts the next one.
func (d *defs) fire(old store.CronEntry, next int64) {
	d.tb.Helper()
	e := old
	e.Due = time.Unix(next, 0).UTC()
	raw, err := db.Encode(e)
	if err != nil {
		d.tb.Fatal(err)
	}
	if _, err := d.raw.Txn(d.ctx()).Then(clientv3.OpDelete(old.Key), clientv3.OpPut(d.CronKey(&e), string(raw))).Commit(); err != nil {
		d.tb.Fatal(err)
	}
}

func testCronFired(d *defs) {
	t := d.tb
	d.mustPublish("order", "one", schedules(timer("a", 10), timer("b", 10)))
	st := d.state("order", "")
	i := slices.IndexFunc(st.Crons, func(e store.CronEntry) bool { return e.ActivityID == "a" })
	d.between("order", 1, func() { d.fire(st.Crons[i], 20) })
	d.mustPublish("order", "two", schedules(timer("a", 90), timer("b", 91)))
	if got := d.due("order"); len(got) != 2 || got["a"] != 90 || got["b"] != 10 {
		t.Errorf("due: %v", got)
	}
}

func testCronOutdated(d *defs) {
	t := d.tb
	d.mustPublish("order", "one", schedules(timer("a", 10)))
	st := d.state("order", "")
	d.between("order", 1, func() { d.fire(st.Crons[0], 20) })
	d.mustPublish("order", "two", schedules(timer("a", 90)))
	st = d.state("order", "")
	if len(st.Crons) != 2 {
		t.Fatalf("expected the outdated key beside the new one: %+v", st.Crons)
	}
	// The next publication would write where the outdated key is.
	d.mustPublish("order", "three", schedules(timer("a", 20)))
	if st := d.state("order", ""); len(st.Crons) != 1 {
		t.Errorf("cron keys %+v", st.Crons)
	}
	if got := d.due("order"); got["a"] != 90 {
		t.Errorf("due: %v", got)
	}
}

func testList(d *defs) {
	t := d.tb
	for _, id := range []string{"a", "b", "c", "d", "a.b", "B"} {
		d.mustPublish(id, id, triggers("h"))
	}
	if _, err := d.DeleteDefinition(d.ctx(), d.state("b", ""), false, d.now); err != nil {
		t.Fatal(err)
	}
	var got []string
	cursor := ""
	for {
		heads, end, err := d.ListDefinitions(d.ctx(), cursor, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range heads {
			got = append(got, h.ID)
		}
		if end.Next == "" {
			break
		}
		cursor = end.Next
	}
	if want := []string{"B", "a.b", "a", "c", "d"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, _, err := d.ListDefinitions(d.ctx(), "a/b", 2); workflow.CodeOf(err) != workflow.CodeInvalid {
		t.Errorf("a made-up cursor: %v", err)
	}
}

func testWatch(d *defs) {
	t := d.tb
	d.mustPublish("a", "a", triggers("h"))
	all, err := d.ChangedHeads(d.ctx(), 0)
	if err != nil || len(all.Heads) != 1 || all.Revision < all.Heads[0].Modified {
		t.Fatalf("%+v, %v", all, err)
	}
	watch := d.WatchHeads(d.ctx(), all.Revision)
	last := d.mustPublish("b", "b", triggers("h"))
	if _, err := d.DeleteDefinition(d.ctx(), d.state("a", ""), false, d.now); err != nil {
		t.Fatal(err)
	}
	var heads []store.DefinitionHead
	for len(heads) < 2 { // two changes may come in one answer
		ch := <-watch
		if ch.Err != nil {
			t.Fatal(ch.Err)
		}
		heads = append(heads, ch.Heads...)
	}
	if heads[0].ID != "b" || heads[0].Modified != last.Modified {
		t.Errorf("first change %+v", heads[0])
	}
	if heads[1].ID != "a" || heads[1].Deleted == nil {
		t.Errorf("second change %+v", heads[1])
	}
	swept, err := d.ChangedHeads(d.ctx(), last.Modified)
	if err != nil || len(swept.Heads) != 1 || swept.Heads[0].ID != "a" {
		t.Errorf("swept %+v, %v", swept, err)
	}
	if _, err := d.raw.Compact(d.ctx(), swept.Revision); err != nil {
		t.Fatal(err)
	}
	if ch := <-d.WatchHeads(d.ctx(), 1); ch.Err == nil {
		t.Errorf("a compacted watch gives %+v", ch)
	}
}

// TestTheWatchOfHeadsClaimsOnlyWhatItGave: a watcher that is behind gets batches of
// 1,000 revisions. Whoever stops after any of them and asks for what is newer
// learns the rest.
func TestTheWatchOfHeadsClaimsOnlyWhatItGave(t *testing.T) {
	const n = 2500
	w := newWorld(t)
	from := w.revision()
	for i := range n {
		raw, err := db.Encode(store.DefinitionHead{ID: fmt.Sprintf("d%04d", i), Published: 1})
		w.ok(err)
		_, err = w.raw.Put(w.ctx(), w.Keys.Head(fmt.Sprintf("d%04d", i)), string(raw))
		w.ok(err)
	}
	for _, batches := range []int{1, 2} {
		ctx, cancel := context.WithCancel(w.ctx())
		watch := w.WatchHeads(ctx, from)
		known, last := map[string]bool{}, int64(0)
		learn := func(ch store.HeadChanges) {
			w.ok(ch.Err)
			for _, h := range ch.Heads {
				known[h.ID] = true
			}
			last = ch.Revision
		}
		for range batches {
			learn(<-watch)
		}
		cancel()
		if len(known) == n {
			t.Fatal("all came at once: the watch was not behind")
		}
		rest, err := w.ChangedHeads(w.ctx(), last)
		w.ok(err)
		if learn(rest); len(known) != n {
			t.Errorf("after %d batches %d of %d heads are known", batches, len(known), n)
		}
	}
}
