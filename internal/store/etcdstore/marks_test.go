package etcdstore

import (
	"fmt"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

// waiting makes an instance that waits for an event and kept its lock, as items lie
// in the queue for it; it gives those that the commit read.
func (w *world) waiting(id, event string) []store.QueueItem {
	w.tb.Helper()
	c := w.first(id, w.lock(id, "me"), w.bookmark(id, "b0", event))
	c.Release = true
	done := w.commit(c)
	if done.Kept == nil {
		w.tb.Fatalf("%s released its lock", id)
	}
	return done.Kept.Queue
}

func (w *world) claimed(item *store.QueueItem, id string) {
	w.tb.Helper()
	if _, ok, err := w.Claim(w.ctx(), item, id, workflow.Command{ID: item.ID, Kind: workflow.CommandResume, CreatedAt: w.now}); err != nil || !ok {
		w.tb.Fatalf("%t, %v", ok, err)
	}
}

func TestWhoTakesTheLastItemOfASliceDeletesItsMarks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 5 {
		w.queued(fmt.Sprint("i", i), event("paid"))
	}
	w.queued("other", correlated("paid", "k"))
	if n := w.has("queue-mark/"); n < 2 {
		t.Fatalf("%d marks", n)
	}
	for i := range 5 {
		id := fmt.Sprint("a", i)
		items := w.waiting(id, "paid")
		if len(items) != 5-i || items[0].Alone > 0 != (i == 4) {
			t.Fatalf("%s sees %+v", id, items)
		}
		w.claimed(&items[0], id)
	}
	slice := w.Keys.QueueSlice(hashOf("paid"), record.NoCorrelation)
	w.want(strings.TrimPrefix(w.Keys.MarksOf(slice), w.Keys.Root), 0)
	w.want("queue-mark/", 1) // of the correlation
}

// An item that comes while the last one is taken keeps the marks.
func TestAMarkOfALaterItemStays(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(w *world, item *store.QueueItem){
		"claimed": func(w *world, _ *store.QueueItem) {
			items := w.waiting("a", "paid")
			w.queued("later", event("paid"))
			w.claimed(&items[0], "a")
		},
		"expired": func(w *world, _ *store.QueueItem) {
			due := w.inQueue()
			between := false
			w.faults.Add(clustertest.Rule{Match: func(c clustertest.Call) bool {
				if !between && c.DeletesUnder(w.Keys.Queues()) { // the item was read, and is not yet deleted
					between = true
					later := w.item("later", event("paid"))
					raw, err := db.Encode(later)
					w.ok(err)
					_, err = w.raw.Txn(w.ctx()).Then(db.Put(w.QueueKey(&later), raw), db.Put(w.Keys.Mark(record.SliceOf(w.QueueKey(&later)), later.ID), nil)).Commit()
					w.ok(err)
				}
				return false
			}})
			reason, err := w.ExpireQueueItem(w.ctx(), due[0], time.Minute, w.now)
			if w.ok(err); reason == "" {
				w.tb.Error("not expired")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			take(w, w.queued("i", event("paid")))
			w.want("queue/", 1)
			if items := w.waiting("b", "paid"); len(items) != 1 || items[0].ID != "later" {
				t.Errorf("b meets %+v", items)
			}
		})
	}
}

func TestTheLastItemThatExpiresTakesItsMarks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.queued("i", event("paid"))
	w.queued("j", addressedTo("paid", w.instance("a").Header.ID))
	due := w.inQueue()
	for _, d := range due {
		if _, err := w.ExpireQueueItem(w.ctx(), d, time.Minute, w.now); err != nil {
			t.Fatal(err)
		}
	}
	w.want("queue/", 0)
	w.want("queue-mark/", 0)
}

// Two who take the last two at once leave marks, which cost a look, and go.
func TestMarksOfEmptySlicesAreDropped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 90 {
		w.queued(fmt.Sprint("i", i), correlated("paid", fmt.Sprint(i)))
	}
	items, _, err := w.QueueItems(w.ctx(), "", "", 1000)
	w.ok(err)
	w.instance("a")
	for i := range items[:60] {
		items[i].Alone = 0
		w.claimed(&items[i], "a")
	}
	w.want("queue-mark/", 90)
	for cursor, first := "", true; first || cursor != ""; first = false {
		cursor, err = w.DropMarks(w.ctx(), cursor)
		w.ok(err)
	}
	w.want("queue-mark/", 30)
}

func TestAStaleMarkKeepsTheLockAndFindsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	slice := w.Keys.QueueSlice(hashOf("paid"), record.NoCorrelation)
	_, err := w.raw.Put(w.ctx(), w.Keys.Mark(slice, "x"), "")
	w.ok(err)
	if items := w.waiting("a", "paid"); len(items) != 0 {
		t.Errorf("%+v", items)
	}
}

// A stimulus for too many is refused; one page tells that.
func TestOfTooManyTargetsOnePageIsRead(t *testing.T) {
	testsize.NotRaced(t, "it goes over many keys on one goroutine")
	t.Parallel()
	for n, more := range map[int]bool{lookup.MaxTargets: false, lookup.MaxTargets + 1: true} {
		w := newWorld(t)
		for i := 0; i < n; {
			var ops []clientv3.Op
			for ; i < n && len(ops) < db.MaxLevel; i++ {
				ops = append(ops, db.Put(fmt.Sprintf("%s-/i%05d/b", w.Keys.Bookmarks(hashOf("paid")), i), []byte("{}")))
			}
			_, err := w.raw.Txn(w.ctx()).Then(ops...).Commit()
			w.ok(err)
		}
		reads := 0
		w.faults.Add(clustertest.Rule{Match: func(c clustertest.Call) bool {
			reads++
			return false
		}})
		l := w.look(event("paid"))
		if l.More != more || !more && len(l.Bookmarks) != n || more && reads != 1 {
			t.Errorf("of %d: more %t, %d read in %d requests", n, l.More, len(l.Bookmarks), reads)
		}
	}
}

// BenchmarkCommitBesideTheQueue commits an instance that waits where 2,000 items of
// 50 KB lie, and where none do.
func BenchmarkCommitBesideTheQueue(b *testing.B) {
	for _, n := range []int{0, 200, 2000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := newWorld(b)
			payload := strings.Repeat("x", 50<<10)
			for i := range n {
				st := event("paid")
				item := w.item(fmt.Sprint("i", i), st)
				key := w.QueueKey(&item)
				// As it would lie there if it did not compress.
				_, err := w.raw.Put(w.ctx(), key, `{"id":"`+item.ID+`","stimulus":{"activityType":"x","input":{"a":"`+payload+`"}}}`)
				w.ok(err)
				_, err = w.raw.Put(w.ctx(), w.Keys.Mark(record.SliceOf(key), item.ID), "")
				w.ok(err)
			}
			for b.Loop() {
				b.StopTimer()
				id := w.id("a")
				c := w.first(id, w.lock(id, "me"), w.bookmark(id, "b0", "paid"))
				c.Release = true
				b.StartTimer()
				w.commit(c)
			}
		})
	}
}
