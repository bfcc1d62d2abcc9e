package etcdstore

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/store/etcdstore/upkeep"
)

// timerAt puts a timer into a shard, and gives when it is told to be due.
func (w *world) timerAt(shard int, name string, due time.Time) time.Time {
	w.tb.Helper()
	raw, err := db.Encode(record.TimerEntry{Instance: name, Bookmark: name, Due: due})
	w.ok(err)
	_, err = w.raw.Put(w.ctx(), w.Keys.Timers(shard)+record.Millis(due)+"/"+record.Encode(name), string(raw))
	w.ok(err)
	return due.Truncate(time.Millisecond).Add(time.Millisecond)
}

// What is first in each shard is found with one request that reads no value, however
// much lies there; what is due after the time that was asked about is not.
func TestWhatIsDueFirstIsFoundInOneRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	until := w.now.Add(time.Minute)
	want := make([]time.Time, upkeep.TimerShards)
	for shard := range upkeep.TimerShards {
		for i := range shard { // none in the first
			due := w.now.Add(time.Duration(10*shard-i-5) * time.Second)
			at := w.timerAt(shard, fmt.Sprint("t", shard, "-", i), due)
			if !due.After(until) && (want[shard].IsZero() || at.Before(want[shard])) {
				want[shard] = at
			}
		}
	}
	_, err := w.raw.Put(w.ctx(), w.Keys.Cron("d", "a", w.now), "{}")
	w.ok(err)
	before, values := w.faults.Calls("txn")+w.faults.Calls("get"), w.faults.Values()
	first, err := w.FirstDue(w.ctx(), record.Timers, nil, until)
	w.ok(err)
	isAt := func(f upkeep.First, at time.Time) bool {
		return f.At.Equal(at) && (f.Place == "") == at.IsZero() && !f.Misplaced
	}
	if !slices.EqualFunc(first, want, isAt) {
		t.Errorf("%v, want %v", first, want)
	}
	if calls := w.faults.Calls("txn") + w.faults.Calls("get") - before; calls != 1 || w.faults.Values() != values {
		t.Errorf("%d calls, %d bytes of values", calls, w.faults.Values()-values)
	}
	for _, from := range []time.Time{w.now, w.now.Add(time.Second)} { // what is due before it is left out
		places := everywhere()
		for shard := range places {
			places[shard] = upkeep.PlaceAt(from)
		}
		later, err := w.FirstDue(w.ctx(), record.Timers, places, until)
		w.ok(err)
		for shard, f := range later {
			if at := f.At; !at.IsZero() && at.Before(from) || !want[shard].Before(from) && !at.Equal(want[shard]) {
				t.Errorf("shard %d: first %v from %v on, and of all %v", shard, at, from, want[shard])
			}
		}
	}
	first, err = w.FirstDue(w.ctx(), record.Schedules, nil, until)
	w.ok(err)
	for shard, f := range first {
		if (shard == upkeep.ScheduleShard("d")) == f.At.IsZero() {
			t.Errorf("schedules of shard %d are due at %v", shard, f.At)
		}
	}
}

// Who watches hears when what is put is due, of its own shards only, and the soonest
// first if it was slow to ask; what is fired is no news.
func TestAWatchTellsWhatIsDueNext(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, cancel := context.WithTimeout(w.ctx(), 20*time.Second)
	defer cancel()
	news, begun := w.WatchDue(ctx, record.Timers, []int{3, 5})
	want := w.timerAt(5, "one", w.now.Add(time.Hour))
	if at := (<-news).Soonest(); !begun || !at.Equal(want) {
		t.Errorf("told of %v, want %v; begun: %t", at, want, begun)
	}
	soon := w.timerAt(3, "two", w.now.Add(time.Minute))
	for i := range 10 {
		w.timerAt(5, fmt.Sprint("more", i), w.now.Add(time.Duration(i+2)*time.Minute))
	}
	w.timerAt(4, "not mine", w.now)
	for last := (time.Time{}); !last.Equal(soon); { // two watches: the other may tell before
		last = (<-news).Soonest()
		if ctx.Err() != nil || last.Before(soon) {
			t.Fatalf("told of %v, want %v", last, soon)
		}
	}
	cancel()
	for range news { // until it is over
	}
}

