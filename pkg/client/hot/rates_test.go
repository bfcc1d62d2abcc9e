package hot

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// What commits again and again is found, however many others commit once, and is counted short
// by a bounded number at most; what has stopped is hot no more.
func TestHotInstancesAreFoundAmongMany(t *testing.T) {
	t.Parallel()
	var h Rates
	at := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	if hot := h.Hottest(5, at); hot != nil {
		t.Fatalf("before any commit: %v", hot)
	}
	const others, each = 50 * kept, 25
	for i := range others { // in 9 s
		now := at.Add(time.Duration(i) * 9 * time.Second / others)
		h.Note(fmt.Sprint("once-", i), now)
		if i%each == 0 {
			h.Note("hot", now)
		}
		if len(h.now) > kept {
			t.Fatalf("%d instances are counted", len(h.now))
		}
	}
	const hot, short = others / each, (others + others/each) / kept
	for _, took := range []time.Duration{9 * time.Second, window} { // the window is not over, and it is
		got := h.Hottest(5, at.Add(took))
		if len(got) != 1 || got[0].InstanceID != "hot" {
			t.Fatalf("after %v: %v", took, got)
		}
		if most, fewest := hot/took.Seconds(), (hot-short-1)/took.Seconds(); got[0].PerSecond > most+0.01 || got[0].PerSecond < fewest {
			t.Errorf("after %v: %.1f a second, want %.1f to %.1f", took, got[0].PerSecond, fewest, most)
		}
	}
	if hot := h.Hottest(5, at.Add(2*window)); hot != nil {
		t.Errorf("after a window without commits: %v", hot)
	}
	for range 100 {
		h.Note("hot", at.Add(3*window))
	}
	if hot := h.Hottest(5, at.Add(5*window)); hot != nil {
		t.Errorf("where nobody looked for two windows: %v", hot)
	}
}

// The hottest come first, no more than are asked for, and none that commits less than once a second.
func TestTheHottestComeFirst(t *testing.T) {
	t.Parallel()
	var h Rates
	at := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	for id, n := range map[string]int{"a": 40, "b": 100, "c": 9, "d": 20} {
		for range n {
			h.Note(id, at)
		}
	}
	if hot := h.Hottest(5, at.Add(least/2)); hot != nil {
		t.Errorf("so early nobody can tell: %v", hot)
	}
	got := h.Hottest(2, at.Add(window))
	if len(got) != 2 || got[0].InstanceID != "b" || math.Abs(got[0].PerSecond-10) > 1e-9 || got[1].InstanceID != "a" {
		t.Errorf("%v", got)
	}
	if got := h.Hottest(5, at.Add(window+time.Second)); len(got) != 3 {
		t.Errorf("with one of less than a commit a second: %v", got)
	}
}
