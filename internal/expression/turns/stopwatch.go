package turns

import (
	"sync"
	"time"
)

// Stopwatch tells how much time a script has used: processor time of its thread,
// where the system counts that by thread, so that a busy machine takes nothing
// from it; else time by the wall.
type Stopwatch struct {
	began time.Time
	clock processorClock
	mu    sync.Mutex
	base  time.Duration // what the clock said at the first reading
	head  time.Duration // what counts as used until then; 0 before it. Both guarded by mu
}

// NewStopwatch starts for the calling goroutine, which is locked to its thread until
// the last reading.
func NewStopwatch() *Stopwatch { return &Stopwatch{began: time.Now(), clock: threadClock()} }

// Read gives the time used. The processor's clock is asked for by scripts that
// take long enough only: until the first reading after QuickTime, time is the
// wall's, QuickTime at most.
func (s *Stopwatch) Read() time.Duration {
	wall := time.Since(s.began)
	if wall < QuickTime {
		return wall
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now, ok := s.clock.read()
	switch {
	case !ok:
		return wall
	case s.head == 0:
		s.base, s.head = now, QuickTime
	}
	return s.head + now - s.base
}
