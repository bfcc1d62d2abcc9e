package recent

import (
	"slices"
	"sync"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// Most is how many events a node remembers, and mostTold how many it tells at once.
const (
	Most     = 10_000
	mostTold = 50
)

// Event is an event that was sent. What it brought is not remembered.
type Event struct {
	ID            string // of the queue item, if there was one
	Name          string
	CorrelationID string // "": none
	InstanceID    string // that it was addressed to; "": to any
	At            time.Time
	Met           int    // instances that it resumed or started
	First         string // one of them; "": it met none, or that is not known
}

// Events are the last ones. The zero value remembers none yet.
type Events struct {
	mu   sync.Mutex
	ring []Event // guarded by mu
	next int     // guarded by mu; the oldest, once the ring is full
}

// Note remembers an event.
func (r *Events) Note(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.ring) < Most {
		r.ring = append(r.ring, e)
		return
	}
	r.ring[r.next] = e
	r.next = (r.next + 1) % Most
}

// Like are those with one of these names, or with one that is nearly spelt so: the newest
// first, one of each name, correlation and address, 50 at most.
func (r *Events) Like(names []string) []Event {
	type told struct{ name, correlation, instance string }
	seen, like, near := map[told]bool{}, map[string]bool{}, workflow.NewNames(names)
	for _, n := range names {
		like[n] = true
	}
	var out []Event
	for _, e := range r.newest() {
		is, known := like[e.Name]
		if !known {
			is = near.Nearest(e.Name) != ""
			like[e.Name] = is
		}
		what := told{e.Name, e.CorrelationID, e.InstanceID}
		if !is || seen[what] {
			continue
		}
		if seen[what], out = true, append(out, e); len(out) == mostTold {
			break
		}
	}
	return out
}

func (r *Events) newest() []Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := slices.Concat(r.ring[r.next:], r.ring[:r.next])
	slices.Reverse(all)
	return all
}
