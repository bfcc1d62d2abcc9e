// Package heapfloor keeps the garbage collector from running all the time in a
// process whose live heap is small.
//
// A node holds a few megabytes, however much waits in etcd, and allocates hundreds
// of megabytes a second when it is busy: at Go's default it would collect dozens
// of times a second, which costs a quarter of its processor time. GOGC alone does
// not help: a factor that is right for 5 MB is too much for 500.
package heapfloor

import (
	"math"
	"os"
	"runtime/debug"
)

const (
	// size adds this much to what the collector believes to be live: it starts at
	// about twice that. Nobody touches the block, so it takes no memory itself. A
	// smaller and a larger one were slower: docs/performance.md, "Reached".
	size = 48 << 20
	// room is the least memory limit that leaves space for it.
	room = 512 << 20
)

var block []byte

// Keep sets the floor for the rest of the process. It does nothing when the
// operator has chosen: with GOGC set, or a memory limit (GOMEMLIMIT) below
// 512 MiB, in which the block counts.
func Keep() {
	if _, chosen := os.LookupEnv("GOGC"); chosen {
		return
	}
	if limit := debug.SetMemoryLimit(-1); limit != math.MaxInt64 && limit < room {
		return
	}
	block = make([]byte, size)
}
