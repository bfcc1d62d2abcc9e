package etcdstore

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"pgregory.net/rapid"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/commits"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/lists"
	"github.com/weft-run/weft/internal/store/etcdstore/upkeep"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/task"
)

// asks is a user task of an instance for people and groups.
func (w *world) asks(id, local string, priority int64, users, groups []any) workflow.Bookmark {
	b := w.bookmark(id, local, "ask "+local)
	b.ActivityType, b.Name = workflow.TaskType, task.UserName
	b.Metadata = map[string]any{"title": "t", "priority": priority, "users": users, "groups": groups}
	return b
}

// forPeople gives the ids of a page of some lists, its cursor, and what it cost.
func (w *world) forPeople(of lists.Whose, cursor string, limit int64) (ids []string, next string, requests int, counted int64) {
	w.tb.Helper()
	requests, counted = w.faults.Calls("get"), w.faults.Counted()
	tasks, end, err := w.ForPeople(w.ctx(), &of, cursor, limit)
	w.ok(err)
	for i := range tasks {
		ids = append(ids, tasks[i].Bookmark.ID)
	}
	return ids, end.Next, w.faults.Calls("get") - requests, w.faults.Counted() - counted
}

// What a page of somebody's tasks costs does not grow with those of others, nor, once a node knows that they are many, with
// those that stand behind it.
func TestAPageOfSomebodysTasksCostsTheSameBesideMany(t *testing.T) {
	testsize.NotRaced(t, "it goes over many keys on one goroutine")
	t.Parallel()
	w := newWorld(t)
	const limit = 20
	few := func(requests int, counted int64) bool { return requests <= 6 && counted <= 4*limit }
	var ops []clientv3.Op
	var ids []string
	for i := range 4000 {
		id := fmt.Sprintf("f%04d", i/100)
		b := w.asks(id, fmt.Sprintf("%04d", i), 50, []any{"boss"}, []any{"finance"})
		b.CreatedAt = w.now.Add(time.Duration(i) * time.Second)
		ids = append(ids, b.ID)
		for _, key := range append(w.Keys.People.Entries(&b), w.Keys.Task(&b)) {
			ops = append(ops, clientv3.OpPut(key, ""))
		}
		if i%100 == 0 {
			r := store.Record{Header: w.header(id), Seq: 1}
			for n := range 100 {
				b := w.asks(id, fmt.Sprintf("%04d", i+n), 50, []any{"boss"}, []any{"finance"})
				b.CreatedAt = w.now.Add(time.Duration(i+n) * time.Second)
				r.Header.Bookmarks = append(r.Header.Bookmarks, b)
			}
			raw, err := db.Encode(&r)
			w.ok(err)
			ops = append(ops, clientv3.OpPut(w.Keys.Instance(id), string(raw)))
		}
	}
	for some := range slices.Chunk(ops, 100) {
		_, err := w.raw.Txn(w.ctx()).Then(some...).Commit()
		w.ok(err)
	}
	anna := w.asks("a", "b", 10, []any{"anna"}, nil)
	w.commit(w.first("a", nil, anna))

	if got, next, requests, counted := w.forPeople(lists.Whose{Users: []string{"key:anna", "anna"}, Groups: []string{"sales"}}, "", limit); !slices.Equal(got, []string{anna.ID}) || next != "" || !few(requests, counted) {
		t.Errorf("anna's: %v, %q, %d requests that counted %d", got, next, requests, counted)
	}
	boss := lists.Whose{Users: []string{"boss"}, Groups: []string{"finance"}}
	if got, _, _, _ := w.forPeople(boss, "", limit); !slices.Equal(got, ids[:limit]) {
		t.Errorf("the first page: %v", got)
	}
	if got, _, requests, counted := w.forPeople(boss, "", limit); !slices.Equal(got, ids[:limit]) || !few(requests, counted) {
		t.Errorf("the first page again: %v, %d requests that counted %d", got, requests, counted)
	}
	dear := 0 // looks that counted many
	for i := range 300 {
		b := w.asks(fmt.Sprintf("f%04d", i/100), fmt.Sprintf("%04d", i), 50, []any{"boss"}, []any{"finance"})
		b.CreatedAt = w.now.Add(time.Duration(i) * time.Second)
		for _, key := range append(w.Keys.People.Entries(&b), w.Keys.Task(&b)) {
			w.del(key)
		}
		if i%10 > 0 {
			continue
		}
		got, _, _, counted := w.forPeople(boss, "", limit)
		if !slices.Equal(got, ids[i+1:i+1+limit]) {
			t.Fatalf("behind %d that are done: %v", i+1, got)
		}
		if counted > 2*1100 { // of two lists
			dear++
		}
	}
	if dear > 1 {
		t.Errorf("%d of 30 looks counted all that wait", dear)
	}
	var all []string
	for cursor := ""; ; {
		got, next, _, _ := w.forPeople(boss, cursor, 500)
		if all = append(all, got...); next == "" {
			break
		}
		cursor = next
	}
	if !slices.Equal(all, ids[300:]) {
		t.Errorf("%d of %d tasks, or not in their order", len(all), len(ids)-300)
	}
}

