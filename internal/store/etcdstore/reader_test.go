package etcdstore

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/find"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/store/etcdstore/lists"
	"github.com/weft-run/weft/internal/store/etcdstore/trace"
	"github.com/weft-run/weft/internal/store/etcdstore/upkeep"
	"github.com/weft-run/weft/internal/testsize"
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

// cursorOf is a page with its cursor alone.
func cursorOf[T any](items []T, end db.PageEnd, err error) ([]T, string, error) {
	return items, end.Next, err
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
		raw, err := db.Encode(record.TimerEntry{Instance: "i0", Bookmark: fmt.Sprint("t", i), Due: w.now})
		w.ok(err)
		_, err = w.raw.Put(w.ctx(), w.Keys.Timer(fmt.Sprint("t", i), w.now), string(raw))
		w.ok(err)
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
	for what, f := range map[string]find.Filter{
		"all": {}, "of a definition": {DefinitionID: "order"}, "of a correlation": {CorrelationID: "k"},
		"running": {Status: workflow.StatusRunning}, "running of a definition": {Status: workflow.StatusRunning, DefinitionID: "order"},
		"finished": {Status: workflow.StatusFinished}, "of none": {DefinitionID: "other"},
	} {
		got := pages(t, func(cursor string) ([]workflow.Instance, string, error) {
			return w.page(f, cursor, 2)
		}, func(h workflow.Instance) string { return h.ID })
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
	check("queue", pages(t, func(c string) ([]store.QueueItem, string, error) { return cursorOf(w.QueueItems(w.ctx(), "", c, 2)) }, func(q store.QueueItem) string { return q.ID }), name("q/"))
	check("dead letters", pages(t, func(c string) ([]store.DeadLetter, string, error) { return cursorOf(w.DeadLetters(w.ctx(), c, 2)) }, func(d store.DeadLetter) string { return d.ID }), name("d/"))
	check("send records", pages(t, func(c string) ([]store.Send, string, error) { return w.Sends(w.ctx(), c, 2) }, func(s store.Send) string { return s.ID }), name("s"))
	check("mailboxes", pages(t, func(c string) ([]upkeep.Pending, string, error) { return w.Sweep(w.ctx(), c, 2) }, func(p upkeep.Pending) string { return p.InstanceID }), mail)
	timers := pages(t, func(c string) ([]record.Due, string, error) { return cursorOf(w.Timers(w.ctx(), c, 2)) }, func(d record.Due) string { return d.Bookmark() })
	check("timers", timers, name("t"))
	var sharded []string
	for _, shard := range upkeep.QueueShards {
		items, _, err := w.QueueItems(w.ctx(), string(shard), "", 100)
		w.ok(err)
		for _, it := range items {
			sharded = append(sharded, it.ID)
		}
	}
	check("queue by shard", sharded, name("q/"))
}

// A list costs what it gives, however many instances there are beside those.
func TestListsCostWhatTheyGive(t *testing.T) {
	testsize.NotRaced(t, "it goes over many keys on one goroutine")
	t.Parallel()
	w := newWorld(t)
	subs := []workflow.SubStatus{workflow.Pending, workflow.Executing, workflow.Suspended, workflow.Finished, workflow.Cancelled, workflow.Faulted}
	const n, special = 240, 7
	want := map[workflow.SubStatus][]string{}
	var tasks []string
	for i := range n {
		c := w.first(fmt.Sprintf("i%03d", i), nil)
		h := &c.After.Header
		h.CreatedAt = w.now.Add(time.Duration(i) * time.Millisecond)
		h.SubStatus = []workflow.SubStatus{workflow.Suspended, workflow.Finished}[i%2]
		if i%40 == special {
			h.SubStatus = subs[i/40]
		}
		h.Status = h.SubStatus.Status()
		if h.SubStatus == workflow.Suspended {
			b := w.bookmark(h.ID, "b", "paid")
			if i%40 == special {
				b.ActivityType, b.Name = workflow.TaskType, "pack"
				tasks = append(tasks, b.ID)
			}
			h.Bookmarks = []workflow.Bookmark{b}
			c.Created = h.Bookmarks
		}
		want[h.SubStatus] = append([]string{h.ID}, want[h.SubStatus]...) // the newest first
		w.commit(c)
	}
	calls := func() int { return w.faults.Calls("get") + w.faults.Calls("txn") }
	for _, sub := range subs {
		for _, limit := range []int64{1, 2, 13, 500} {
			var got []string
			before, pages := calls(), 0
			for cursor := ""; ; {
				items, next, err := w.page(find.Filter{SubStatus: sub}, cursor, limit)
				if w.ok(err); int64(len(items)) > limit {
					t.Errorf("%d items, limit %d", len(items), limit)
				}
				pages++
				for _, h := range items {
					got = append(got, h.ID)
				}
				if cursor = next; next == "" {
					break
				}
			}
			if !slices.Equal(got, want[sub]) {
				t.Errorf("%s by %d: %v, want %v", sub, limit, got, want[sub])
			}
			// The definitions, its list, that there is no other, the windows of a page, and its records.
			if most := 13*pages + len(want[sub])/db.FirstChunk; calls()-before > most {
				t.Errorf("%s by %d: %d calls for %d items, want at most %d", sub, limit, calls()-before, len(got), most)
			}
		}
	}
	for name, ids := range map[string][]string{"pack": tasks, "": tasks, "none": nil} {
		before := calls()
		page, end, err := w.Tasks(w.ctx(), name, "", 50)
		w.ok(err)
		var got []string
		for _, task := range page {
			got = append(got, task.Bookmark.ID)
		}
		if !slices.Equal(got, ids) || end.Next != "" || calls()-before > 3 { // those that are free, those that are taken, their instances
			t.Errorf("tasks %q: %v, next %q, %d calls", name, got, end.Next, calls()-before)
		}
	}
}

// What changes its sub-status while it is listed is in one page, and in one only:
// lists of several indexes are merged.
func TestWhatMovesIsListedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var ids []string
	for i := range 6 {
		id := fmt.Sprint("i", i)
		w.instance(id)
		ids = append(ids, id)
	}
	subs := []workflow.SubStatus{workflow.Executing, workflow.Faulted, workflow.Pending, workflow.Cancelled, workflow.Suspended, workflow.Finished}
	round := 0
	got := pages(t, func(cursor string) ([]workflow.Instance, string, error) {
		for i, id := range ids {
			c := w.next(id, nil)
			h := &c.After.Header
			h.SubStatus = subs[(i+round)%len(subs)]
			h.Status = h.SubStatus.Status()
			w.commit(c)
		}
		round++
		return w.page(find.Filter{}, cursor, 2)
	}, func(h workflow.Instance) string { return h.ID })
	if !slices.Equal(got, ids) {
		t.Errorf("%v, want %v", got, ids)
	}
}

