package client

import (
	"hash/maphash"
	"sync/atomic"
	"time"
)

// contended remembers which instances were found in other hands lately. It is a
// hint of fixed size: two instances may share a place, which costs the other one
// a read.
type contended struct {
	places [1024]atomic.Int64 // when, in nanoseconds since process start; 0: never
}

// contendedFor is how long a node looks before it tries.
const contendedFor = time.Second

var (
	placeSeed    = maphash.MakeSeed()
	processStart = time.Now()
)

func (c *contended) place(id string) *atomic.Int64 {
	return &c.places[maphash.String(placeSeed, id)%uint64(len(c.places))]
}

func (c *contended) note(id string) { c.place(id).Store(int64(time.Since(processStart))) }

func (c *contended) lately(id string) bool {
	at := c.place(id).Load()
	return at > 0 && time.Since(processStart)-time.Duration(at) < contendedFor
}
