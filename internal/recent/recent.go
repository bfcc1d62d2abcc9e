package recent

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/weft-run/weft/pkg/workflow/near"
)

// Most is how many events a node remembers, one half of them of those that met nobody; mostTold is how many
// it tells at once, and mostOfName how many of one name that met somebody, or nobody.
const (
	Most       = 10_000
	mostTold   = 50
	mostOfName = 20
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

// Events are the last ones. The zero value remembers none yet. Those that met nobody are the ones that are
// asked for, and few; so they have a ring of their own, which no flood of others takes.
type Events struct {
	mu         sync.Mutex
	noted      uint64 // guarded by mu; how many were, ever
	met, unmet ring   // guarded by mu
}

type ring struct {
	of   []noted
	next int // the oldest, once it is full
}

type noted struct {
	Event
	nth uint64
}

func (r *ring) note(e noted) {
	if len(r.of) < Most/2 {
		r.of = append(r.of, e)
		return
	}
	r.of[r.next] = e
	r.next = (r.next + 1) % len(r.of)
}

// Note remembers an event.
func (r *Events) Note(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.noted++
	if e.Met == 0 {
		r.unmet.note(noted{e, r.noted})
	} else {
		r.met.note(noted{e, r.noted})
	}
}

// Like are those with one of these names, or with one that is nearly spelt so: the newest
// first, one of each name, correlation and address, 50 at most, see [Chosen]. Of one name there are 20 that met
// nobody and 20 others at most, so that it does not hide those that are nearly spelt so.
func (r *Events) Like(names []string) []Event {
	type sent struct{ name, correlation, instance string }
	seen, like, near := map[sent]bool{}, map[string]bool{}, near.NewNames(names)
	type kind struct {
		name  string
		unmet bool
	}
	told := map[kind]int{}
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
		what, of := sent{e.Name, e.CorrelationID, e.InstanceID}, kind{e.Name, e.Met == 0}
		if !is || seen[what] || told[of] == mostOfName {
			continue
		}
		seen[what], out = true, append(out, e.Event)
		told[of]++
	}
	return Chosen(out, mostTold, func(e *Event) bool { return e.Met == 0 })
}

// Chosen are most of some events, in their order: the first ones of those that met nobody and of those that
// met somebody, half of either, or more of one where there are fewer of the other. A flood of events that met
// somebody does not hide the one that did not.
func Chosen[E any](all []E, most int, unmet func(*E) bool) []E {
	n := 0
	for i := range all {
		if unmet(&all[i]) {
			n++
		}
	}
	left := map[bool]int{true: min(n, max(most/2, most-(len(all)-n)))}
	left[false] = most - left[true]
	var out []E
	for i := range all {
		if kind := unmet(&all[i]); left[kind] > 0 {
			left[kind]--
			out = append(out, all[i])
		}
	}
	return out
}

func (r *Events) newest() []noted {
	r.mu.Lock()
	all := slices.Concat(r.met.of, r.unmet.of)
	r.mu.Unlock()
	slices.SortFunc(all, func(a, b noted) int { return cmp.Compare(b.nth, a.nth) })
	return all
}
