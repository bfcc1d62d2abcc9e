package admission

import (
	"slices"
	"sync"
	"time"
)

// Quarantine is the one place for suspects in this process. Who finds it taken waits
// in memory, as others do for [Slots]: its instance is let go, and it stays in the
// mailbox, where every node finds it.
type Quarantine struct {
	wake Wake

	mu     sync.Mutex
	in     any                   // the owner that runs one; nil: none does; guarded by mu
	at     string                // its instance; guarded by mu
	queued map[Suspect]time.Time // who waits, since it was last found so; guarded by mu
	line   []Suspect             // the same, in order, with some who do not any more; guarded by mu
	called string                // instance of the one that was woken, and not seen yet; guarded by mu
}

// Suspect is a command that became poison if this process ended while it runs it.
type Suspect struct{ Instance, Command string }

// NewQuarantine is an empty one.
func NewQuarantine(wake Wake) *Quarantine { return &Quarantine{wake: wake} }

// MustWait reports whether the place is taken by another instance; then s waits for it.
func (q *Quarantine) MustWait(s Suspect) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.in == nil || q.at == s.Instance {
		return false
	}
	q.wait(s)
	return true
}

// wait needs mu.
func (q *Quarantine) wait(s Suspect) {
	if q.queued == nil {
		q.queued = map[Suspect]time.Time{}
	}
	if _, ok := q.queued[s]; !ok {
		q.line = append(q.line, s)
	}
	q.queued[s] = time.Now()
}

// Enter takes the place for a command of an owner, which is known by its pointer; if it
// is taken, that waits.
func (q *Quarantine) Enter(owner any, s Suspect) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.in != nil && q.in != owner {
		q.wait(s)
		return false
	}
	q.in, q.at = owner, s.Instance
	delete(q.queued, s)
	return true
}

// Leave gives the place back, if this owner has it.
func (q *Quarantine) Leave(owner any) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.in == owner {
		q.in = nil
		q.call()
	}
}

// call wakes the next; mu is held, and the place free.
func (q *Quarantine) call() {
	for len(q.line) > 0 {
		s := q.line[0]
		q.line = q.line[1:]
		if _, ok := q.queued[s]; ok {
			delete(q.queued, s)
			q.called = s.Instance
			q.wake.Again(s.Instance, true)
			return
		}
	}
	q.called = ""
}

// Seen notes that a try for an instance is over. If it was called and is not in the
// place, as another node was faster, the next has its turn.
func (q *Quarantine) Seen(instance string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.called != instance {
		return
	}
	q.called = ""
	if q.in == nil {
		q.call()
	}
}

// Keep forgets who has no mail any more, wakes the next if nobody has the place, and
// tells how many instances wait.
func (q *Quarantine) Keep(mailed map[string]bool) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting := map[string]bool{}
	q.line = slices.DeleteFunc(q.line, func(s Suspect) bool {
		if !mailed[s.Instance] {
			delete(q.queued, s)
		}
		_, waits := q.queued[s]
		if waits {
			waiting[s.Instance] = true
		}
		return !waits
	})
	if q.in == nil {
		q.call()
	}
	return len(waiting)
}

// Waits tells whether there is no use in a try for s. Once a minute there is: its marks
// count no more in the end, however long the one in the place takes.
func (q *Quarantine) Waits(s Suspect) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	since, ok := q.queued[s]
	return ok && time.Since(since) < Longest
}
