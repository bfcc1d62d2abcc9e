package etcdstore

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

// later lets time pass for the cluster: what there is grows older by so much.
func (w *world) later(d time.Duration) *store.Age {
	w.tb.Helper()
	w.advance(0)
	return w.advance(d)
}

func (w *world) advance(d time.Duration) *store.Age {
	w.tb.Helper()
	a, err := w.Upkeep.Age(w.ctx())
	w.ok(err)
	next, ok, err := w.AdvanceAge(w.ctx(), a, d)
	if w.ok(err); !ok {
		w.tb.Fatal("somebody else lets the age go on")
	}
	return next
}

// expire deletes the records that are old enough.
func (w *world) expire(age *store.Age) (n int) {
	w.tb.Helper()
	for cursor := ""; ; {
		some, next, err := w.ExpireRecords(w.ctx(), age, cursor)
		w.ok(err)
		n += some
		if cursor = next; next == "" {
			return n
		}
	}
}

// Nothing is ever said to be older than it is, and not much younger.
func TestAgesAreNeverTooHigh(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rapid.Check(t, func(t *rapid.T) {
		w.ok(errOf(w.raw.Delete(w.ctx(), w.Keys.Age())))
		type written struct {
			revision int64
			at       time.Duration
		}
		var now time.Duration
		var all []written
		steps := rapid.SliceOfN(rapid.SampledFrom([]time.Duration{time.Second, 10 * time.Second, 10 * time.Second, 10 * time.Second, time.Minute, time.Hour, 30 * 24 * time.Hour}), 1, 60).Draw(t, "steps")
		var age *store.Age
		for _, d := range steps {
			all = append(all, written{w.revision(), now})
			w.ok(errOf(w.raw.Put(w.ctx(), w.Keys.Root+"x", "")))
			age = w.advance(d)
			now = age.Elapsed
		}
		if again, err := w.Upkeep.Age(w.ctx()); err != nil || fmt.Sprint(again) != fmt.Sprint(age) {
			t.Fatalf("%v, %v; want %v", again, err, age)
		}
		for _, k := range all {
			is, said := now-k.at, age.Of(k.revision)
			if said > is {
				t.Fatalf("what is %v old is said to be %v: %+v", is, said, age)
			}
			for _, old := range []time.Duration{0, time.Minute, 10 * time.Minute, 24 * time.Hour} {
				if m, ok := age.Before(old); (ok && k.revision <= m.Revision) != (said >= old) {
					t.Fatalf("Of says %v and Before(%v) %+v", said, old, m)
				}
			}
		}
		if age.Of(w.revision()+1) != 0 {
			t.Fatal("what is written now has an age")
		}
	})
}

func errOf[T any](_ T, err error) error { return err }

// A year (in small runs forty days) in steps of ten seconds leaves some hundred marks, by which ages are good
// to a sixteenth and half a minute.
func TestMarksAreThinned(t *testing.T) {
	testsize.NotRaced(t, "it goes over many keys on one goroutine")
	t.Parallel()
	a := new(store.Age)
	for i := range testsize.Of[int64](365, 40) * 24 * 360 {
		a.Elapsed += 10 * time.Second
		a.Marks = append(a.Marks, store.AgeMark{Revision: i + 1, Elapsed: a.Elapsed})
		a.Thin()
	}
	if n := len(a.Marks); n > 400 || n < 50 {
		t.Errorf("%d marks", n)
	}
	for _, old := range []time.Duration{time.Minute, 10 * time.Minute, 24 * time.Hour, 30 * 24 * time.Hour} {
		revision := int64((a.Elapsed - old) / (10 * time.Second))
		if got := a.Of(revision); got > old || got < old-old/12-30*time.Second {
			t.Errorf("%v old is said to be %v", old, got)
		}
	}
}

// Two nodes that both let the age go on count no time twice, and a late copy counts
// what had passed when it was sent.
func TestNoTimeCountsTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.advance(0)
	w.faults.Add(clustertest.Rule{Fault: clustertest.DeliverLate, Times: 1, Match: writes})
	if _, _, err := w.AdvanceAge(w.ctx(), a, time.Hour); err == nil {
		t.Fatal("it has an answer")
	}
	if next, ok, err := w.AdvanceAge(w.ctx(), a, time.Minute); err != nil || !ok || next.Elapsed != a.Elapsed+time.Minute {
		t.Fatal(next, ok, err)
	}
	if _, ok, err := w.AdvanceAge(w.ctx(), a, time.Minute); err != nil || ok {
		t.Error("the same minute counts again")
	}
	w.faults.Deliver()
	if got, err := w.Upkeep.Age(w.ctx()); err != nil || got.Elapsed != a.Elapsed+time.Minute {
		t.Errorf("%+v, %v", got, err)
	}
}

