package balance

import (
	"testing"
	"time"
)

// What takes long to count is counted less often, and often enough to go on from.
func TestTheBalanceRestsAfterALongCount(t *testing.T) {
	t.Parallel()
	for counting, want := range map[time.Duration]time.Duration{
		0: 10 * time.Second, 200 * time.Millisecond: 10 * time.Second, 600 * time.Millisecond: 30 * time.Second, time.Hour: time.Minute,
	} {
		r := &reckoner{how: Reckoning{Every: 10 * time.Second}, changed: true, counting: counting}
		if got := r.rest(); got != want {
			t.Errorf("after a count of %v it rests for %v, want %v", counting, got, want)
		}
		if r.changed = false; r.rest() != time.Minute {
			t.Errorf("it rests for %v while nothing changes", r.rest())
		}
	}
}
