package etcdstore

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/find"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/store/etcdstore/lists"
	"github.com/weft-run/weft/internal/store/etcdstore/upkeep"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/workflow"
)

// A page costs what it returns, wherever in its list it lies: how many requests, keys
// and bytes are read does not depend on how much there is.
func TestAPageReadsWhatItReturns(t *testing.T) {
	testsize.NotRaced(t, "it goes over many keys on one goroutine")
	t.Parallel()
	w := newWorld(t)
	const n, limit = 150, 10
	w.fillLists(n)
	_, err := w.Reader.Instances(w.ctx(), lists.InstanceQuery{Limit: 1}) // the first time it finds out which lists there are
	w.ok(err)
	for what, read := range map[string]func(cursor string) (items int, next string, err error){
		"instances":                  w.listInstances(find.Filter{}, limit),
		"instances of a definition":  w.listInstances(find.Filter{DefinitionID: "order"}, limit),
		"instances of a status":      w.listInstances(find.Filter{Status: workflow.StatusRunning}, limit),
		"instances of a correlation": w.listInstances(find.Filter{CorrelationID: "k"}, limit),
		"tasks":                      counting(func(c string) ([]lists.Task, string, error) { return cursorOf(w.Tasks(w.ctx(), "", c, limit)) }),
		"tasks of a name":            counting(func(c string) ([]lists.Task, string, error) { return cursorOf(w.Tasks(w.ctx(), "pack", c, limit)) }),
		"queue": counting(func(c string) ([]store.QueueItem, string, error) {
			return cursorOf(w.QueueItems(w.ctx(), "", c, limit))
		}),
		"dead letters": counting(func(c string) ([]store.DeadLetter, string, error) { return cursorOf(w.DeadLetters(w.ctx(), c, limit)) }),
		"timers":       counting(func(c string) ([]record.Due, string, error) { return cursorOf(w.Timers(w.ctx(), c, limit)) }),
		"schedules":    counting(func(c string) ([]store.CronEntry, string, error) { return cursorOf(w.Schedules(w.ctx(), c, limit, 0)) }),
		"definitions": counting(func(c string) ([]store.DefinitionHead, string, error) {
			return cursorOf(w.ListDefinitions(w.ctx(), c, limit))
		}),
	} {
		all := 0
		for cursor := ""; ; {
			calls, keys, values := w.faults.Calls("get")+w.faults.Calls("txn"), w.faults.Keys(), w.faults.Values()
			items, next, err := read(cursor)
			w.ok(err)
			calls, keys, values = w.faults.Calls("get")+w.faults.Calls("txn")-calls, w.faults.Keys()-keys, w.faults.Values()-values
			most := 3
			if strings.HasPrefix(what, "instances") { // one looks for new lists, and several are the windows in which the others are read
				most = 11
			}
			if calls > most || keys > 8*limit || values > 2048*limit {
				t.Errorf("%s: %d items of %d cost %d calls, %d keys and %d bytes", what, items, n, calls, keys, values)
			}
			if all += items; next == "" {
				break
			}
			cursor = next
		}
		if all != n {
			t.Errorf("%s: %d items of %d", what, all, n)
		}
	}
	// A journal has its next number in the place of a cursor.
	for from := int64(1); from != 0; {
		calls, keys := w.faults.Calls("get")+w.faults.Calls("txn"), w.faults.Keys()
		_, next := w.journal("i000", from, limit)
		if calls, keys = w.faults.Calls("get")+w.faults.Calls("txn")-calls, w.faults.Keys()-keys; calls > 3 || keys > 2*limit {
			t.Errorf("the journal from %d: %d calls, %d keys", from, calls, keys)
		}
		from = next
	}
}

// fillLists puts n of everything that is listed.
func (w *world) fillLists(n int) {
	w.tb.Helper()
	for i := range n {
		id := fmt.Sprintf("i%03d", i)
		b := w.bookmark(id, "b", "paid")
		b.ActivityType, b.Name = workflow.TaskType, "pack"
		c := w.first(id, nil, b)
		c.After.Header.CorrelationID = "k"
		c.After.Header.CreatedAt = w.now.Add(time.Duration(i) * time.Millisecond)
		c.Dead = []store.DeadLetter{{ID: id}}
		w.commit(c)
		st := event(id)
		ok, err := w.Enqueue(w.ctx(), w.item(id, st), w.look(st))
		if w.ok(err); !ok {
			w.tb.Fatal("not queued")
		}
		w.timerAt(i%upkeep.TimerShards, id, w.now)
		for key, v := range map[string]any{
			w.Keys.Cron(id, "a", w.now): store.CronEntry{DefinitionID: id, ActivityID: "a", Due: w.now},
			w.Keys.Head(id):             store.DefinitionHead{ID: id, Published: 1},
		} {
			raw, err := db.Encode(v)
			w.ok(err)
			_, err = w.raw.Put(w.ctx(), key, string(raw))
			w.ok(err)
		}
		if i > 0 {
			w.commit(w.next("i000", nil))
		}
	}
}

func counting[T any](read func(cursor string) ([]T, string, error)) func(cursor string) (int, string, error) {
	return func(cursor string) (int, string, error) {
		items, next, err := read(cursor)
		return len(items), next, err
	}
}

func (w *world) listInstances(f find.Filter, limit int64) func(cursor string) (int, string, error) {
	return counting(func(c string) ([]workflow.Instance, string, error) { return w.page(f, c, limit) })
}
