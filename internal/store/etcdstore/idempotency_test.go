package etcdstore

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

// accepted accepts a call with a caller's key.
func (w *world) accepted(key string, at time.Time) {
	w.tb.Helper()
	send := store.Send{ID: w.id("send-" + key), Stimulus: event("paid"), CreatedAt: at, Key: &workflow.CommandKey{Name: key, BodyHash: "h"}}
	w.ok(w.PutSend(w.ctx(), send, &store.Answer{BodyHash: "h", Queued: send.ID}))
}

// A purge takes callers' keys in their order, whatever lies beside them: our own
// records refuse late copies for as long as those may come.
func TestAPurgeOfKeysTakesTheOldestAndNoRecordOfOurOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order := []string{"d", "b", "c", "a"} // not that of their names
	for _, key := range order {
		w.accepted(key, w.now)
		w.later(time.Hour)
	}
	records, next, err := w.KeyRecords(w.ctx(), "", 2)
	if w.ok(err); len(records) != 2 || next == "" {
		t.Fatalf("%+v, then %q", records, next)
	}
	for i, r := range records {
		if !strings.HasSuffix(r.Entry, order[i]) {
			t.Errorf("record %d is %s, and not of %s", i, r.Entry, order[i])
		}
	}
	stored := int64(0)
	for key, value := range w.dump() {
		if strings.Contains(key, "idem/k/d") || strings.HasSuffix(key, "idem%2Fk%2Fd") {
			stored += int64(len(key) + len(value))
		}
	}
	if n := records[0].Bytes; n < stored || n > stored+2*record.AnswerBytes {
		t.Errorf("a record is said to take %d bytes; its keys and values have %d", n, stored)
	}
	w.ok(w.PurgeKeys(w.ctx(), records))
	w.want("idem/k/", 2)
	w.want("idem-expiry/k/", 2)
	w.want("idem/c/", 4)
	for key, want := range map[string]bool{"d": false, "b": false, "c": true, "a": true} {
		if a, err := w.Stimuli.Answer(w.ctx(), key); err != nil || (a != nil) != want {
			t.Errorf("answer to %s: %+v, %v", key, a, err)
		}
	}
	all, _, err := w.KeyRecords(w.ctx(), "", 10)
	w.ok(err)
	w.ok(w.PurgeKeys(w.ctx(), all))
	w.want("idem/c/", 4)
	w.sound()
}

// An answer that became final between the look and the purge stays.
func TestAPurgeLeavesAnAnswerThatWasWrittenAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.instance("a", "paid")
	w.accepted("k", w.now)
	records, _, err := w.KeyRecords(w.ctx(), "", 10)
	w.ok(err)
	w.faults.Add(clustertest.Rule{Fault: clustertest.DeliverLate, Times: 1, Match: writes})
	if err := w.PurgeKeys(w.ctx(), records); !errors.Is(err, db.ErrUnknown) {
		t.Fatal(err)
	}
	w.now = w.now.Add(time.Hour)
	c := w.next("a", nil)
	c.Consumed = []store.Consumed{{Command: workflow.Command{ID: "x", Key: &workflow.CommandKey{Name: "k", BodyHash: "h"}}, Created: 1,
		Answer: &store.Answer{BodyHash: "h", Targets: []store.Effect{{Outcome: workflow.OutcomeResumed}}}}}
	w.commit(c)
	if n := w.faults.Deliver(); n != 1 {
		t.Fatalf("%d late copies", n)
	}
	if a, err := w.Stimuli.Answer(w.ctx(), "k"); err != nil || a == nil || len(a.Targets) != 1 {
		t.Errorf("%+v, %v", a, err)
	}
	w.want("idem-expiry/k/", 1)
	w.sound()
}

func TestKeysAreKeptAsLongAsConfigured(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ keep, kept time.Duration }{
		"a day if nothing is said":        {0, 24 * time.Hour},
		"as configured":                   {time.Hour, time.Hour},
		"as long as our own at the least": {time.Second, 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s, err := New(Config{Client: w.Client, Root: w.Keys.Root, KeepKeys: c.keep})
			w.ok(err)
			w.allParts = all(s)
			w.accepted("k", w.now)
			w.expire(w.later(c.kept - time.Minute))
			w.want("idem/k/", 1)
			w.expire(w.later(time.Minute))
			w.want("idem/", 0)
			w.want("idem-expiry/", 0)
		})
	}
}

// The answer to a call without a key is for this call only.
func TestTheRecordOfAMadeKeyIsOurOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.accepted(record.MadeKey+"k", w.now)
	if a, err := w.Stimuli.Answer(w.ctx(), record.MadeKey+"k"); err != nil || a == nil {
		t.Errorf("%+v, %v", a, err)
	}
	if records, _, err := w.KeyRecords(w.ctx(), "", 10); err != nil || len(records) != 0 {
		t.Errorf("a purge of callers' keys would take it: %+v, %v", records, err)
	}
	w.sound()
	w.expire(w.later(record.RecordTTL - time.Minute))
	w.want("idem/k/", 1)
	w.expire(w.later(time.Minute))
	w.want("idem/", 0)
	w.want("idem-expiry/", 0)
}

// The age is counted from when an answer was written, whatever was configured then:
// a shorter one holds for those that were to be kept for ever, and the oldest is
// first all the same.
func TestAnotherAgeHoldsForAllKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var age *store.Age
	for i, keep := range []time.Duration{100 * 365 * 24 * time.Hour, time.Hour, 24 * time.Hour} {
		s, err := New(Config{Client: w.Client, Root: w.Keys.Root, KeepKeys: keep})
		w.ok(err)
		w.allParts = all(s)
		_, err = w.Upkeep.Age(w.ctx())
		w.ok(err)
		w.accepted(string(rune('c'-i)), w.now)
		age = w.later(3 * time.Hour)
	}
	w.expire(age)
	w.want("idem/k/", 3)
	w.later(14 * time.Hour)
	for i := range 3 { // not the order of their names, nor of their ages of then
		records, _, err := w.KeyRecords(w.ctx(), "", 10)
		if w.ok(err); len(records) != 3-i || !strings.HasSuffix(records[0].Entry, string(rune('c'-i))) {
			t.Fatalf("after %d hours there are %+v", i, records)
		}
		age = w.later(3 * time.Hour)
		w.expire(age)
	}
	w.want("idem/k/", 0)
}
