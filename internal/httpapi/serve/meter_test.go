package serve

import (
	"testing"
	"time"
)

// However often somebody asks, a meter keeps a reading a second, of a minute.
func TestAMeterKeepsAMinute(t *testing.T) {
	t.Parallel()
	var kept Meter
	start := time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)
	for i := range 10_000 {
		kept.Since(Reading{At: start.Add(time.Duration(i) * 7 * time.Millisecond)})
	}
	if n := len(kept.taken); n < 60 || n > 62 {
		t.Errorf("%d readings are kept", n)
	}
}
