package etcdstore

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// pages reads a list to its end in pages of two, and gives the ids in order.
func pages[T any](t *testing.T, read func(cursor string) ([]T, string, error), id func(T) string) (ids []string) {
	t.Helper()
	cursor := ""
	for range 20 {
		items, next, err := read(cursor)
		if err != nil || len(items) > 2 {
			t.Fatalf("%d items, %v", len(items), err)
		}
		for _, it := range items {
			ids = append(ids, id(it))
		}
		if cursor = next; next == "" {
			return ids
		}
	}
	t.Fatal("the list does not end")
	return nil
}

func TestPagesGiveEverythingOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const n = 5
	var running, mail []string
	for i := range n {
		id := fmt.Sprint("i", i)
		w.instanceIn(id, "k", "paid")
		running = append(running, id)
	}
	for i, b := range w.look(event("paid")).Bookmarks {
		_, _, err := w.PutMail(w.ctx(), b.InstanceID, w.resume(fmt.Sprint("c", i), &b, nil), &b)
		w.ok(err)
		mail = append(mail, b.InstanceID)
	}
	w.instance("done")
	w.commit(ends(w.next("done", nil)))
	b := w.bookmark("late", "b", "delay")
	b.DueAt = &w.now
	w.commit(w.first("late", nil, b))
	w.remove("late")
	c := w.next("i0", nil)
	for i := range n {
		c.Dead = append(c.Dead, store.DeadLetter{ID: fmt.Sprint("d/", i)})
		c.Sends = append(c.Sends, store.Send{ID: fmt.Sprint("s", i)})
	}
	w.commit(c)
	for i := range n {
		w.queued(fmt.Sprint("q/", i), event(fmt.Sprint("e", i)))
	}
	check := func(what string, got, want []string) {
		t.Helper()
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	name := func(prefix string) (out []string) {
		for i := range n {
			out = append(out, fmt.Sprint(prefix, i))
		}
		return out
	}
	for what, f := range map[string]InstanceFilter{
		"all": {}, "of a definition": {DefinitionID: "order"}, "of a correlation": {CorrelationID: "k"},
		"running": {Status: workflow.StatusRunning}, "running of a definition": {Status: workflow.StatusRunning, DefinitionID: "order"},
		"finished": {Status: workflow.StatusFinished}, "of none": {DefinitionID: "other"},
	} {
		got := pages(t, func(cursor string) ([]workflow.Instance, string, error) { return w.Instances(w.ctx(), f, cursor, 2) }, func(h workflow.Instance) string { return h.ID })
		want := slices.Clone(running)
		switch what {
		case "all", "of a definition":
			want = append(want, "done")
		case "finished":
			want = []string{"done"}
		case "of none":
			want = nil
		}
		check("instances "+what, got, want)
	}
	check("queue", pages(t, func(c string) ([]store.QueueItem, string, error) { return w.QueueItems(w.ctx(), "", c, 2) }, func(q store.QueueItem) string { return q.ID }), name("q/"))
	check("dead letters", pages(t, func(c string) ([]store.DeadLetter, string, error) { return w.DeadLetters(w.ctx(), c, 2) }, func(d store.DeadLetter) string { return d.ID }), name("d/"))
	check("send records", pages(t, func(c string) ([]store.Send, string, error) { return w.Sends(w.ctx(), c, 2) }, func(s store.Send) string { return s.ID }), name("s"))
	check("mailboxes", pages(t, func(c string) ([]Pending, string, error) { return w.Sweep(w.ctx(), c, 2) }, func(p Pending) string { return p.InstanceID }), mail)
	timers := pages(t, func(c string) ([]Due, string, error) { return w.Timers(w.ctx(), c, 2) }, func(d Due) string { return fmt.Sprint(d.IsQueueExpiry(), d.Instance()) })
	check("timers", timers, []string{"true", "true", "true", "true", "true"})
	var sharded []string
	for _, shard := range QueueShards {
		items, _, err := w.QueueItems(w.ctx(), string(shard), "", 100)
		w.ok(err)
		for _, it := range items {
			sharded = append(sharded, it.ID)
		}
	}
	check("queue by shard", sharded, name("q/"))
}

