package members

import (
	"slices"
	"time"
)

// clockSample bounds how far our wall clock is ahead of another node's.
type clockSample struct{ low, high time.Duration }

// clockEstimate is what the last few heartbeats of a node tell of its clock.
type clockEstimate struct {
	samples [5]clockSample
	n       int

	gone     time.Time // since when its node is not live; zero: it is
	revision int64     // of the heartbeat seen last, which is a sample when the next one comes
	clock    time.Time // in it
	received time.Time // by our clock
}

func (c *clockEstimate) add(s clockSample) {
	c.samples[c.n%len(c.samples)] = s
	c.n++
}

// off is the difference nearest to none that the best sample allows; false: there
// is no sample. The best has travelled least.
func (c *clockEstimate) off() (time.Duration, bool) {
	if c == nil || c.n == 0 {
		return 0, false
	}
	best := c.samples[0]
	for _, s := range c.samples[1:min(c.n, len(c.samples))] {
		if s.high < best.high {
			best = s
		}
	}
	return min(max(0, best.low), best.high), true
}

// clockKept is how long what was seen of a node's clock outlives its record: when
// etcd was away for a TTL, all nodes come back with new leases, one after the other.
const clockKept = time.Minute

// forgetClocks needs m.mu.
func (m *List) forgetClocks(vanished []Node) {
	for _, n := range vanished {
		if c := m.clocks[n.Process]; c != nil {
			c.gone = time.Now()
		}
	}
	for process, c := range m.clocks {
		if !c.gone.IsZero() && time.Since(c.gone) > clockKept {
			delete(m.clocks, process)
		}
	}
}

// watchLag is the longest that the watch can have been behind when it gave us our
// own last heartbeat.
type watchLag struct {
	clock time.Time     // in the heartbeat sent last
	sent  time.Time     // when that was, with its monotonic reading
	most  time.Duration // of the last one that came back
	known bool
}

// Sending notes that a heartbeat of ours is sent now.
func (m *List) Sending(clock time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lag.clock, m.lag.sent = clock, time.Now()
}

// observeClock needs m.mu. Only records that arrive through the watch count:
// those that a sweep finds are of unknown age.
//
// A heartbeat was written not before its clock says, and not after that and the
// time that etcd took to answer, which its node tells with the next one. We got it
// not before it was written, and not later than our watch is behind. Both bound
// the difference of the clocks, so that neither a slow write nor a slow watch looks
// like a wrong clock.
func (m *List) observeClock(n Node, revision int64, received time.Time) {
	if n.Clock.IsZero() {
		return
	}
	c := m.clocks[n.Process]
	if c == nil {
		c = &clockEstimate{}
		m.clocks[n.Process] = c
	}
	c.gone = time.Time{}
	if m.lag.clock.Equal(n.Clock) && !m.lag.sent.IsZero() { // our own
		m.lag.most, m.lag.known = time.Since(m.lag.sent), true
	}
	if n.Last.Revision != 0 && n.Last.Revision == c.revision && m.lag.known {
		high := c.received.Sub(c.clock)
		c.add(clockSample{high - n.Last.Took - m.lag.most, high})
	}
	// Round(0) drops the monotonic reading: this compares wall clocks.
	c.revision, c.clock, c.received = revision, n.Clock, received.Round(0)
}

// Compared reports whether there was something to compare the clock of the node me with: two heartbeats
// of another node were seen, or all have one clock, or it was alone when that was settled. Once
// it is true it stays so.
func (m *List) Compared(me string, oneClock, settled bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	alone := true
	for _, n := range m.sorted {
		if n.ID != me {
			_, ok := m.clocks[n.Process].off()
			alone, m.compared = false, m.compared || ok
		}
	}
	m.compared = m.compared || oneClock || alone && settled
	return m.compared
}

// Skews are the wall clocks of the live nodes minus the median of all of them, by their ids, as the
// node me sees them. Nodes of which two heartbeats were not seen yet are not in it; me always is.
func (m *List) Skews(me string) map[string]time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	skews := map[string]time.Duration{me: 0}
	ahead := []time.Duration{0} // of this node: of each other, and of itself
	for _, n := range m.sorted {
		if off, ok := m.clocks[n.Process].off(); ok && n.ID != me {
			ahead = append(ahead, off)
			skews[n.ID] = -off
		}
	}
	slices.Sort(ahead)
	mid := len(ahead) / 2
	median := ahead[mid]
	if len(ahead)%2 == 0 {
		median = (ahead[mid-1] + ahead[mid]) / 2
	}
	for id := range skews {
		skews[id] += median
	}
	return skews
}
