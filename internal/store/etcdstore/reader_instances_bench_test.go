package etcdstore

import (
	"fmt"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/find"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/lists"
	"github.com/weft-run/weft/pkg/workflow"
)

// BenchmarkInstances reads the first page of each list beside so many instances, half
// of them running, of 20 definitions with three versions each. All that run wait for one event, those of
// a definition for one of their own, and 50 of them for one that is rare:
//
//	go test ./internal/store/etcdstore -run '^$' -bench Instances -benchtime 50x
func BenchmarkInstances(b *testing.B) {
	for _, n := range []int{100, 200_000} {
		w := newWorld(b)
		w.makeInstances(n)
		many := []struct {
			name string
			f    find.Filter
		}{
			{"waits-for-event-of-all", waitsFor(find.WaitEvent, "all")}, {"waits-for-event-of-a-twentieth", waitsFor(find.WaitEvent, "of-7")},
			{"waits-for-event-of-a-fiftieth", waitsFor(find.WaitEvent, "some")}, {"waits-for-rare-event", waitsFor(find.WaitEvent, "rare")}, {"waits-for-task", waitsFor(find.WaitTask, "pack")},
			{"all", find.Filter{}}, {"running", find.Filter{Status: workflow.StatusRunning}}, {"faulted", find.Filter{SubStatus: workflow.Faulted}},
			{"definition", find.Filter{DefinitionID: "d7"}}, {"version", find.Filter{DefinitionID: "d7", Version: 2}},
			{"running-of-definition", find.Filter{DefinitionID: "d7", Status: workflow.StatusRunning}},
			{"created-before", find.Filter{Created: find.Span{Before: find.Moment{At: time.Now().Add(-time.Minute)}}}}, {"parent", find.Filter{Parent: "p0"}}, {"label", find.Filter{Labels: map[string]string{"team": "t0"}}}, {"correlation", find.Filter{CorrelationID: "c0"}},
		}
		for i := range many {
			oldest := many[i]
			oldest.name, oldest.f.Order = oldest.name+"-oldest-first", find.OldestFirst
			many = append(many, oldest)
		}
		for _, list := range many {
			if page, err := w.Reader.Instances(w.ctx(), lists.InstanceQuery{Filter: list.f, Limit: 50}); err != nil || len(page.Items) == 0 { // the node finds out where the list begins
				b.Fatal(page, err)
			}
			b.Run(fmt.Sprintf("%s/%d", list.name, n), func(b *testing.B) {
				for b.Loop() {
					if page, err := w.Reader.Instances(w.ctx(), lists.InstanceQuery{Filter: list.f, Limit: 50}); err != nil || len(page.Items) == 0 {
						b.Fatal(page, err)
					}
				}
			})
		}
	}
}

func waitsFor(kind, name string) find.Filter {
	return find.Filter{WaitsFor: find.Wait{Kind: kind, Name: name}}
}

// makeInstances makes so many that differ, a hundred in a transaction.
func (w *world) makeInstances(n int) {
	w.tb.Helper()
	for i := range 20 {
		_, err := w.raw.Put(w.ctx(), w.Keys.Head(fmt.Sprint("d", i)), "{}")
		w.ok(err)
	}
	for first := 0; first < n; first += 100 {
		o := db.NewOps()
		for i := first; i < first+100; i++ {
			h := w.header(fmt.Sprintf("instance-%06d", i))
			h.DefinitionID, h.Version, h.CreatedAt = fmt.Sprint("d", i/2%20), 1+i/40%3, time.Now().Add(-time.Duration(n-i)*time.Second)
			if h.SubStatus = workflow.Suspended; i%2 == 1 {
				h.SubStatus = []workflow.SubStatus{workflow.Finished, workflow.Finished, workflow.Faulted}[i/2%3]
			}
			h.Status = h.SubStatus.Status()
			h.CorrelationID, h.Parent, h.Labels = fmt.Sprint("c", i%max(1, n/50)), &workflow.Parent{InstanceID: fmt.Sprint("p", i%max(1, n/50))}, map[string]string{"team": fmt.Sprint("t", i%7)}
			if h.Status == workflow.StatusRunning {
				w.makeWaits(o, &h, i/2, n/2)
			}
			o.Put(w.Keys.Instance(h.ID), store.Record{Header: h, Seq: 1})
			w.Conn.WriteIndex(o, nil, &store.Record{Header: h})
		}
		then, err := o.Render()
		w.ok(err)
		_, err = w.Txn(w.ctx(), "make instances", nil, then, nil)
		w.ok(err)
	}
}

// makeWaits makes what the nth instance of those that run waits for.
func (w *world) makeWaits(o *db.Ops, h *workflow.Instance, nth, of int) {
	names := []string{"all", fmt.Sprint("of-", nth%20)}
	if nth%50 == 0 {
		names = append(names, "some")
	}
	if nth%max(1, of/50) == 0 {
		names = append(names, "rare", "pack")
	}
	for _, name := range names {
		b := w.bookmark(h.ID, name, name)
		if b.Name = name; name == "pack" {
			b.ActivityType = workflow.TaskType
			o.PutRaw(w.Keys.Task(&b), nil)
		}
		w.PutBookmark(o, b, h.CorrelationID, h.ID)
		h.Bookmarks = append(h.Bookmarks, b)
	}
}
