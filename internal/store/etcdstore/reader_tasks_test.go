package etcdstore

import (
	"fmt"
	"slices"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"pgregory.net/rapid"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/workflow"
)

// tasksOf puts tasks of a name: so many of each instance, the first at a time and each a while behind the one
// before. It gives them in that order.
func (w *world) tasksOf(name string, instances, each int, first time.Time, apart time.Duration) (tasks []workflow.Bookmark) {
	w.tb.Helper()
	var ops []clientv3.Op
	for i := range instances {
		id := fmt.Sprintf("%s-%03d", name, i)
		r := store.Record{Header: w.header(id), Seq: 1}
		for n := range each {
			b := workflow.Bookmark{ID: workflow.BookmarkID(id, fmt.Sprintf("%04d", n)), ActivityType: workflow.TaskType, Name: name, CreatedAt: first.Add(time.Duration(len(tasks)) * apart)}
			r.Header.Bookmarks = append(r.Header.Bookmarks, b)
			tasks = append(tasks, b)
			ops = append(ops, clientv3.OpPut(w.Keys.Task(&b), ""))
		}
		raw, err := db.Encode(&r)
		w.ok(err)
		ops = append(ops, clientv3.OpPut(w.Keys.Instance(id), string(raw)))
	}
	for some := range slices.Chunk(ops, 100) {
		_, err := w.raw.Txn(w.ctx()).Then(some...).Commit()
		w.ok(err)
	}
	return tasks
}

// What etcd looks at for a page of the tasks of a name is about what the page has, however many wait behind it. A
// node learns from its first page that they are many.
func TestAPageOfTasksCostsTheSameBesideMany(t *testing.T) {
	testsize.NotRaced(t, "it goes over many keys on one goroutine")
	t.Parallel()
	w := newWorld(t)
	const limit = 50
	var ids []string
	made := w.tasksOf("pack", 20, 200, time.Now().Add(-4000*time.Second), time.Second)
	for _, b := range made {
		ids = append(ids, b.ID)
	}
	page := func(cursor string) (got []string, next string, requests int, counted int64) {
		requests, counted = w.faults.Calls("get"), w.faults.Counted()
		tasks, end, err := w.Tasks(w.ctx(), "pack", cursor, limit)
		w.ok(err)
		for i := range tasks {
			got = append(got, tasks[i].Bookmark.ID)
		}
		return got, end.Next, w.faults.Calls("get") - requests, w.faults.Counted() - counted
	}
	if got, _, _, counted := page(""); !slices.Equal(got, ids[:limit]) || counted < int64(len(ids)) {
		t.Errorf("the first page counted %d of %d, and has %v", counted, len(ids), got)
	}
	if got, _, requests, counted := page(""); !slices.Equal(got, ids[:limit]) || requests != 2 || counted > 3*limit {
		t.Errorf("the first page again took %d requests and counted %d, and has %v", requests, counted, got)
	}
	var all []string
	for cursor := ""; ; {
		got, next, requests, counted := page(cursor)
		all = append(all, got...)
		if requests > 8 || counted > 10*limit {
			t.Errorf("the page behind %d took %d requests and counted %d", len(all)-len(got), requests, counted)
		}
		if cursor = next; next == "" {
			break
		}
	}
	if !slices.Equal(all, ids) {
		t.Errorf("%d of %d tasks, or not in their order", len(all), len(ids))
	}

	// The oldest are done, one that is older comes by an import, and none is left: each is seen at once.
	for i := range 300 {
		w.del(w.Keys.Task(&made[i]))
	}
	if got, _, requests, _ := page(""); !slices.Equal(got, ids[300:300+limit]) || requests > 8 {
		t.Errorf("behind those that are done: %d requests, %v", requests, got)
	}
	old := w.Keys.Task(&workflow.Bookmark{ID: "old~b", Name: "pack", CreatedAt: time.Unix(1, 0)})
	w.spoil(old, nil)
	kvs, _, err := w.TaskKeys(w.ctx(), "pack", "", limit)
	w.ok(err)
	if len(kvs) != limit || string(kvs[0].Key) != old {
		t.Errorf("one that is older than all is not the first of %d", len(kvs))
	}
	if _, err := w.raw.Delete(w.ctx(), w.Keys.Tasks("pack"), clientv3.WithPrefix()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got, next, _, _ := page(""); len(got) != 0 || next != "" {
			t.Errorf("none is left: %v, %q", got, next)
		}
	}
	if _, _, requests, _ := page(""); requests != 2 {
		t.Errorf("a look at an empty list took %d requests", requests)
	}
}

// Whatever a node remembers of a list of tasks, and whenever they were made, its pages have each of them once and in
// its order.
func TestPagesOfTasksHaveEachOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	names := 0
	rapid.Check(t, func(t *rapid.T) {
		names++
		name, now := fmt.Sprintf("n%d", names), time.Now().UnixMilli()
		prefix := w.Keys.Tasks(name)
		at := rapid.OneOf(rapid.Int64Range(0, 3), rapid.Int64Range(now-5000, now), rapid.Int64Range(now-300, now-200), rapid.Int64Range(now-10_000_000, now), rapid.Int64Range(now, now+1000), rapid.Just(int64(record.LastShort-1)))
		var want []string
		var puts []clientv3.Op
		for i, ms := range rapid.SliceOfN(at, 0, 40).Draw(t, "times") {
			key := w.Keys.Task(&workflow.Bookmark{ID: fmt.Sprintf("i%02d~b", i), Name: name, CreatedAt: time.UnixMilli(ms)})
			want, puts = append(want, key), append(puts, clientv3.OpPut(key, ""))
		}
		slices.Sort(want)
		if _, err := w.raw.Txn(w.ctx()).Then(puts...).Commit(); err != nil {
			t.Fatal(err)
		}
		limit := rapid.Int64Range(1, 12).Draw(t, "limit")
		for range 2 {
			w.RememberTasks(prefix, rapid.OneOf(rapid.Just(int64(0)), at).Draw(t, "remembered"))
			var got []string
			for cursor := ""; ; {
				kvs, end, err := w.TaskKeys(w.ctx(), name, cursor, limit)
				if err != nil {
					t.Fatal(err)
				}
				if int64(len(kvs)) > limit || len(kvs) == 0 && end.Next != "" {
					t.Fatalf("%d keys behind %q, and next %q", len(kvs), cursor, end.Next)
				}
				for _, kv := range kvs {
					got = append(got, string(kv.Key))
				}
				if cursor = end.Next; cursor == "" {
					break
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("pages of %d: %q, want %q", limit, got, want)
			}
		}
	})
}
