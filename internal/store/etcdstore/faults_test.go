package etcdstore

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/store/etcdstore/upkeep"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

// everywhere is all shards, from their beginnings on.
func everywhere() upkeep.Places {
	from := upkeep.Places{}
	for i := range record.TimerShards {
		from[i] = ""
	}
	return from
}

// due is what is due at a time, up to 10 of a shard.
func (w *world) due(of record.Dated, now time.Time) []record.Due {
	w.tb.Helper()
	due, _, err := w.Due(w.ctx(), of, everywhere(), now, 10)
	w.ok(err)
	return slices.DeleteFunc(due, func(d record.Due) bool { return d.Unreadable || d.At.After(now) })
}

// dueTimers makes a timer of an instance and one of an instance that is gone.
func (w *world) dueTimers() []record.Due {
	w.tb.Helper()
	for _, id := range []string{"a", "orphan"} {
		b := w.bookmark(id, "b", "delay")
		b.DueAt = &w.now
		w.commit(w.first(id, nil, b))
	}
	_, err := w.raw.Delete(w.ctx(), w.Keys.Instance("orphan"))
	w.ok(err)
	due := w.due(record.Timers, w.now)
	if len(due) != 2 {
		w.tb.Fatalf("due timers: %+v", due)
	}
	return due
}

// dead puts a dead letter.
func (w *world) dead(id string) *store.DeadLetter {
	w.tb.Helper()
	c := w.first("dying", nil)
	st := event("paid")
	c.Dead = []store.DeadLetter{{ID: id, Reason: workflow.DeadExpired, Stimulus: &st}}
	w.commit(c)
	d, err := w.DeadLetter(w.ctx(), id)
	w.ok(err)
	return d
}

// job makes a job, unless it is there, and reads it.
func (w *world) job(id string) *store.Job {
	w.tb.Helper()
	_, err := w.Jobs.Create(w.ctx(), &store.Job{ID: id, State: store.JobRunning, Write: "w1"})
	w.ok(err)
	job, err := w.Jobs.Job(w.ctx(), id)
	w.ok(err)
	return job
}

// occurrence puts a cron key that is due, and gives it with the one to follow.
func (w *world) occurrence() (due, next *store.CronEntry) {
	w.tb.Helper()
	e := store.CronEntry{DefinitionID: "order", ActivityID: "cron", Kind: store.ScheduleTimer, Interval: time.Minute, Due: w.now}
	raw, err := db.Encode(e)
	w.ok(err)
	_, err = w.raw.Put(w.ctx(), w.CronKey(&e), string(raw))
	w.ok(err)
	found := w.due(record.Schedules, w.now)
	e.Due = w.now.Add(time.Minute)
	return found[0].Schedule, &e
}

// TestEveryTransactionHoldsUnderFaults is Rule U: sent twice, sent again after a
// lost answer, sent again while the first copy arrives late, each leaves what one
// sending leaves, and reports what became of it.
func TestEveryTransactionHoldsUnderFaults(t *testing.T) {
	t.Parallel()
	for _, tx := range transactions {
		t.Run(tx.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			call := tx.prepare(w)
			before := w.dump()
			first, err := call()
			w.ok(err)
			want := w.dump()
			if maps.Equal(before, want) {
				t.Fatal("the transaction changed nothing")
			}
			again := tx.again
			if again == "" {
				again = first
			}
			for name, fault := range map[string]clustertest.Fault{
				"twice": clustertest.ApplyTwice, "answer lost": clustertest.LoseAnswer, "not sent": clustertest.FailBefore, "late": clustertest.DeliverLate,
			} {
				w := newWorld(t)
				call := tx.prepare(w)
				w.faults.Add(clustertest.Rule{Fault: fault, Times: 1, Match: writes})
				got, err := call()
				if fault == clustertest.ApplyTwice {
					expect(t, name, got, again, err)
				} else {
					if !errors.Is(err, db.ErrUnknown) {
						t.Errorf("%s: error %v, want unknown", name, err)
					}
					got, err = call()
					if fault == clustertest.LoseAnswer {
						expect(t, name, got, again, err)
					} else {
						expect(t, name, got, first, err)
					}
				}
				w.faults.Deliver()
				compare(t, name, w.dump(), want)
			}
		})
	}
}

// writes matches the transactions that put or delete; those of Else count only
// where there is something to put in Then, which is always.
func writes(c clustertest.Call) bool { return c.Op == "txn" && c.Mutating }

func expect(t *testing.T, name, got, want string, err error) {
	t.Helper()
	if err != nil || got != want {
		t.Errorf("%s: said %q, %v, want %q", name, got, err, want)
	}
}

func compare(t *testing.T, name string, got, want map[string]string) {
	t.Helper()
	for k, v := range want {
		if g, ok := got[k]; !ok {
			t.Errorf("%s: %s is missing", name, k)
		} else if g != v {
			t.Errorf("%s: %s is %s, want %s", name, k, g, v)
		}
	}
	for k, v := range got {
		if _, ok := want[k]; !ok {
			t.Errorf("%s: %s should not be there: %s", name, k, v)
		}
	}
}