// Tasks follow their bookmarks: in a commit that burns them, moves them to another
// correlation, takes others in their place, or deletes their instance.
func TestTasksFollowTheirBookmarks(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"pack", "", "a/b c", "~x", strings.Repeat("ä", 3*record.MaxTaskName)} {
		w := newWorld(t)
		task := func(local string) workflow.Bookmark {
			b := w.bookmark("a", local, local)
			b.ActivityType, b.Name = workflow.TaskType, name
			return b
		}
		w.commit(w.first("a", nil, task("one"), task("two")))
		is := func(want ...string) {
			t.Helper()
			got := pages(t, func(cursor string) ([]lists.Task, string, error) { return cursorOf(w.Tasks(w.ctx(), name, cursor, 2)) }, func(task lists.Task) string { return task.Bookmark.ID })
			if !slices.Equal(got, want) {
				t.Errorf("%.20q: %v, want %v", name, got, want)
			}
			w.want("task/", len(want))
			check, err := w.Fsck(w.ctx())
			if w.ok(err); len(check.Findings) > 0 {
				t.Errorf("%.20q: %+v", name, check.Findings)
			}
		}
		is("a~one", "a~two")
		c := w.next("a", nil)
		c.After.Header.CorrelationID = "other"
		c.Burned, c.Created, c.After.Header.Bookmarks = []workflow.Bookmark{task("one")}, nil, []workflow.Bookmark{task("two")}
		w.commit(c)
		is("a~two")
		c = w.next("a", nil) // an import
		renamed := task("two")
		renamed.CreatedAt = w.now.Add(-time.Hour)
		c.Burned, c.Created = c.Before.Header.Bookmarks, []workflow.Bookmark{renamed, task("three")}
		c.After.Header.Bookmarks = c.Created
		w.commit(c)
		is("a~two", "a~three")
		w.remove("a")
		is()
	}
}