// A watch that begins late says so: what was put before, it does not tell of.
func TestAWatchOfWhatIsDueThatBeginsLateTellsToLook(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	etcd := &hangs{Watcher: w.Client.Watcher, goesOn: make(chan struct{})}
	w.Client.Watcher = etcd
	ctx, cancel := context.WithTimeout(w.ctx(), 20*time.Second)
	defer cancel()
	news, begun := w.WatchDue(ctx, record.Timers, []int{1, 2})
	w.timerAt(1, "early", w.now)
	close(etcd.goesOn)
	if put, ok := <-news; !ok || begun || len(put) != 2 || !put.Soonest().Before(time.Now()) {
		t.Errorf("told of %v, %t; begun: %t", put, ok, begun)
	}
	cancel()
	for range news { // until it is over
	}
}

// Which shards of the queue have something is one request, and no value is read.
func TestWhichShardsOfTheQueueHaveSomething(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	want := map[string]bool{}
	for i := range 20 {
		st := event(fmt.Sprint("e", i))
		w.queued(fmt.Sprint("q", i), st)
		want[w.item("", st).Hash[:1]] = true
	}
	before, values := w.faults.Calls("txn")+w.faults.Calls("get"), w.faults.Values()
	got, err := w.SomeQueued(w.ctx())
	w.ok(err)
	if calls := w.faults.Calls("txn") + w.faults.Calls("get") - before; calls != 1 || w.faults.Values() != values {
		t.Errorf("%d calls, %d bytes of values", calls, w.faults.Values()-values)
	}
	for i := range upkeep.QueueShards {
		if shard := upkeep.QueueShards[i : i+1]; slices.Contains(got, shard) != want[shard] {
			t.Errorf("shard %s: %t", shard, !want[shard])
		}
	}
}

// An age at which nothing more is old enough is told from one at which something is.
func TestAnAgeTellsWhetherMoreIsOld(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	age := func(elapsed time.Duration, marks ...store.AgeMark) *store.Age {
		return &store.Age{Elapsed: elapsed, Marks: marks}
	}
	young := age(time.Minute, store.AgeMark{Revision: 5})
	own := age(record.RecordTTL, store.AgeMark{Revision: 5}, store.AgeMark{Revision: 9, Elapsed: time.Minute})
	later := age(record.RecordTTL+30*time.Second, own.Marks...)
	more := age(record.RecordTTL+time.Minute, own.Marks...)
	callers := age(record.KeyTTL, store.AgeMark{Revision: 5}, store.AgeMark{Revision: 9, Elapsed: record.KeyTTL - time.Minute})
	for what, c := range map[string]struct {
		a, b *store.Age
		same bool
	}{
		"nothing is": {young, age(0), true}, "the first is": {young, own, false}, "no other since": {own, later, true},
		"another": {later, more, false}, "a caller's": {own, callers, false},
	} {
		if same := w.Expired(c.a) == w.Expired(c.b); same != c.same {
			t.Errorf("%s: the same is %t", what, same)
		}
	}
}

// The flag and the interrupts are read at once.
func TestControlIsOneRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, err := w.Control(w.ctx())
	if w.ok(err); c.Paused || c.PauseRevision != 0 || len(c.Cancelled) != 0 {
		t.Errorf("%+v", c)
	}
	set, err := w.SetPaused(w.ctx(), true)
	w.ok(err)
	_, err = w.raw.Put(w.ctx(), w.Keys.Cancel("one"), `"c"`)
	w.ok(err)
	before := w.faults.Calls("txn") + w.faults.Calls("get")
	c, err = w.Control(w.ctx())
	if w.ok(err); !c.Paused || c.PauseRevision != set || !slices.Equal(c.Cancelled, []string{"one"}) {
		t.Errorf("%+v", c)
	}
	if calls := w.faults.Calls("txn") + w.faults.Calls("get") - before; calls != 1 {
		t.Errorf("%d calls", calls)
	}
}