// Pages of several lists have each task once, the most urgent, the first due and the oldest first, whatever a node remembers.
func TestPagesOfSeveralListsHaveEachTaskOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rounds := 0
	rapid.Check(t, func(t *rapid.T) {
		rounds++
		names := []any{fmt.Sprintf("u%d", rounds), fmt.Sprintf("u%d", rounds+1_000_000)}
		id := fmt.Sprintf("i%d", rounds)
		var tasks []workflow.Bookmark
		for i := range rapid.IntRange(0, 12).Draw(t, "tasks") {
			b := w.asks(id, fmt.Sprintf("%02d", i), rapid.SampledFrom([]int64{0, 50, 100}).Draw(t, "priority"), names[:rapid.IntRange(1, 2).Draw(t, "users")], []any{names[0]})
			b.CreatedAt = w.now.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "age")) * time.Minute)
			if due := rapid.IntRange(0, 3).Draw(t, "due"); due > 0 {
				b.Metadata.(map[string]any)["dueAt"] = w.now.Add(time.Duration(due) * time.Hour).Format(time.RFC3339Nano)
			}
			tasks = append(tasks, b)
		}
		w.commit(w.first(id, nil, tasks...))
		slices.SortFunc(tasks, func(a, b workflow.Bookmark) int {
			return slices.Compare(w.Keys.People.Entries(&a)[:1], w.Keys.People.Entries(&b)[:1])
		})
		of := lists.Whose{Nobodys: true, Users: []string{names[0].(string), names[1].(string)}, Groups: []string{names[0].(string)}}
		limit := rapid.Int64Range(1, 5).Draw(t, "limit")
		var got, want []string
		for i := range tasks {
			want = append(want, tasks[i].ID)
		}
		for cursor := ""; ; {
			ids, next, _, _ := w.forPeople(of, cursor, limit)
			if got = append(got, ids...); next == "" {
				break
			}
			cursor = next
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

// The commit that makes a user task lists it, and each that burns it takes it off all lists, also in pages of what is wide,
// by a removal, and where somebody has it.
func TestAUserTaskIsListedAsLongAsItWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.asks("a", "b", 50, []any{"anna", "key:bert"}, []any{"anna"})
	w.commit(w.first("a", nil, b))
	w.want("user-task/", 4)
	if _, claim, err := w.Claims.State(w.ctx(), &b); err != nil || claim != nil {
		t.Fatal(claim, err)
	}
	free, _, err := w.Claims.State(w.ctx(), &b)
	w.ok(err)
	w.claims(*free, "key:bert")
	if tasks, _, err := w.ForPeople(w.ctx(), &lists.Whose{Users: []string{"anna"}}, "", 10); err != nil || len(tasks) != 1 || tasks[0].Claim == nil || tasks[0].Claim.Worker != "key:bert" || tasks[0].InstanceID != "a" {
		t.Errorf("%+v, %v", tasks, err)
	}
	w.commit(ends(w.next("a", nil)))
	w.want("user-task/", 0)

	var many []workflow.Bookmark
	for i := range 40 {
		users := []any{fmt.Sprint("u", i)}
		if i%2 == 0 {
			users = nil
		}
		many = append(many, w.asks("wide", fmt.Sprint("b", i), 50, users, nil))
	}
	w.commit(commits.Decide(w.first("wide", nil, many...)))
	w.ok(errOf(w.WriteIndex(w.ctx(), nil, w.record("wide"))))
	w.completed("wide")
	w.want("user-task/", 80)
	w.want("user-task/nobody/", 20)
	c := w.next("wide", nil)
	c.Burned, c.After.Header.Bookmarks = c.Before.Header.Bookmarks[:10], c.Before.Header.Bookmarks[10:]
	w.commit(commits.Decide(c))
	w.ok(errOf(w.WriteIndex(w.ctx(), nil, w.record("wide"))))
	w.completed("wide")
	w.want("user-task/", 60)
	w.ok(errOf(w.Remove(w.ctx(), w.lock("wide", "2"), "wide", w.now)))
	w.want("user-task/", 0)

	w.commit(w.first("lost", nil, w.asks("lost", "b", 50, []any{"anna"}, nil)))
	w.spoil(w.Keys.Instance("lost"), []byte("junk"))
	w.ok(errOf(w.Remove(w.ctx(), w.lock("lost", "2"), "lost", w.now)))
	w.want("user-task/", 0)
}

// What a program of before made is put into the lists, unless its instance moves in that moment.
func TestUserTasksOfBeforeAreListed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, id := range []string{"a", "b", "c"} {
		w.commit(w.first(id, nil, w.asks(id, "b", 50, []any{"anna"}, nil), w.bookmark(id, "e", "e")))
	}
	before := w.dump()
	if n, err := upkeep.ListForPeople(w.ctx(), w.Upkeep); err != nil || n != 0 {
		t.Errorf("of none: %d, %v", n, err)
	}
	forget := func() {
		_, err := w.raw.Delete(w.ctx(), w.Keys.People.Lists(), clientv3.WithPrefix())
		w.ok(err)
	}
	forget()
	if n, err := upkeep.ListForPeople(w.ctx(), w.Upkeep); err != nil || n != 3 {
		t.Errorf("of three: %d, %v", n, err)
	}
	compare(t, "listed", w.dump(), before)

	forget()
	moved := false
	disarm := w.faults.Add(clustertest.Rule{Match: func(c clustertest.Call) bool {
		if !moved && c.PutsUnder(w.Keys.People.Lists()) && strings.Contains(strings.Join(c.Puts, " "), "/b/b") {
			moved = true
			w.spoil(w.Keys.Instance("b"), w.value(w.Keys.Instance("b")))
		}
		return false
	}}).Disarm
	if _, err := upkeep.ListForPeople(w.ctx(), w.Upkeep); err != nil || !moved {
		t.Error(moved, err)
	}
	disarm()
	w.want("user-task/all/", 2)
	if _, err := upkeep.ListForPeople(w.ctx(), w.Upkeep); err != nil {
		t.Error(err)
	}
	w.want("user-task/all/", 3)
	if got := w.fsck(); len(got.Findings) != 0 {
		t.Errorf("%+v", got.Findings)
	}
}
