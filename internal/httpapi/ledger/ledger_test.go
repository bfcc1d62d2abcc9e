package ledger

import (
	"testing"
	"time"
)

// Time gives lines again, and a clock that is set back takes none.
func TestStrangersHaveLinesAgain(t *testing.T) {
	t.Parallel()
	var s Strangers
	now := time.Now()
	got := func(at time.Time, n int) (written int) {
		for range n {
			if _, ok := s.Line(at, true); ok {
				written++
			}
		}
		return written
	}
	for _, c := range []struct {
		after   time.Duration
		n, want int
	}{{0, 1000, strangerLines}, {time.Second, 1000, strangerRate}, {-time.Hour, 5, 0}, {time.Second - time.Hour, 1000, strangerRate}, {24 * time.Hour, 1000, strangerLines}} {
		if n := got(now.Add(c.after), c.n); n != c.want {
			t.Errorf("after %v: %d, want %d", c.after, n, c.want)
		}
	}
	if n, ok := s.Line(now, false); !ok || n == 0 {
		t.Errorf("a known caller: %d, %t", n, ok)
	}
}
