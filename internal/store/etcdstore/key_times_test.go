package etcdstore

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/store/etcdstore/upkeep"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

// Times at which the keys of times have an edge, in milliseconds since 1970.
var edges = []int64{-62_167_219_200_000, -1, 0, 1, 999_999_999_999, 1_000_000_000_000, record.LastShort - 1, record.LastShort, record.LastShort + 1, 12_345_678_901_234, 99_999_999_999_999, 100_000_000_000_000, store.LastMilli - 1, store.LastMilli}

// anyMilli draws times of the years 0 to 9999, many of them near edges and near each other.
func anyMilli() *rapid.Generator[int64] {
	near := rapid.Custom(func(t *rapid.T) int64 {
		return rapid.SampledFrom(edges).Draw(t, "edge") + rapid.Int64Range(-2, 2).Draw(t, "off")
	})
	in := func(ms int64) bool { return ms >= edges[0] && ms <= store.LastMilli }
	return rapid.OneOf(rapid.Int64Range(edges[0], store.LastMilli), rapid.Int64Range(0, record.LastShort), near).Filter(in)
}

// Keys have the order of their times, from 1970 up to the year 9999; what is before 1970 is with 1970. The time of a key is
// the one that it was made of, a range up to a time has all of its millisecond and nothing later, and what had 13 digits has them still.
func TestKeysHaveTheOrderOfTheirTimes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyMilli().Draw(t, "a"), anyMilli().Draw(t, "b")
		of := func(ms int64) string {
			at := time.UnixMilli(ms).Add(time.Duration(rapid.IntRange(0, 999_999).Draw(t, "nanos")))
			key := record.Millis(at)
			if back := record.FromMillis(key).UnixMilli(); back != max(0, ms) {
				t.Fatalf("%s is %d, and was made of %d", key, back, ms)
			}
			if ms >= 0 && ms <= record.LastShort && key != fmt.Sprintf("%013d", ms) {
				t.Fatalf("%d gives %s", ms, key)
			}
			if record.Misplaced(key) {
				t.Fatalf("%s counts as misplaced", key)
			}
			return key
		}
		ka, kb := of(a), of(b)
		if before := ka+"/~" < kb+"/"; before != (max(0, a) < max(0, b)) {
			t.Fatalf("%d gives %s and %d gives %s", a, ka, b, kb)
		}
		if within := kb+"/x" < ka+"0"; within != (max(0, b) <= max(0, a)) {
			t.Fatalf("the range up to %d ends at %s0, and %d gives %s", a, ka, b, kb)
		}
	})
}

// A key of a program of before is known as such, and says its time.
func TestKeysOfBeforeAreKnownAndSayTheirTimes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ms := anyMilli().Draw(t, "ms")
		before := fmt.Sprintf("%013d", max(0, ms)) // what it wrote
		if record.Misplaced(before) != (ms > record.LastShort) || record.FromMillis(before).UnixMilli() != max(0, ms) {
			t.Fatalf("%s: misplaced %t, %v", before, record.Misplaced(before), record.FromMillis(before))
		}
		if at := record.MisplacedMillis(time.UnixMilli(ms)); at != "" && at != before || (at == "") == record.Misplaced(before) {
			t.Fatalf("%d: %q, and it was at %s", ms, at, before)
		}
	})
}

// timersAt are waiting instances whose timers are due at times, by their names.
func (w *world) timersAt(dues ...time.Time) map[string]time.Time {
	w.tb.Helper()
	out := map[string]time.Time{}
	for i, due := range dues {
		id := fmt.Sprintf("far%02d", i)
		b := w.bookmark(id, "b", "delay")
		b.DueAt = &due
		w.commit(w.first(id, nil, b))
		out[id] = due
	}
	return out
}

// farAndNear are times of all sizes, in order.
func farAndNear(now time.Time) (out []time.Time) {
	for _, ms := range edges {
		if ms >= 0 {
			out = append(out, time.UnixMilli(ms).UTC())
		}
	}
	out = append(out, now.Add(time.Hour), now.AddDate(25, 0, 0), now.AddDate(300, 0, 0))
	slices.SortFunc(out, time.Time.Compare)
	return out
}

// listedTimers are the times of all timers, page by page.
func (w *world) listedTimers(limit int64) (out []time.Time) {
	w.tb.Helper()
	for cursor := ""; ; {
		page, end, err := w.Timers(w.ctx(), cursor, limit)
		w.ok(err)
		for _, d := range page {
			out = append(out, d.At)
		}
		if cursor = end.Next; cursor == "" {
			return out
		}
	}
}

