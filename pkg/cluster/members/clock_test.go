package members

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// heartbeats of one node as this one sees them: each is on its way to etcd and back
// to its node for some time, and some time on its way here.
type way struct{ there, back, here time.Duration }

func always(w way) func() way { return func() way { return w } }

// upTo draws each part of the way anew.
func upTo(w way) func() way {
	return func() way { return way{rand.N(w.there + 1), rand.N(w.back + 1), rand.N(w.here + 1)} }
}

// seen is a list that has seen some heartbeats of itself and of nodes whose
// clocks it is ahead of by so much.
func seen(off []time.Duration, on func() way) *List {
	s := New()
	s.sorted = []Node{{ID: "me", Process: "0"}}
	for i := range off {
		s.sorted = append(s.sorted, Node{ID: fmt.Sprint("n", i), Process: fmt.Sprint(i + 1)})
	}
	last := make([]Written, len(off))
	at := time.Now() // by our clock
	for beat := range int64(8) {
		at = at.Add(3 * time.Second)
		own := on()
		s.lag = watchLag{most: own.there + own.here, known: true}
		for i, d := range off {
			w, n := on(), s.sorted[i+1]
			n.Clock, n.Last = at.Add(-d), last[i]
			revision := 100*beat + int64(i) + 1
			s.observeClock(n, revision, at.Add(w.there+w.here))
			last[i] = Written{revision, w.there + w.back}
		}
	}
	return s
}

func TestClockSkewIsOwnMinusMedian(t *testing.T) {
	t.Parallel()
	fast, year := upTo(way{3 * time.Millisecond, 3 * time.Millisecond, 3 * time.Millisecond}), 365*24*time.Hour
	for _, c := range []struct {
		ahead []time.Duration // own clock minus each other's
		want  time.Duration
	}{
		{nil, 0},
		{[]time.Duration{0, 0}, 0},
		{[]time.Duration{10 * time.Second, 10 * time.Second}, 10 * time.Second}, // we are wrong
		{[]time.Duration{0, 10 * time.Second}, 0},                               // another one is
		{[]time.Duration{4 * time.Second}, 2 * time.Second},
		{[]time.Duration{3 * time.Second, 3 * time.Second, 3 * time.Second}, 3 * time.Second},
		{[]time.Duration{-3 * time.Second, -3 * time.Second}, -3 * time.Second},
		{[]time.Duration{10 * year, 10 * year}, 10 * year},
		{[]time.Duration{-10 * year, -10 * year}, -10 * year},
		{[]time.Duration{0, 0, 10 * year, -10 * year}, 0},
	} {
		if got := seen(c.ahead, fast).Skews("me")["me"]; (got - c.want).Abs() > 20*time.Millisecond {
			t.Errorf("%v: %v, want %v", c.ahead, got, c.want)
		}
	}
}

// Whatever is slow, a right clock does not look wrong, and one that is further off
// than heartbeats travel does.
func TestSlowHeartbeatsAreNoWrongClock(t *testing.T) {
	t.Parallel()
	const slow = 5 * time.Second
	const unsteady = "now and then" // a beat may be slower than the one that its lag was known by
	for name, on := range map[string]func() way{
		"to etcd":        always(way{there: slow}),
		"answers":        always(way{back: slow}),
		"watch":          always(way{here: slow}),
		"all":            always(way{slow, slow, slow}),
		unsteady:         upTo(way{slow, slow, slow}),
		"2.5 s to etcd":  always(way{there: slow / 2}),
		"2.5 s in watch": always(way{here: slow / 2}),
	} {
		over := time.Duration(0)
		if name == unsteady {
			over = 2 * time.Second // less is no wrong clock to a node
		}
		for range 50 {
			if got := seen([]time.Duration{0, 0}, on).Skews("me")["me"]; got.Abs() > over {
				t.Fatalf("%s: a right clock is off by %v", name, got)
			}
			for _, off := range []time.Duration{time.Minute, -time.Minute, 24 * time.Hour, -24 * time.Hour} {
				got := seen([]time.Duration{off, off}, on).Skews("me")["me"]
				if got.Abs() > off.Abs()+over || (got-off).Abs() > 4*slow {
					t.Fatalf("%s: a clock that is off by %v is off by %v", name, off, got)
				}
			}
		}
	}
}

// A heartbeat that was never answered, or that was not seen, tells nothing.
func TestAHeartbeatWithoutItsAnswerIsNoSample(t *testing.T) {
	t.Parallel()
	s := seen([]time.Duration{0}, always(way{}))
	c := s.clocks["1"]
	before, n := c.n, Node{ID: "n0", Process: "1", Clock: time.Now()}
	s.observeClock(n, 9000, time.Now().Add(time.Hour))
	n.Last = Written{Revision: 9001} // not the one before
	s.observeClock(n, 9002, time.Now())
	if c.n != before {
		t.Errorf("%d samples more", c.n-before)
	}
}

// Of a node that has been away for long nothing is kept.
func TestAClockOfLongAgoIsForgotten(t *testing.T) {
	t.Parallel()
	m := seen([]time.Duration{0}, always(way{}))
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clocks["long gone"] = &clockEstimate{gone: time.Now().Add(-2 * clockKept)}
	m.publish(false, nil)
	if _, kept := m.clocks["long gone"]; kept || len(m.clocks) != 1 {
		t.Errorf("%d clocks are kept of one node", len(m.clocks))
	}
}
