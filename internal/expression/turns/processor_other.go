//go:build !linux

package turns

import "time"

// OwnTime says whether time is a script's own.
const OwnTime = false

// processorClock does not exist here: time by the wall counts.
type processorClock struct{}

func threadClock() processorClock { return processorClock{} }

func (processorClock) read() (time.Duration, bool) { return 0, false }