// Timers are listed in the order of their times, whatever these are, and so are schedules.
func TestWhatIsDueIsListedInItsOrderUpToTheYear9999(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	want := farAndNear(w.now)
	w.timersAt(want...)
	for i, due := range want {
		raw, err := db.Encode(store.CronEntry{DefinitionID: fmt.Sprint("d", i), ActivityID: "a", Kind: store.ScheduleStartAt, At: &due, Due: due})
		w.ok(err)
		_, err = w.raw.Put(w.ctx(), w.Keys.Cron(fmt.Sprint("d", i), "a", due), string(raw))
		w.ok(err)
	}
	for _, limit := range []int64{1, 3, 100} {
		if got := w.listedTimers(limit); !slices.EqualFunc(got, want, time.Time.Equal) {
			t.Errorf("pages of %d: %v, want %v", limit, got, want)
		}
		var got []time.Time
		for cursor, more := "", true; more; more = cursor != "" {
			page, end, err := w.Schedules(w.ctx(), cursor, limit, 0)
			w.ok(err)
			for _, e := range page {
				got = append(got, e.Due)
			}
			cursor = end.Next
		}
		if !slices.EqualFunc(got, want, time.Time.Equal) {
			t.Errorf("schedules, pages of %d: %v, want %v", limit, got, want)
		}
	}
	for _, of := range []record.Dated{record.Timers, record.Schedules} {
		for _, now := range want {
			due, _, err := w.Due(w.ctx(), of, everywhere(), now, 100)
			w.ok(err)
			if n := slices.IndexFunc(want, now.Before); len(due) != n && (n >= 0 || len(due) != len(want)) {
				t.Errorf("%v: %d are due at %v, want %d", of, len(due), now, n)
			}
		}
	}
}

// before puts the timers of instances where a program of before did, and tells how many of them are misplaced.
func (w *world) before(dues map[string]time.Time) (n int) {
	w.tb.Helper()
	for id, due := range dues {
		if record.MisplacedMillis(due) == "" {
			continue
		}
		n++
		key := w.Keys.Timer(workflow.BookmarkID(id, "b"), due)
		was, err := w.raw.Get(w.ctx(), key)
		w.ok(err)
		if len(was.Kvs) != 1 {
			w.tb.Fatalf("nothing is at %s", key)
		}
		_, err = w.raw.Put(w.ctx(), w.Keys.MisplacedTimer(workflow.BookmarkID(id, "b"), due), string(was.Kvs[0].Value))
		w.ok(err)
		w.del(key)
	}
	return n
}

// moveAll moves the misplaced timers of all shards, and gives how many.
func (w *world) moveAll() (n int) {
	w.tb.Helper()
	for shard := range record.TimerShards {
		places, err := w.Misplaced(w.ctx(), shard)
		w.ok(err)
		moved, err := w.MoveMisplaced(w.ctx(), shard, places)
		w.ok(err)
		if n += moved; moved != len(places) {
			w.tb.Errorf("shard %d: %d of %d moved", shard, moved, len(places))
		}
	}
	return n
}

// Timers that a program of before put between sooner ones are found among any number of others, wherever they lie,
// and put where they belong as they are.
func TestMisplacedTimersAreFoundAndMoved(t *testing.T) {
	testsize.NotRaced(t, "it goes over many keys on one goroutine")
	t.Parallel()
	w := newWorld(t)
	want := farAndNear(w.now)
	dues := w.timersAt(want...)
	n := w.before(dues)
	if got := w.listedTimers(100); slices.IsSortedFunc(got, time.Time.Compare) {
		t.Fatal("they are in their order where a program of before put them")
	}
	if moved := w.moveAll(); moved != n {
		t.Errorf("%d moved, want %d", moved, n)
	}
	shard := record.TimerShard(workflow.BookmarkID("far00", "b"))
	for i := range upkeep.FewDated + 10 { // more than are read to look
		_, err := w.raw.Put(w.ctx(), w.Keys.Timers(shard)+record.Millis(w.now.Add(time.Duration(i)*time.Second))+"/x", "{}")
		w.ok(err)
	}
	right := w.dump()
	w.before(dues)
	if moved := w.moveAll(); moved != n {
		t.Errorf("%d moved among many, want %d", moved, n)
	}
	compare(t, "moved", w.dump(), right)
	if moved := w.moveAll(); moved != 0 {
		t.Errorf("%d moved again", moved)
	}
}

