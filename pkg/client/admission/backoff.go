package admission

import (
	"sync"
	"time"
)

const (
	// freeAttempts take over a command at once; each one after them waits twice as
	// long as the one before.
	freeAttempts = 2
	// Longest is how long a command is left alone for, at most.
	Longest = time.Minute
	// maxResting bounds what a node remembers to leave alone for a while.
	maxResting = 10_000
)

// Backoff is the commands that this node leaves alone for a while. Who else works
// for the cluster finds out for itself.
type Backoff struct {
	mu   sync.Mutex
	till map[Suspect]rest // guarded by mu
}

type rest struct {
	attempts int
	till     time.Time
}

// Has reports whether a command is left alone now.
func (r *Backoff) Has(s Suspect) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Now().Before(r.till[s].till)
}

// Wait reports whether a command is to wait, which it does from when this node
// first sees it with so many attempts: not for the first two, then for first, and twice as long each
// time, a minute at most.
func (r *Backoff) Wait(s Suspect, attempts int, first time.Duration) bool {
	if attempts < freeAttempts {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	e, known := r.till[s]
	if !known || e.attempts != attempts {
		e = r.put(s, attempts, min(first<<min(attempts-freeAttempts, 10), Longest))
	}
	return time.Now().Before(e.till)
}

// Until leaves a command alone for d.
func (r *Backoff) Until(s Suspect, attempts int, d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.put(s, attempts, d)
}

// put needs r.mu.
func (r *Backoff) put(s Suspect, attempts int, d time.Duration) rest {
	now := time.Now()
	if len(r.till) >= maxResting {
		for k, e := range r.till {
			if now.Sub(e.till) > Longest {
				delete(r.till, k)
			}
		}
	}
	if r.till == nil || len(r.till) >= maxResting {
		r.till = map[Suspect]rest{}
	}
	r.till[s] = rest{attempts, now.Add(d)}
	return r.till[s]
}
