package etcdstore

import (
	"fmt"
	"slices"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/store/etcdstore/jobs"
	"github.com/weft-run/weft/internal/store/etcdstore/lists"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

// revisionList is a list that reads a page in several requests.
type revisionList struct {
	under string // its keys, by which its requests are known
	read  func(cursor string, limit int64) ([]string, db.PageEnd, error)
}

func idsOf[T any](items []T, end db.PageEnd, err error, id func(*T) string) ([]string, db.PageEnd, error) {
	var ids []string
	for i := range items {
		ids = append(ids, id(&items[i]))
	}
	return ids, end, err
}

func (w *world) revisionLists() map[string]revisionList {
	jobs := jobs.New(w.Conn.Conn)
	return map[string]revisionList{
		"queue": {w.Keys.Queues(), func(c string, n int64) ([]string, db.PageEnd, error) {
			items, end, err := w.QueueItems(w.ctx(), "", c, n)
			return idsOf(items, end, err, func(q *store.QueueItem) string { return q.ID })
		}},
		"dead letters": {w.Keys.Deads(), func(c string, n int64) ([]string, db.PageEnd, error) {
			items, end, err := w.DeadLetters(w.ctx(), c, n)
			return idsOf(items, end, err, func(d *store.DeadLetter) string { return d.ID })
		}},
		"tasks": {w.Keys.Tasks(""), func(c string, n int64) ([]string, db.PageEnd, error) {
			items, end, err := w.Tasks(w.ctx(), "", c, n)
			return idsOf(items, end, err, func(t *lists.Task) string { return t.InstanceID })
		}},
		"jobs": {record.JobKeys{Root: w.Keys.Root}.Jobs(), func(c string, n int64) ([]string, db.PageEnd, error) {
			items, end, err := jobs.List(w.ctx(), c, n)
			return idsOf(items, end, err, func(j *store.Job) string { return j.ID })
		}},
		"definitions": {w.Keys.Definitions(), func(c string, n int64) ([]string, db.PageEnd, error) {
			items, end, err := w.ListDefinitions(w.ctx(), c, int(n))
			return idsOf(items, end, err, func(h *store.DefinitionHead) string { return h.ID })
		}},
	}
}

// fillRevisionLists puts n of everything that [world.revisionLists] list, and as many definitions
// that are deleted, which are read and not listed.
func (w *world) fillRevisionLists(n int) {
	w.tb.Helper()
	w.fillLists(n)
	for i := range n {
		raw, err := db.Encode(store.DefinitionHead{ID: fmt.Sprintf("a%03d", i), Deleted: &w.now})
		w.ok(err)
		_, err = w.raw.Put(w.ctx(), w.Keys.Head(fmt.Sprintf("a%03d", i)), string(raw))
		w.ok(err)
		id := workflow.NewID()
		if _, err := jobs.New(w.Conn.Conn).Create(w.ctx(), &store.Job{ID: id, Kind: workflow.CommandCancel, State: store.JobRunning, Write: id, CreatedAt: w.now}); err != nil {
			w.tb.Fatal(err)
		}
	}
}

// between runs do after the first read of what is under a prefix, before the next one.
func (w *world) between(under string, do func()) (disarm func()) {
	reads := 0
	armed := w.faults.Add(clustertest.Rule{Match: func(c clustertest.Call) bool {
		if !c.Mutating && (c.Touches(under) || reads > 0) {
			if reads++; reads == 2 {
				do()
			}
		}
		return false
	}})
	return armed.Disarm
}

// A page is as etcd was at one revision, which it names, whatever is written while it is read.
func TestAPageIsOfOneRevision(t *testing.T) {
	t.Parallel()
	const n = 40
	for _, what := range []string{"queue", "dead letters", "tasks", "jobs", "definitions"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.fillRevisionLists(n)
			list := w.revisionLists()[what]
			want, end, err := list.read("", n)
			if w.ok(err); len(want) != n || end.Next != "" || end.Revision < w.revisionOf(list.under) {
				t.Fatalf("%d of %d, %+v", len(want), n, end)
			}
			gone := false
			defer w.between(list.under, func() {
				gone = true
				for _, prefix := range []string{list.under, w.Keys.Root + "instance/"} {
					if _, err := w.raw.Delete(w.ctx(), prefix, clientv3.WithPrefix()); err != nil {
						t.Error(err)
					}
				}
			})()
			before := w.revisionOf(list.under)
			got, end, err := list.read("", n)
			if w.ok(err); !slices.Equal(got, want) || end.Next != "" || !gone {
				t.Errorf("%d of %d, %+v, all deleted in between: %v", len(got), n, end, gone)
			}
			if now := w.revision(); end.Revision < before || end.Revision >= now {
				t.Errorf("read at revision %d, it was written last at %d, and all deleted by %d", end.Revision, before, now)
			}
		})
	}
}

// Where etcd forgets the revision of a page while it is read, the page ends there, or is read
// again: nothing is left out.
func TestAPageEndsWhereItsRevisionIsForgotten(t *testing.T) {
	t.Parallel()
	const n = 40
	etcd := clustertest.Start(t)
	w := newWorldOn(t, etcd)
	w.fillRevisionLists(n)
	for what, list := range w.revisionLists() {
		want, _, err := list.read("", n)
		w.ok(err)
		forgotten := 0
		forget := func() {
			forgotten++
			resp, err := w.raw.Put(w.ctx(), w.Keys.Root+"beside", "")
			if err == nil {
				_, err = w.raw.Compact(w.ctx(), resp.Header.Revision)
			}
			if err != nil {
				t.Error(err)
			}
		}
		var got []string
		for pages, cursor := 0, ""; pages == 0 || cursor != ""; pages++ {
			if pages > n {
				t.Fatalf("%s: it does not end", what)
			}
			disarm := w.between(list.under, forget)
			ids, end, err := list.read(cursor, n)
			disarm()
			w.ok(err)
			got, cursor = append(got, ids...), end.Next
		}
		if !slices.Equal(got, want) || forgotten == 0 {
			t.Errorf("%s: %d of %d, forgotten %d times", what, len(got), n, forgotten)
		}
	}
}

// revisionOf is the revision at which something under a prefix was written last.
func (w *world) revisionOf(under string) int64 {
	w.tb.Helper()
	resp, err := w.raw.Get(w.ctx(), under, clientv3.WithPrefix(), clientv3.WithKeysOnly())
	w.ok(err)
	var last int64
	for _, kv := range resp.Kvs {
		last = max(last, kv.ModRevision)
	}
	return last
}
