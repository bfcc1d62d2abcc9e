package turns

import (
	"time"

	"golang.org/x/sys/unix"
)

// OwnTime says whether time is a script's own.
const OwnTime = true

// processorClock is the clock of the processor time of one thread.
type processorClock int32

// threadClock is that of the calling goroutine's thread, to which it has to be
// locked for as long as the clock is read.
func threadClock() processorClock {
	const perThread, scheduled = 4, 2 // as in the kernel's CPUCLOCK_ constants
	return processorClock(^unix.Gettid()<<3 | perThread | scheduled)
}

// read may be called by any goroutine.
func (c processorClock) read() (time.Duration, bool) {
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(c), &ts); err != nil {
		return 0, false
	}
	return time.Duration(ts.Nano()), true
}
