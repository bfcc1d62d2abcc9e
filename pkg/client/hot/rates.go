// Package hot finds the instances that a node commits again and again.
//
// Guaranteed: memory is bounded, and an instance that has more than one in 1,024 of the
// commits of a window is always found (a counter of Misra and Gries, 1982). Not guaranteed:
// exact rates, which are too small by as much at most.
package hot

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// Instance is one that this node commits again and again.
type Instance struct {
	InstanceID string
	PerSecond  float64 // commits
}

const (
	// window is over how long commits of instances are counted.
	window = 10 * time.Second
	// least is after how much of the first window it says something.
	least = time.Second
	// kept bounds how many instances are counted in a window. Of n commits an instance
	// that has more than n/kept of them is always among these, and is counted short by
	// so many at most.
	kept = 1024
	// hotFrom is how many commits a second make an instance hot.
	hotFrom = 1.0
)

// Rates counts the commits of instances. The zero value has seen none.
type Rates struct {
	mu    sync.Mutex
	began time.Time      // of the window; guarded by mu
	now   map[string]int // commits in it; guarded by mu
	last  map[string]int // in the window before; nil: there was none; guarded by mu
}

// turn begins a new window when the old one is over. It needs h.mu.
func (h *Rates) turn(at time.Time) {
	switch d := at.Sub(h.began); {
	case h.now != nil && d < window:
		return
	case d < 2*window:
		h.last = h.now
	case h.now != nil:
		h.last = map[string]int{} // nothing was committed in it
	}
	h.began, h.now = at, map[string]int{}
}

// Note counts a commit.
func (h *Rates) Note(id string, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.turn(at)
	if _, known := h.now[id]; known || len(h.now) < kept {
		h.now[id]++
		return
	}
	// All places are taken: this commit and one of each of those in them cancel each other out.
	for other, n := range h.now {
		if n == 1 {
			delete(h.now, other)
		} else {
			h.now[other] = n - 1
		}
	}
}

// Hottest are the instances with the most commits in the last window that is over, or, while
// there is none, in the present one.
func (h *Rates) Hottest(most int, at time.Time) []Instance {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.turn(at)
	counts, took := h.last, window
	if counts == nil {
		counts, took = h.now, at.Sub(h.began)
	}
	if took < least {
		return nil
	}
	var out []Instance
	for id, n := range counts {
		if rate := float64(n) / took.Seconds(); rate >= hotFrom {
			out = append(out, Instance{id, rate})
		}
	}
	slices.SortFunc(out, func(a, b Instance) int {
		return cmp.Or(cmp.Compare(b.PerSecond, a.PerSecond), cmp.Compare(a.InstanceID, b.InstanceID))
	})
	return out[:min(len(out), most)]
}
