package etcdstore

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/store/etcdstore/upkeep"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/workflow"
)

// The oldest one that waits is found within a second, wherever the search begins: at
// first, and after instances came, went and came back that are older than all.
func TestTheOldestIsFound(t *testing.T) {
	testsize.NotRaced(t, "it goes over many keys on one goroutine")
	t.Parallel()
	w := newWorld(t)
	random := rand.New(rand.NewPCG(1, 2))
	now := time.Now().Truncate(time.Millisecond)
	waiting := map[string]time.Time{} // by key
	put := func(version int, age time.Duration) {
		t.Helper()
		at := now.Add(-age).Truncate(time.Millisecond) // as the index has it
		key := fmt.Sprintf("%s%s/i%d", w.Keys.IndexOfVersion(workflow.Suspended, "def", version), record.Newest(at), random.Uint64())
		if _, err := w.raw.Put(w.ctx(), key, ""); err != nil {
			t.Fatal(err)
		}
		waiting[key] = at
	}
	before := map[string]upkeep.Census(nil)
	check := func(what string) {
		t.Helper()
		var oldest time.Time
		for _, at := range waiting {
			if oldest.IsZero() || at.Before(oldest) {
				oldest = at
			}
		}
		for from, last := range map[string]map[string]upkeep.Census{"from what was known": before, "from nothing": nil} {
			got, err := w.Store.Upkeep.Census(w.ctx(), map[string]int{"def": 3, "none": 1}, last, now)
			if err != nil {
				t.Fatal(err)
			}
			c := got["def"]
			if off := c.Oldest.Sub(oldest); c.Instances[workflow.Suspended] != int64(len(waiting)) || c.Oldest.IsZero() != oldest.IsZero() || off < 0 || off > time.Second {
				t.Errorf("%s, %s: %d of %d, the oldest %v, want %v", what, from, c.Instances[workflow.Suspended], len(waiting), c.Oldest, oldest)
			}
			if n := got["none"]; n.Instances[workflow.Suspended] != 0 || !n.Oldest.IsZero() {
				t.Errorf("of nothing: %+v", n)
			}
			if last != nil || before == nil {
				before = got
			}
		}
	}
	check("nothing waits")
	for round := range 40 {
		what := fmt.Sprintf("round %d", round)
		switch {
		case round%3 == 0 && len(waiting) > 0: // the oldest goes, and some more
			var oldest string
			for key, at := range waiting {
				if oldest == "" || at.Before(waiting[oldest]) {
					oldest = key
				}
				if random.IntN(3) == 0 {
					if _, err := w.raw.Delete(w.ctx(), key); err != nil {
						t.Fatal(err)
					}
					delete(waiting, key)
				}
			}
			if _, err := w.raw.Delete(w.ctx(), oldest); err != nil {
				t.Fatal(err)
			}
			delete(waiting, oldest)
		default:
			for range random.IntN(6) {
				put(1+random.IntN(3), time.Duration(random.Int64N(int64(1000*time.Hour)>>random.IntN(30))))
			}
		}
		check(what)
		now = now.Add(time.Duration(random.Int64N(int64(time.Minute))))
	}
	put(1, -time.Minute) // a clock that is ahead
	for key := range waiting {
		if waiting[key].Before(now) {
			if _, err := w.raw.Delete(w.ctx(), key); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got, err := w.Store.Upkeep.Census(w.ctx(), map[string]int{"def": 3}, nil, now); err != nil || now.Sub(got["def"].Oldest).Abs() > time.Second {
		t.Errorf("of the future: %v, %v", got, err)
	}
}
