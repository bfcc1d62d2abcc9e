package client

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// Hot is an instance that this node commits again and again.
type Hot struct {
	InstanceID string
	PerSecond  float64 // commits
}

const (
	// heatWindow is over how long commits of instances are counted.
	heatWindow = 10 * time.Second
	// heatLeast is after how much of the first window it says something.
	heatLeast = time.Second
	// heatKept bounds how many instances are counted in a window. Of n commits an instance
	// that has more than n/heatKept of them is always among these, and is counted short by
	// so many at most.
	heatKept = 1024
	// hotFrom is how many commits a second make an instance hot.
	hotFrom = 1.0
)

// heat counts the commits of instances. The zero value has seen none.
type heat struct {
	mu    sync.Mutex
	began time.Time      // of the window; guarded by mu
	now   map[string]int // commits in it; guarded by mu
	last  map[string]int // in the window before; nil: there was none; guarded by mu
}

// turn begins a new window when the old one is over. It needs h.mu.
func (h *heat) turn(at time.Time) {
	switch d := at.Sub(h.began); {
	case h.now != nil && d < heatWindow:
		return
	case d < 2*heatWindow:
		h.last = h.now
	case h.now != nil:
		h.last = map[string]int{} // nothing was committed in it
	}
	h.began, h.now = at, map[string]int{}
}

// note counts a commit.
func (h *heat) note(id string, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.turn(at)
	if _, known := h.now[id]; known || len(h.now) < heatKept {
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

// hottest are the instances with the most commits in the last window that is over, or, while
// there is none, in the present one.
func (h *heat) hottest(most int, at time.Time) []Hot {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.turn(at)
	counts, took := h.last, heatWindow
	if counts == nil {
		counts, took = h.now, at.Sub(h.began)
	}
	if took < heatLeast {
		return nil
	}
	var out []Hot
	for id, n := range counts {
		if rate := float64(n) / took.Seconds(); rate >= hotFrom {
			out = append(out, Hot{id, rate})
		}
	}
	slices.SortFunc(out, func(a, b Hot) int {
		return cmp.Or(cmp.Compare(b.PerSecond, a.PerSecond), cmp.Compare(a.InstanceID, b.InstanceID))
	})
	return out[:min(len(out), most)]
}

// Hottest are the instances that this node committed most often of late, at least once a
// second, those with the most commits first: a rate of the last 10 s or so.
func (n *Node) Hottest(most int) []Hot { return n.heat.hottest(most, time.Now()) }
