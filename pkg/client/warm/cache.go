// Package warm keeps the instances that a node committed last, so that one which comes back to
// its node is neither read nor decoded.
//
// Guaranteed: memory is bounded, and an instance that is taken out has one owner. Not
// guaranteed: that what is here is what is in etcd; who takes an instance has etcd compare
// its revision.
package warm

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/metrics"
)

// Instance is one as it was last committed, with the burst of that commit: the next
// commands go on with it, so that nothing is decoded.
type Instance struct {
	Record *store.Record
	Burst  *engine.Burst // nil: there is none, and it is decoded
}

// Renew gives the burst for the next commands on this record; nil: it is to be loaded.
// A burst that comes to no commit is not to be had again.
func (l *Instance) Renew(base *store.Record, prog *engine.Program, env engine.Env) *engine.Burst {
	b, record := l.Burst, l.Record
	*l = Instance{}
	if b == nil || record.Modified != base.Modified || !b.Renew(prog, env) {
		return nil
	}
	return b
}

// Cache is the instances that this node committed last and that nobody here works: so
// that an instance which comes back to its node is neither read nor decoded. What is here
// is only a guess at what is in etcd: who takes an instance has etcd compare the revision.
type Cache struct {
	mu      sync.Mutex
	lru     *simplelru.LRU[string, weighed] // guarded by mu
	bytes   int64                           // guarded by mu
	most    int64
	metrics *metrics.Metrics
}

// weighed is an idle instance with what it takes in memory, about.
type weighed struct {
	Instance
	bytes int64
}

const (
	// Bytes is how much memory a node gives to idle instances: some thousands of those
	// that are usual, which are the ones that come back soon.
	Bytes = 32 << 20
	// mostKept is how many they are at most. Each with a burst holds its definition's
	// compiled version, which the catalogue may have let go of.
	mostKept = 2000
	// perInstance is what a small instance takes beside its values, by estimate: the
	// record, the burst and one activity that waits.
	perInstance = 6 << 10
	// ValueBytes is what a byte of JSON takes in memory as a value. Measured with 60 bursts that had
	// 160 KB of JSON each, all small values: 1.6 MB.
	ValueBytes = 10
	// share is the part of all that one instance may take.
	share = 16
)

// New makes a cache of so many bytes. Of no metrics, nothing is counted.
func New(most int64, m *metrics.Metrics) *Cache {
	i := &Cache{most: most, metrics: m}
	i.lru, _ = simplelru.NewLRU(mostKept, func(_ string, w weighed) { i.bytes -= w.bytes }) // of a size that is positive
	return i
}

// Take gives what is known of an instance, and forgets it: its burst has one owner.
func (i *Cache) Take(id string) Instance {
	i.mu.Lock()
	defer i.mu.Unlock()
	w, _ := i.lru.Peek(id)
	i.lru.Remove(id)
	i.metrics.SetIdle(i.bytes)
	return w.Instance
}

// Put remembers an instance that may go on, and forgets those that were not needed for
// the longest time.
func (i *Cache) Put(id string, l Instance) {
	w := weighed{l, perInstance + ValueBytes*int64(l.Size())}
	if l.Record == nil || w.bytes > i.most/share {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.lru.Remove(id)
	i.lru.Add(id, w)
	for i.bytes += w.bytes; i.bytes > i.most; {
		i.lru.RemoveOldest()
	}
	i.metrics.SetIdle(i.bytes)
}

// Size is what its values take as JSON, about.
func (l *Instance) Size() int {
	if l.Record == nil {
		return 0
	}
	h := &l.Record.Header
	n := len(l.Record.State) + engine.Weigh(h.Input) + engine.Weigh(h.Output)
	for _, b := range h.Bookmarks {
		n += engine.Weigh(b.Payload) + engine.Weigh(b.Metadata)
	}
	for _, in := range h.Incidents {
		n += len(in.Message)
	}
	return n
}

// Source says from where a record that was just loaded came.
func (l *Instance) Source(r *store.Record) metrics.LoadSource {
	switch {
	case l.Record == nil:
		return metrics.LoadRead
	case l.Record != r:
		return metrics.LoadMoved
	case l.Burst == nil: // it is decoded
		return metrics.LoadRead
	}
	return metrics.LoadIdle
}

// Found is where an instance waits, as this node committed it last; nil: it is not known to wait there.
func (i *Cache) Found(id, bookmark string) *store.BookmarkRef {
	i.mu.Lock()
	defer i.mu.Unlock()
	w, ok := i.lru.Peek(id)
	if !ok || w.Record == nil {
		return nil
	}
	h := &w.Record.Header
	for j := range h.Bookmarks {
		if b := &h.Bookmarks[j]; b.ID == bookmark {
			return &store.BookmarkRef{ID: b.ID, InstanceID: id, Hash: b.Hash, CorrelationID: h.CorrelationID, Moved: w.Record.Modified, Unindexed: w.Record.Unwritten != nil}
		}
	}
	return nil
}