// Pages end early where values are large: what a reader holds of one is bounded.
func TestPagesAreBoundedInBytes(t *testing.T) {
	testsize.NotRaced(t, "it goes over many keys on one goroutine")
	t.Parallel()
	w := newWorld(t)
	const n, size, each = 60, 960 << 10, (db.PageBytes + 2*(960<<10)) / (960 << 10)
	text := strings.Repeat("an order with many lines; ", size/26)
	input := map[string]any{"text": text}
	var want []string
	c := w.next(w.instance("all").Header.ID, nil)
	for i := range n {
		id := fmt.Sprintf("i%03d", i)
		want = append(want, id)
		first := w.first(id, nil)
		first.After.Header.DefinitionID = "large"
		b := w.bookmark(id, "b", "x")
		b.ActivityType, b.Name = workflow.TaskType, "pack"
		b.Payload = text // its input would lie in parts, which a list of tasks does not read
		first.Created, first.After.Header.Bookmarks = []workflow.Bookmark{b}, []workflow.Bookmark{b}
		w.commit(first)
		st := event("e")
		st.Input = input
		ok, err := w.Enqueue(w.ctx(), w.item(id, st), w.look(st))
		if w.ok(err); !ok {
			t.Fatal("not queued")
		}
		c.Dead = append(c.Dead, store.DeadLetter{ID: id, Stimulus: &st})
		c.Sends = append(c.Sends, store.Send{ID: id, Stimulus: st})
	}
	w.commit(c)
	lists := map[string]func(cursor string) ([]string, string, error){
		"queue": func(cursor string) (ids []string, next string, err error) {
			items, next, err := cursorOf(w.QueueItems(w.ctx(), "", cursor, 500))
			for _, it := range items {
				ids = append(ids, it.ID)
			}
			return ids, next, err
		},
		"dead letters": func(cursor string) (ids []string, next string, err error) {
			items, next, err := cursorOf(w.DeadLetters(w.ctx(), cursor, 500))
			for _, it := range items {
				ids = append(ids, it.ID)
			}
			return ids, next, err
		},
		"send records": func(cursor string) (ids []string, next string, err error) {
			items, next, err := w.Sends(w.ctx(), cursor, 500)
			for _, it := range items {
				ids = append(ids, it.ID)
			}
			return ids, next, err
		},
		"instances": func(cursor string) (ids []string, next string, err error) {
			items, next, err := w.page(find.Filter{DefinitionID: "large"}, cursor, 500)
			for _, it := range items {
				ids = append(ids, it.ID)
			}
			return ids, next, err
		},
		"tasks": func(cursor string) (ids []string, next string, err error) {
			items, next, err := cursorOf(w.Tasks(w.ctx(), "pack", cursor, 500))
			for _, it := range items {
				ids = append(ids, it.InstanceID)
			}
			return ids, next, err
		},
	}
	for what, read := range lists {
		var got []string
		for cursor := ""; ; {
			ids, next, err := read(cursor)
			if w.ok(err); len(ids) > each || len(ids) == 0 {
				t.Errorf("%s: a page of %d, want 1 to %d", what, len(ids), each)
			}
			got = append(got, ids...)
			if cursor = next; next == "" {
				break
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d of %d: %v", what, len(got), n, got)
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
	for from := int64(1); from != 0; {
		var entries []workflow.JournalEntry
		entries, from = w.journal("a", from, 2)
		for _, e := range entries {
			got = append(got, e.Sequence)
			for _, it := range e.Items {
				got = append(got, it.Sequence)
			}
		}
	}
	if !slices.Equal(got, []int64{1, 2, 2, 3, 3, 4, 4}) {
		t.Errorf("sequences %v", got)
	}
}

// journal reads up to limit commits of an instance; next is the one to go on with, 0 at the end.
func (w *world) journal(id string, from int64, limit int) (entries []workflow.JournalEntry, next int64) {
	w.tb.Helper()
	span, err := w.ScanJournal(w.ctx(), id, trace.JournalScan{From: from}, func(e *workflow.JournalEntry) bool {
		entries = append(entries, *e)
		return len(entries) == limit
	})
	w.ok(err)
	return entries, span.Next
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
	page, more, err := w.Due(w.ctx(), record.Timers, everywhere(), now, perShard)
	for pages := 1; err == nil; pages++ {
		inShard := map[int]int{}
		for _, d := range page {
			if inShard[d.Shard]++; inShard[d.Shard] > perShard || seen[d.Instance()] || d.At.Before(last[d.Shard]) {
				t.Errorf("page %d: %s of shard %d, due at %v", pages, d.Instance(), d.Shard, d.At)
			}
			seen[d.Instance()], last[d.Shard] = true, d.At
		}
		if len(more) == 0 {
			break
		}
		page, more, err = w.Due(w.ctx(), record.Timers, more, now, perShard)
	}
	if w.ok(err); len(seen) != n-1 {
		t.Errorf("%d timers, want %d", len(seen), n-1)
	}
}

func TestTimersAreDueAtTheirTimeAndNotBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	at := w.now.Truncate(time.Millisecond).Add(time.Minute + 900*time.Microsecond) // the key has milliseconds only
	b := w.bookmark("a", "b", "delay")
	b.DueAt = &at
	w.commit(w.first("a", nil, b))
	for offset, want := range map[time.Duration]int{-time.Millisecond: 0, -800 * time.Microsecond: 0, -1: 0, 0: 1, time.Millisecond: 1} {
		if due := w.due(record.Timers, at.Add(offset)); len(due) != want {
			t.Errorf("%s after: %d due", offset, len(due))
		}
	}
	due := w.due(record.Timers, at)
	fired, err := w.FireTimers(w.ctx(), due, at)
	if err != nil || !slices.Equal(fired, []string{"a"}) {
		t.Errorf("fired %v, %v", fired, err)
	}
	if m := w.mailOf("a"); len(m) != 1 || m[0].Command.Bookmark != b.ID || !m[0].Command.Timer {
		t.Errorf("%+v", m)
	}
}