// A timer that is burned while it is put where it belongs does not come back.
func TestATimerThatWentIsNotMoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	due, id := time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC), workflow.BookmarkID("far00", "b")
	w.before(w.timersAt(due))
	shard := record.TimerShard(id)
	places, err := w.Misplaced(w.ctx(), shard)
	w.ok(err)
	w.faults.Add(clustertest.Rule{Match: func(c clustertest.Call) bool {
		if c.PutsUnder(w.Keys.Timers(shard)) {
			w.del(w.Keys.MisplacedTimer(id, due))
		}
		return false
	}})
	if moved, err := w.MoveMisplaced(w.ctx(), shard, places); err != nil || moved != 0 || len(places) != 1 {
		t.Errorf("%d of %d moved, %v", moved, len(places), err)
	}
	w.want("timer/", 0)
}

// A look knows a misplaced timer that comes first, and what is due behind it; the timer is not due.
func TestALookSeesWhatIsMisplacedAndWhatIsBehind(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	far := map[string]time.Time{}
	for i := range 40 { // in the shards' fronts
		id := fmt.Sprint("i", i)
		far[id] = time.Date(2300, 1, 1+i, 0, 0, 0, 0, time.UTC)
		b := w.bookmark(id, "b", "delay")
		b.DueAt = new(far[id])
		w.commit(w.first(id, nil, b))
	}
	n := w.before(far)
	w.timersAt(w.now)
	first, err := w.FirstDue(w.ctx(), record.Timers, nil, w.now)
	w.ok(err)
	known := 0
	for _, f := range first {
		if f.Misplaced {
			if known++; f.At.After(w.now) {
				t.Errorf("it is looked at at %v", f.At)
			}
		}
	}
	if known < 10 {
		t.Errorf("only %d shards have one in front", known)
	}
	due, _, err := w.Due(w.ctx(), record.Timers, everywhere(), w.now, 100)
	w.ok(err)
	for _, d := range due {
		if d.Misplaced != d.At.After(w.now) {
			t.Errorf("%+v", d)
		}
	}
	if len(due) != n+1 {
		t.Errorf("%d found, want %d", len(due), n+1)
	}
}

// What burns a bookmark, and what deletes or removes its instance, leaves no timer, wherever a program of before put it.
func TestAMisplacedTimerGoesWithItsBookmark(t *testing.T) {
	t.Parallel()
	for name, ends := range map[string]func(w *world){
		"a burst burns it":     func(w *world) { w.burn("far00") },
		"it is deleted":        func(w *world) { w.remove("far00") },
		"it was moved, burned": func(w *world) { w.moveAll(); w.burn("far00") },
	} {
		w := newWorld(t)
		w.before(w.timersAt(time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)))
		w.want("timer/", 1)
		ends(w)
		if n := w.has("timer/"); n != 0 {
			t.Errorf("%s: %d timers are left", name, n)
		}
	}
}

// A check tells of a misplaced timer, and a repair puts it in its place.
func TestFsckPutsAMisplacedTimerInItsPlace(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(w *world, key, at string){
		"misplaced": func(w *world, key, at string) { w.del(key) },
		"twice":     func(*world, string, string) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := furnished(t)
			due := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
			c := w.next("i", nil)
			b := w.bookmark("i", "far", "delay")
			b.DueAt, b.ActivityType = &due, "Elsa.Delay"
			c.Created = append(c.Created, b)
			c.After.Header.Bookmarks = append(slices.Clone(c.After.Header.Bookmarks), b)
			w.commit(c)
			if got := rules(w.fsck()); len(got) != 0 {
				t.Fatalf("found %v", got)
			}
			whole := w.dump()
			key, at := w.Keys.Timer(b.ID, due), w.Keys.MisplacedTimer(b.ID, due)
			w.spoil(at, []byte(whole[key]))
			spoil(w, key, at)
			if got := rules(w.fsck()); !slices.Equal(got, []string{"timer-misplaced"}) {
				t.Errorf("found %v", got)
			}
			if got := rules(w.repaired().Check); len(got) != 0 {
				t.Errorf("left %v", got)
			}
			compare(t, name, w.dump(), whole)
		})
	}
}

// The places of a look are as keys have them.
func TestPlacesAreOfTheirTimes(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1_795_334_400_123)
	p := upkeep.Places{3: upkeep.PlaceAt(at) + "/x", 5: upkeep.PlaceAt(at.Add(time.Second)) + "/x"}
	if got := p.Soonest(); !got.Equal(at.Add(time.Millisecond)) {
		t.Errorf("%v", got)
	}
	p[5] = strconv.Itoa(12_345_678_901_234) + "/x" // it is to be moved at once
	if got := p.Soonest(); !got.Before(at) {
		t.Errorf("%v", got)
	}
	if got := (upkeep.Places{}).Soonest(); !got.IsZero() || strings.Contains(upkeep.PlaceAt(at), "/") {
		t.Errorf("%v", got)
	}
}
