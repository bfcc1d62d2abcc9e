package intake

import (
	"math"
	"testing"
	"time"
)

// What is in use goes up and down between compactions, and the growth is that of all of it; after less than ten
// minutes there is none.
func TestGrowthIsThatOfASaw(t *testing.T) {
	t.Parallel()
	var g growth
	at := time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)
	const perMinute = 1 << 20
	for minute := range 3000 {
		if by, over := g.slope(); minute < 10 && (over != 0 || by != 0) {
			t.Fatalf("after %d minutes it knows %g over %v", minute, by, over)
		}
		g.add(at.Add(time.Duration(minute)*time.Minute), int64(minute)*perMinute+int64(minute%5)*(8<<20))
		g.add(at.Add(time.Duration(minute)*time.Minute+time.Second), 1<<60) // within the minute
	}
	by, over := g.slope()
	if want := 24 * 60 * float64(perMinute); math.Abs(by-want) > want/100 || over < 23*time.Hour || over > growthKept {
		t.Errorf("%g a day, want %g, over %v", by, want, over)
	}
}
