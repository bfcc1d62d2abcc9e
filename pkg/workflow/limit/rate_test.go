package limit

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

var start = time.UnixMilli(1_700_000_000_123).UTC()

// In no window are more units taken than the rate says: by one clock, also if that steps back, and by clocks that differ in none that is
// shorter by as much. After it all are back.
func TestNoWindowHasMoreThanItsRate(t *testing.T) {
	t.Parallel()
	for _, r := range []Rate{{1, time.Second}, {10, time.Minute}, {500, time.Minute}, {33, 32 * time.Second}, {1_000_000, time.Hour}} {
		for _, apart := range []time.Duration{0, r.Per / 10} {
			windowsHold(t, r, apart)
		}
	}
}

func windowsHold(t *testing.T, r Rate, apart time.Duration) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(uint64(r.Units), 2))
	type grant struct {
		at    time.Time // of the clock that goes on
		units int64
	}
	var all []grant
	var b Bucket
	var back time.Duration
	now := start
	for range 3000 {
		now = now.Add(time.Duration(rnd.Int64N(int64(r.Per / 20))))
		if apart == 0 && rnd.IntN(300) == 0 {
			back += time.Duration(rnd.Int64N(int64(r.Per))) // it steps back
		}
		says := now.Add(time.Duration(rnd.Int64N(int64(apart)+1)) - back)
		units := 1 + rnd.Int64N(max(1, r.Units/7))
		if !b.May(&r, says, units) {
			continue
		}
		b, _ = b.Take(&r, says, units)
		all = append(all, grant{now, units})
		if len(b.Taken) > mostTaken {
			t.Fatalf("%v: the bucket has %d entries", r, len(b.Taken))
		}
	}
	for i := range all {
		sum := int64(0)
		for _, g := range all[i:] {
			if g.at.Sub(all[i].at) >= r.Per-apart-time.Millisecond {
				break
			}
			sum += g.units
		}
		if sum > r.Units {
			t.Fatalf("%v: %d units from %v on", r, sum, all[i].at)
		}
	}
	if len(all) < 50 {
		t.Errorf("%v: %d grants only", r, len(all))
	}
	if free := b.Free(r, now.Add(r.Per+r.Per/slots+apart+time.Millisecond)); free != r.Units {
		t.Errorf("%v: %d are free after all are back", r, free)
	}
}

// When the next units come is told to the millisecond.
func TestWhenTheNextUnitsCome(t *testing.T) {
	t.Parallel()
	r := &Rate{10, time.Minute}
	var b Bucket
	if at := b.Next(r, start, 10); !at.Equal(start) {
		t.Errorf("of a full one at %v", at)
	}
	b, _ = b.Take(r, start, 4)
	b, _ = b.Take(r, start.Add(time.Second), 6)
	for units, want := range map[int64]time.Duration{1: time.Minute, 4: time.Minute, 5: 61 * time.Second, 10: 61 * time.Second} {
		at := b.Next(r, start.Add(2*time.Second), units)
		if got := at.Sub(start); got != want || !b.May(r, at, units) || b.May(r, at.Add(-time.Millisecond), units) {
			t.Errorf("%d units come after %v, want %v", units, got, want)
		}
	}
	if at := b.Next(r, start, 11); !at.IsZero() {
		t.Errorf("11 of 10 come at %v", at)
	}
	b.Hold = start.Add(time.Hour)
	if at := b.Next(r, start, 1); !at.Equal(b.Hold) || b.May(r, at.Add(-1), 1) || b.Empty(r, at) {
		t.Errorf("held until %v, they come at %v", b.Hold, at)
	}
}

// A debt is paid a rate a time; what was not used is back at once, but not what is back already.
func TestWhatIsSettled(t *testing.T) {
	t.Parallel()
	r := &Rate{100, time.Minute}
	var b Bucket
	b, at := b.Take(r, start, 60)
	if b = b.Settle(r, start, Settlement{At: at, Units: 60, Used: 10}); b.Free(*r, start) != 90 {
		t.Errorf("of 100 %d are free after 10 were used", b.Free(*r, start))
	}
	b = b.Settle(r, start, Settlement{At: at, Units: 10, Used: 460})
	if b.Free(*r, start) != -360 {
		t.Errorf("the debt is %d", b.Free(*r, start))
	}
	paid := b.Next(r, start, 100)
	if got := paid.Sub(start); got < 5*time.Minute || got > 5*time.Minute+2*time.Second {
		t.Errorf("all is paid after %v", got)
	}
	if at := b.Next(r, start, 1).Sub(start); at < 4*time.Minute || at > 5*time.Minute {
		t.Errorf("one unit comes after %v", at)
	}
	b, _ = b.Take(r, paid, 100)
	if b = b.Settle(r, paid, Settlement{At: at, Units: 50}); b.Free(*r, paid) != 0 {
		t.Errorf("what is back already came back again: %d are free", b.Free(*r, paid))
	}
	inAll := &Rate{Units: 100}
	b, at = (&Bucket{}).Take(inAll, start, 30)
	b = b.Settle(inAll, start, Settlement{At: at, Units: 30, Used: 25})
	if free := b.Free(*inAll, start.AddDate(5, 0, 0)); free != 75 || !b.Next(inAll, start, 80).IsZero() || b.Empty(inAll, start.AddDate(5, 0, 0)) {
		t.Errorf("%d are free of 100 in all", free)
	}
}

// Large numbers, and settlements without end, cost no time and no room.
func TestABucketIsBounded(t *testing.T) {
	t.Parallel()
	r := &Rate{1, MaxPer}
	var b Bucket
	for i := range 1000 {
		b = b.Settle(r, start.Add(time.Duration(i)*time.Millisecond), Settlement{Used: MaxUnits})
	}
	if len(b.Taken) > mostTaken || b.Free(*r, start) >= 0 {
		t.Errorf("%d entries, %d are free", len(b.Taken), b.Free(*r, start))
	}
	if at := b.Next(r, start, 1); !at.IsZero() {
		t.Errorf("the next comes at %v, which no clock shows", at)
	}
}

// A settlement comes through the journal as it was, and what is no settlement is none.
func TestASettlementComesThroughTheJournal(t *testing.T) {
	t.Parallel()
	l, want := Line{Limit: "tokens", Key: "acme"}, Settlement{At: start.UnixMilli(), Units: 60, Used: 75}
	item := workflow.JournalItem{ActivityType: Type}
	item.Event, item.Text, item.Data = parts(Settled(l, want))
	if at, s, ok := SettlementIn(&item); !ok || at != l || s != want {
		t.Errorf("%v %+v", at, s)
	}
	item.Event, item.Text, item.Data = parts(Held(l, start, 24*time.Hour))
	if at, s, ok := SettlementIn(&item); !ok || at != l || s != (Settlement{Hold: start.Add(MaxHold).UTC()}) {
		t.Errorf("%v %+v", at, s)
	}
	for _, no := range []workflow.JournalItem{{}, {ActivityType: Type, Event: "Started"}, {ActivityType: Type, Event: heldEvent, Data: "x"}, {ActivityType: "Elsa.WriteLine", Event: item.Event, Data: item.Data}} {
		if _, _, ok := SettlementIn(&no); ok {
			t.Errorf("%+v is one", no)
		}
	}
}

func parts(event, text string, data map[string]any) (string, string, any) { return event, text, data }
