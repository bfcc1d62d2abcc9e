package etcdstore

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/store/etcdstore/lists"
	"github.com/weft-run/weft/internal/store/etcdstore/trace"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

// puts writes values below keys, many at once: those of one call are of one revision.
func (w *world) puts(kvs map[string]any) {
	w.tb.Helper()
	var ops []clientv3.Op
	for key, v := range kvs {
		raw, err := db.Encode(v)
		w.ok(err)
		ops = append(ops, clientv3.OpPut(key, string(raw)))
	}
	for chunk := range slices.Chunk(ops, db.MaxLevel) {
		_, err := w.raw.Txn(w.ctx()).Then(chunk...).Commit()
		w.ok(err)
	}
}

// Ids of dead letters, and hashes of what is queued, are no order of time. What came last is found among
// thousands, in few requests, and damage is no reason to find nothing.
func TestTheNewestAreFoundWhereverTheyLie(t *testing.T) {
	t.Parallel()
	for what, tc := range map[string]struct {
		put    func(w *world, id string) map[string]any
		newest func(w *world, limit int64) ([]string, error)
		prefix func(w *world) string
	}{
		"dead letters": {
			put: func(w *world, id string) map[string]any {
				st := event(id)
				return map[string]any{w.Keys.Dead(id): &store.DeadLetter{ID: id, Reason: workflow.DeadExpired, Stimulus: &st, CreatedAt: w.now}}
			},
			newest: func(w *world, limit int64) (ids []string, err error) {
				all, err := w.NewestDeadLetters(w.ctx(), limit)
				for i := range all {
					ids = append(ids, all[i].ID)
				}
				return ids, err
			},
			prefix: func(w *world) string { return w.Keys.Deads() },
		},
		"queue": {
			put: func(w *world, id string) map[string]any {
				item := w.item(id, event(id))
				return map[string]any{w.QueueKey(&item): &item}
			},
			newest: func(w *world, limit int64) (ids []string, err error) {
				all, err := w.NewestQueueItems(w.ctx(), limit)
				for i := range all {
					ids = append(ids, all[i].ID)
				}
				return ids, err
			},
			prefix: func(w *world) string { return w.Keys.Queues() },
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			newest := func(limit int64, want ...string) {
				t.Helper()
				got, err := tc.newest(w, limit)
				w.ok(err)
				slices.Sort(got)
				if want = slices.Sorted(slices.Values(want)); !slices.Equal(got, want) {
					t.Errorf("%d: got %q, want %q", limit, got, want)
				}
			}
			newest(2)
			var ids []string
			for i := range 9 {
				id := workflow.DeriveID(fmt.Sprint(i)) // anywhere
				ids = append(ids, id)
				w.puts(tc.put(w, id))
			}
			newest(9, ids...)
			newest(20, ids...)
			newest(3, ids[6:]...)
			if what == "queue" { // what waits behind gates is another matter
				w.puts(map[string]any{w.Keys.GatedQueue(*single) + "1-x": &store.QueueItem{ID: "gated", Hash: "h", Held: &store.HeldStart{}}})
				newest(3, ids[6:]...)
			}
			_, err := w.raw.Put(w.ctx(), tc.prefix(w)+"damaged", "{")
			w.ok(err)
			newest(3, ids[7:]...)
			many := map[string]any{}
			for i := range lists.MostNewestKeys + 500 {
				for key, v := range tc.put(w, workflow.DeriveID("many", fmt.Sprint(i))) {
					many[key] = v
				}
			}
			w.puts(many)
			var requests atomic.Int64
			w.faults.Add(clustertest.Rule{Match: func(clustertest.Call) bool {
				requests.Add(1)
				return false
			}})
			got, err := tc.newest(w, 200)
			w.ok(err)
			if n := requests.Load(); len(got) != 200 || n > 20 {
				t.Errorf("%d of %d, in %d requests", len(got), len(many), n)
			}
		})
	}
}

// Of what met nothing when it was sent it is told where it is now.
func TestWhereWhatWasSentIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	queued, dead, gone, other := correlated("paid", "o/1"), event("late"), addressedTo("paid", "i"), correlated("paid", "o/2")
	item, another := w.item("q", queued), w.item("x", other)
	w.puts(map[string]any{w.QueueKey(&item): &item, w.QueueKey(&another): &another})
	letter := record.StimulusDeadID("d", w.now)
	w.puts(map[string]any{
		w.Keys.Dead(letter): &store.DeadLetter{ID: letter, Stimulus: &dead},
		w.Keys.Dead(record.StimulusDeadID("dd", w.now.Add(time.Hour))): &store.DeadLetter{Stimulus: &dead},
	})
	sent := []store.SentStimulus{{ID: "q", Stimulus: queued}, {ID: "d", Stimulus: dead}, {ID: "g", Stimulus: gone}, {ID: "x", Stimulus: queued}}
	for range db.MaxLevel { // more than one request has room for
		sent = append(sent, store.SentStimulus{ID: "none", Stimulus: gone})
	}
	sent = append(sent, store.SentStimulus{ID: "x", Stimulus: other})
	got, err := w.Whereabouts(w.ctx(), sent)
	w.ok(err)
	want := make([]store.Whereabouts, len(sent))
	want[0].Queued, want[1].Letter, want[len(want)-1].Queued = true, letter, true
	if !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestWhoHoldsGates(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gates := []store.Gate{*single, {Definition: "order", Correlation: "c"}, {Correlation: "c"}}
	held := func() string {
		t.Helper()
		at, _, err := w.Revision(w.ctx())
		w.ok(err)
		got, err := w.Gates(w.ctx(), gates, at)
		w.ok(err)
		return strings.Join(got, " ")
	}
	if got := held(); got != "  " {
		t.Errorf("got %q", got)
	}
	w.gated("a")
	if got := held(); got != "a  " {
		t.Errorf("got %q", got)
	}
	if got, err := w.Gates(w.ctx(), nil, 0); err != nil || len(got) != 0 {
		t.Errorf("of none: %q, %v", got, err)
	}
}

// What is queued for a correlation like that of the instance is found among thousands for others.
func TestWhatIsQueuedForALikeCorrelationIsFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	like := w.item("like", correlated("paid", "order-4712"))
	all := map[string]any{w.QueueKey(&like): &like}
	for i := range 3 * trace.SituationItems {
		item := w.item(fmt.Sprint("q", i), correlated("paid", fmt.Sprintf("%04d-bill", i))) // before it in the order of keys
		all[w.QueueKey(&item)] = &item
	}
	w.puts(all)
	in := w.instance("i")
	mark := workflow.Bookmark{ID: "i~1", ActivityType: workflow.EventType, Name: "paid", Payload: workflow.EventPayload("paid"), Hash: hashOf("paid")}
	for correlation, want := range map[string]int{"order-4711": trace.SituationItems + 1, "o": trace.SituationItems, "": trace.SituationItems} {
		in.Header.CorrelationID = correlation
		st := &store.Situation{Record: in}
		w.ok(w.Beside(w.ctx(), st, []workflow.Bookmark{mark}))
		found := slices.ContainsFunc(st.Queued, func(q store.QueuedFor) bool {
			return q == store.QueuedFor{ID: "like", Hash: mark.Hash, CorrelationID: "order-4712"}
		})
		if len(st.Queued) != want || found != (want > trace.SituationItems) {
			t.Errorf("%s: %d items, found %v", correlation, len(st.Queued), found)
		}
	}
}
