package cluster

import (
	"slices"
	"time"
)

// clockEstimate is how far our wall clock is ahead of another node's. Each
// sample is too high by the time that the record travelled, never too low, so
// the smallest of the last few is the best.
type clockEstimate struct {
	samples [5]time.Duration
	n       int
}

func (c *clockEstimate) add(d time.Duration) {
	c.samples[c.n%len(c.samples)] = d
	c.n++
}

func (c *clockEstimate) best() time.Duration {
	return slices.Min(c.samples[:min(c.n, len(c.samples))])
}

// observeClock needs m.mu. Only records that arrive through the watch count:
// those that a sweep finds are of unknown age.
func (m *members) observeClock(n Node, received time.Time) {
	if n.Clock.IsZero() {
		return
	}
	c := m.clocks[n.LeaseID]
	if c == nil {
		c = &clockEstimate{}
		m.clocks[n.LeaseID] = c
	}
	// Round(0) drops the monotonic reading: this compares wall clocks.
	c.add(received.Round(0).Sub(n.Clock))
}

// ClockSkew is this node's wall clock minus the median of the clocks of all live
// nodes, this one included; 0 when alone or before the first heartbeat of
// another node was seen.
//
// It is good to about the time that a record takes from one node to another
// (milliseconds, the best of five heartbeats counts; a node that is far behind
// with its watch sees itself too far ahead), and up to five heartbeats, 15 s at
// most, behind a clock that is set forward. With two nodes each sees half of the
// difference: nobody can tell which one is right.
func (s *Session) ClockSkew() time.Duration {
	m := &s.members
	m.mu.Lock()
	defer m.mu.Unlock()
	ahead := []time.Duration{0} // this node compared with itself
	for _, n := range m.sorted {
		if c := m.clocks[n.LeaseID]; c != nil && n.ID != s.cfg.NodeID {
			ahead = append(ahead, c.best())
		}
	}
	slices.Sort(ahead)
	mid := len(ahead) / 2
	if len(ahead)%2 == 1 {
		return ahead[mid]
	}
	return (ahead[mid-1] + ahead[mid]) / 2
}