// No index tells one sub-status from another: pages end within what was read.
func TestPagesOfOneSubStatus(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const n = 2*minRead + 30
	var faulted []string
	for i := range n {
		id := fmt.Sprintf("i%03d", i)
		c := w.first(id, nil)
		h := &c.After.Header
		h.CreatedAt = w.now.Add(time.Duration(i) * time.Millisecond)
		h.Status, h.SubStatus = workflow.StatusFinished, workflow.Finished
		if i%7 == 0 {
			h.SubStatus = workflow.Faulted
			faulted = append(faulted, id)
		}
		w.commit(c)
	}
	for _, limit := range []int64{1, 2, 13, 15, 200} {
		var got []string
		f := InstanceFilter{Status: workflow.StatusFinished, SubStatus: workflow.Faulted}
		for cursor := ""; ; {
			items, next, err := w.Instances(w.ctx(), f, cursor, limit)
			if w.ok(err); int64(len(items)) > limit {
				t.Errorf("%d items, limit %d", len(items), limit)
			}
			for _, h := range items {
				got = append(got, h.ID)
			}
			if cursor = next; next == "" {
				break
			}
		}
		if !slices.Equal(got, faulted) {
			t.Errorf("by %d: %v, want %v", limit, got, faulted)
		}
	}
}

func TestJournalPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.instance("a")
	for range 3 {
		c := w.next("a", nil)
		c.Journal = []workflow.JournalItem{{Sequence: c.After.Seq, Event: "Started"}}
		w.commit(c)
	}
	var got []int64
	for after := int64(0); ; {
		items, last, err := w.Journal(w.ctx(), "a", after, 2)
		w.ok(err)
		for _, it := range items {
			got = append(got, it.Sequence)
		}
		if after = last; last == 0 {
			break
		}
	}
	if !slices.Equal(got, []int64{2, 3, 4}) {
		t.Errorf("sequences %v", got)
	}
}

func TestMailIsInTheOrderOfItsArrival(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.instance("a", "paid")
	b := w.look(event("paid")).Bookmarks[0]
	for _, cmd := range []string{"z", "a", "m"} {
		_, _, err := w.PutMail(w.ctx(), "a", w.resume(cmd, &b, nil), &b)
		w.ok(err)
	}
	var got []string
	for _, m := range w.mailOf("a") {
		got = append(got, m.Command.ID)
	}
	if !slices.Equal(got, []string{"z", "a", "m"}) {
		t.Errorf("order %v", got)
	}
}

func TestDueTimersAreReadPageByPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const n, perShard = 100, 2
	for i := range n {
		b := w.bookmark(fmt.Sprint("i", i), "b", "delay")
		at := w.now.Add(time.Duration(i) * time.Millisecond)
		b.DueAt = &at
		w.commit(w.first(fmt.Sprint("i", i), nil, b))
	}
	now := w.now.Add((n - 2) * time.Millisecond) // the last one is to come
	seen, last := map[string]bool{}, map[int]time.Time{}
	page, err := w.DueTimers(w.ctx(), now, perShard)
	for pages := 1; len(page) > 0; pages++ {
		inShard := map[int]int{}
		for _, d := range page {
			if inShard[d.Shard]++; inShard[d.Shard] > perShard || seen[d.Instance()] || d.At.Before(last[d.Shard]) {
				t.Errorf("page %d: %s of shard %d, due at %v", pages, d.Instance(), d.Shard, d.At)
			}
			seen[d.Instance()], last[d.Shard] = true, d.At
		}
		page, err = w.DueTimersBehind(w.ctx(), page, now, perShard)
	}
	if w.ok(err); len(seen) != n-1 {
		t.Errorf("%d timers, want %d", len(seen), n-1)
	}
}

func TestTimersAreDueAtTheirTimeAndNotBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	at := w.now.Add(time.Minute)
	b := w.bookmark("a", "b", "delay")
	b.DueAt = &at
	w.commit(w.first("a", nil, b))
	for offset, want := range map[time.Duration]int{-time.Millisecond: 0, 0: 1, time.Millisecond: 1} {
		due, err := w.DueTimers(w.ctx(), at.Add(offset), 10)
		if err != nil || len(due) != want {
			t.Errorf("%s after: %d due, %v", offset, len(due), err)
		}
	}
	due, err := w.DueTimers(w.ctx(), at, 10)
	w.ok(err)
	fired, err := w.FireTimers(w.ctx(), due, at)
	if err != nil || !slices.Equal(fired, []string{"a"}) {
		t.Errorf("fired %v, %v", fired, err)
	}
	if m := w.mailOf("a"); len(m) != 1 || m[0].Command.Bookmark != b.ID || !m[0].Command.Timer {
		t.Errorf("%+v", m)
	}
}
