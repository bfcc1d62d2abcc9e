package client

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/metrics"
)

// idle are the instances that this node committed last and that nobody here works: so
// that an instance which comes back to its node is neither read nor decoded. What is here
// is only a guess at what is in etcd: who takes an instance has etcd compare the revision.
type idle struct {
	mu      sync.Mutex
	lru     *simplelru.LRU[string, weighed] // guarded by mu
	bytes   int64                           // guarded by mu
	most    int64
	metrics *metrics.Metrics
}

// weighed is an idle instance with what it takes in memory, about.
type weighed struct {
	live
	bytes int64
}

const (
	// idleBytes is how much memory a node gives to idle instances: some thousands of those
	// that are usual, which are the ones that come back soon.
	idleBytes = 32 << 20
	// idleMost is how many they are at most. Each with a burst holds its definition's
	// compiled version, which the catalogue may have let go of.
	idleMost = 2000
	// idleInstance is what a small instance takes beside its values, by estimate: the
	// record, the burst and one activity that waits.
	idleInstance = 6 << 10
	// idleShare is the part of all that one instance may take.
	idleShare = 16
)

func newIdle(most int64, m *metrics.Metrics) *idle {
	i := &idle{most: most, metrics: m}
	i.lru, _ = simplelru.NewLRU(idleMost, func(_ string, w weighed) { i.bytes -= w.bytes }) // of a size that is positive
	return i
}

// take gives what is known of an instance, and forgets it: its burst has one owner.
func (i *idle) take(id string) live {
	i.mu.Lock()
	defer i.mu.Unlock()
	w, _ := i.lru.Peek(id)
	i.lru.Remove(id)
	i.metrics.SetIdle(i.bytes)
	return w.live
}

// put remembers an instance that may go on, and forgets those that were not needed for
// the longest time.
func (i *idle) put(id string, l live) {
	w := weighed{l, idleInstance + valueBytes*int64(l.size())}
	if l.record == nil || w.bytes > i.most/idleShare {
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

// size is what its values take as JSON, about.
func (l *live) size() int {
	if l.record == nil {
		return 0
	}
	h := &l.record.Header
	n := len(l.record.State) + engine.Weigh(h.Input) + engine.Weigh(h.Output)
	for _, b := range h.Bookmarks {
		n += engine.Weigh(b.Payload) + engine.Weigh(b.Metadata)
	}
	for _, in := range h.Incidents {
		n += len(in.Message)
	}
	return n
}

// loaded tells what was known of a record that was just loaded.
func (l *live) loaded(r *store.Record) metrics.LoadSource {
	switch {
	case l.record == nil:
		return metrics.LoadRead
	case l.record != r:
		return metrics.LoadMoved
	case l.b == nil: // it is decoded
		return metrics.LoadRead
	}
	return metrics.LoadIdle
}

// found is where an instance waits, as this node committed it last; nil: it is not known to wait there.
func (i *idle) found(id, bookmark string) *store.BookmarkRef {
	i.mu.Lock()
	defer i.mu.Unlock()
	w, ok := i.lru.Peek(id)
	if !ok || w.record == nil {
		return nil
	}
	h := &w.record.Header
	for j := range h.Bookmarks {
		if b := &h.Bookmarks[j]; b.ID == bookmark {
			return &store.BookmarkRef{ID: b.ID, InstanceID: id, Hash: b.Hash, CorrelationID: h.CorrelationID, Moved: w.record.Modified, Unindexed: w.record.Unwritten != nil}
		}
	}
	return nil
}
