package upkeep

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/upkeep/giving"
)

// Wakeups is what this node learned that its workers should look at: instances with
// mail, new send records, gates that are free. They are hints: what is lost here, a
// sweep finds. Make it with [NewWakeups] and hand its methods to the client.Node and
// to the runtime.
type Wakeups struct {
	mu      sync.Mutex
	pending map[string]bool // instance → recovered; guarded by mu
	order   []string        // guarded by mu
	wake    chan struct{}   // capacity 1
	sends   chan struct{}   // capacity 1

	freed map[store.Gate]bool // guarded by mu
	gates chan struct{}       // capacity 1: some were freed

	*giving.Told // lines of limits
}

// NewWakeups makes an empty set.
func NewWakeups() *Wakeups {
	return &Wakeups{pending: map[string]bool{}, wake: make(chan struct{}, 1), sends: make(chan struct{}, 1),
		freed: map[store.Gate]bool{}, gates: make(chan struct{}, 1), Told: giving.NewTold()}
}

// Hint adds instances, and wakes the send worker if stimuli were sent. It never
// blocks.
func (w *Wakeups) Hint(instances []string, sent bool) {
	for _, id := range instances {
		w.add(id, false)
	}
	if sent {
		signal(w.sends)
	}
}

// Freed adds a gate that an instance has let go: something may wait behind it. It
// never blocks.
func (w *Wakeups) Freed(g store.Gate) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.freed[g] = true
	signal(w.gates)
}

// keepFreed adds a gate without waking anybody: for a later try.
func (w *Wakeups) keepFreed(g store.Gate) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.freed[g] = true
}

// takeFreed gives the gates that were freed since it was asked last.
func (w *Wakeups) takeFreed() []store.Gate {
	w.mu.Lock()
	defer w.mu.Unlock()
	gates := slices.Collect(maps.Keys(w.freed))
	clear(w.freed)
	return gates
}

// Again adds an instance for which there is a place now. It never blocks.
func (w *Wakeups) Again(id string, recovered bool) { w.add(id, recovered) }

func (w *Wakeups) add(id string, recovered bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.pending[id]; ok {
		return
	}
	w.pending[id] = recovered
	w.order = append(w.order, id)
	signal(w.wake)
}

// has reports whether an instance waits for its turn here.
func (w *Wakeups) has(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, ok := w.pending[id]
	return ok
}

// next waits for an instance; ok is false when ctx ended.
func (w *Wakeups) next(ctx context.Context) (id string, recovered, ok bool) {
	for {
		w.mu.Lock()
		if len(w.order) > 0 {
			id = w.order[0]
			w.order = w.order[1:]
			recovered = w.pending[id]
			delete(w.pending, id)
			if len(w.order) > 0 {
				signal(w.wake)
			}
			w.mu.Unlock()
			return id, recovered, true
		}
		w.mu.Unlock()
		select {
		case <-ctx.Done():
			return "", false, false
		case <-w.wake:
		}
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