// Revisions of another etcd say nothing about this one: what is there is new.
func TestMarksOfAnotherEtcdDoNotCount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.accepted("k", w.now)
	w.later(48 * time.Hour)
	resp, err := w.raw.Get(w.ctx(), w.Keys.Age())
	w.ok(err)
	var stored record.StoredAge
	w.ok(db.Decode(resp.Kvs[0].Value, &stored))
	stored.Etcd = "abc"
	raw, err := db.Encode(stored)
	w.ok(err)
	w.ok(errOf(w.raw.Put(w.ctx(), w.Keys.Age(), string(raw))))
	age := w.later(23 * time.Hour)
	if n := w.expire(age); age.Elapsed < 71*time.Hour || n != 1 { // ~send's; the caller's key stays
		t.Errorf("%d records expired at the age of %v", n, age.Elapsed)
	}
	w.want("idem/k/", 1)
	w.expire(w.later(time.Hour))
	w.want("idem/", 0)
}

// A copy of all keys in an etcd of the same id, as all have that were set up with
// the same names: what is written there from now on is new, although its revisions
// are smaller than those of the marks, or the same.
func TestMarksOfACopyDoNotCount(t *testing.T) {
	t.Parallel()
	for name, from := range map[string]int64{"smaller": -1_000_000, "the same": 0, "larger": 1_000_000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.later(48 * time.Hour)
			resp, err := w.raw.Get(w.ctx(), w.Keys.Age())
			w.ok(err)
			var stored record.StoredAge
			w.ok(db.Decode(resp.Kvs[0].Value, &stored))
			w.ok(errOf(w.raw.Delete(w.ctx(), w.Keys.Age())))
			for i := range stored.Marks {
				stored.Marks[i][0] = max(1, w.revision()+from) + int64(i)
			}
			raw, err := db.Encode(stored)
			w.ok(err)
			w.accepted("k", w.now)
			w.ok(errOf(w.raw.Put(w.ctx(), w.Keys.Age(), string(raw))))
			w.accepted("later", w.now)
			age, err := w.Upkeep.Age(w.ctx())
			if w.ok(err); len(age.Marks) != 1 || age.Elapsed < 48*time.Hour || age.Of(w.revision()) != 0 {
				t.Errorf("%+v", age)
			}
			if n := w.expire(w.advance(0)); n != 0 {
				t.Errorf("%d records expired", n)
			}
			w.want("idem/k/", 2)
		})
	}
}

// Entries of who knew the age late lie before those that are old, and hold up
// nothing; entries behind every age, because that was lost, go too.
func TestExpiryGoesByTheRevisionAndNotByTheKey(t *testing.T) {
	testsize.NotRaced(t, "it goes over many keys on one goroutine")
	t.Parallel()
	w := newWorld(t)
	w.later(240 * time.Hour)
	put := func(key string, knows time.Duration) {
		w.Conn.Elapsed.Store(knows.Milliseconds())
		w.accepted(key, w.now)
	}
	w.later(time.Minute)
	for i := range 1100 { // more than a page
		o := db.NewOps()
		w.Conn.Elapsed.Store(int64(i))
		w.Conn.Record(o, w.Keys.CommandRecord("late", fmt.Sprint(i)), store.Effect{})
		w.ok(errOf(w.raw.Txn(w.ctx()).Then(o.List()...).Commit()))
	}
	w.want("idem/", 1100)
	put("paused", time.Hour) // by a node that slept for days
	put("lost", 100000*time.Hour)
	put("fresh", 240*time.Hour)
	for i, old := range []time.Duration{9 * time.Minute, 14 * time.Hour, 9 * time.Hour} {
		w.expire(w.later(old))
		w.want("idem/k/", 3)
		if want := []int{1103, 0, 0}[i]; w.has("idem/c/") != want {
			t.Errorf("%d records of our own, want %d", w.has("idem/c/"), want)
		}
	}
	w.expire(w.later(time.Hour))
	w.want("idem/", 0)
	w.want("idem-expiry/", 0)
}

// An age with what only a newer program knows stays as it is: what there is lives longer.
func TestAnAgeOfANewerProgramIsNotAdvanced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.later(time.Hour)
	newer := `{"newer":{"x":1},` + string(w.value(w.Keys.Age())[1:])
	w.spoil(w.Keys.Age(), []byte(newer))
	age, err := w.Upkeep.Age(w.ctx())
	if w.ok(err); !age.Foreign || age.Elapsed < time.Hour {
		t.Errorf("it is read as %+v", age)
	}
	if _, ok, err := w.AdvanceAge(w.ctx(), age, time.Minute); ok || err != nil {
		t.Error("it was advanced", err)
	}
	if is := string(w.value(w.Keys.Age())); is != newer {
		t.Errorf("it became %s", is)
	}
}
