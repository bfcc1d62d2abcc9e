package cluster

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

// heartbeats of one node as this one sees them: each is on its way to etcd and back
// to its node for some time, and some time on its way here.
type way struct{ there, back, here time.Duration }

func always(w way) func() way { return func() way { return w } }

// upTo draws each part of the way anew.
func upTo(w way) func() way {
	return func() way { return way{rand.N(w.there + 1), rand.N(w.back + 1), rand.N(w.here + 1)} }
}

// seen is a session that has seen some heartbeats of itself and of nodes whose
// clocks it is ahead of by so much.
func seen(off []time.Duration, on func() way) *Session {
	s := &Session{cfg: Config{NodeID: "me"}}
	s.members.init()
	s.members.sorted = []Node{{ID: "me", Process: "0"}}
	for i := range off {
		s.members.sorted = append(s.members.sorted, Node{ID: fmt.Sprint("n", i), Process: fmt.Sprint(i + 1)})
	}
	last := make([]written, len(off))
	at := time.Now() // by our clock
	for beat := range int64(8) {
		at = at.Add(3 * time.Second)
		own := on()
		s.members.lag = watchLag{most: own.there + own.here, known: true}
		for i, d := range off {
			w, n := on(), s.members.sorted[i+1]
			n.Clock, n.Last = at.Add(-d), last[i]
			revision := 100*beat + int64(i) + 1
			s.members.observeClock(n, revision, at.Add(w.there+w.here))
			last[i] = written{revision, w.there + w.back}
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
		if got := seen(c.ahead, fast).ClockSkew(); (got - c.want).Abs() > 20*time.Millisecond {
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
			if got := seen([]time.Duration{0, 0}, on).ClockSkew(); got.Abs() > over {
				t.Fatalf("%s: a right clock is off by %v", name, got)
			}
			for _, off := range []time.Duration{time.Minute, -time.Minute, 24 * time.Hour, -24 * time.Hour} {
				got := seen([]time.Duration{off, off}, on).ClockSkew()
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
	c := s.members.clocks["1"]
	before, n := c.n, Node{ID: "n0", Process: "1", Clock: time.Now()}
	s.members.observeClock(n, 9000, time.Now().Add(time.Hour))
	n.Last = written{Revision: 9001} // not the one before
	s.members.observeClock(n, 9002, time.Now())
	if c.n != before {
		t.Errorf("%d samples more", c.n-before)
	}
}

// Three nodes, each beat of which takes 2.5 to 4 s to be written: nobody believes
// that it is off, unless it is.
func TestSlowWritesOfLiveNodesAreNoWrongClock(t *testing.T) {
	for _, off := range []time.Duration{0, 30 * time.Second, -30 * time.Second} {
		t.Run(off.String(), func(t *testing.T) {
			w := newWorld(t)
			nodes := make([]*Session, 3)
			for i := range nodes {
				nodes[i] = w.run(string(rune('a'+i)), ttl(6*time.Second), func(c *Config) {
					faults := clustertest.NewFaults(uint64(i))
					records := func(call clustertest.Call) bool { return call.PutsUnder(Root(w.name) + nodesDir) }
					faults.Add(clustertest.Rule{Fault: clustertest.DelayBefore, Delay: 2500 * time.Millisecond, Prob: 0.5, Match: records})
					faults.Add(clustertest.Rule{Fault: clustertest.DelayBefore, Delay: 4000 * time.Millisecond, Match: records})
					c.LeaseClient = w.etcd.Client(t)
					c.Client = faults.Wrap(w.etcd.Client(t))
					if i == 0 {
						c.Now = func() time.Time { return time.Now().Add(off) }
					}
				})
			}
			polltest.Eventually(t, "samples of each other", func() bool {
				all := true
				for i, s := range nodes {
					s.members.mu.Lock()
					enough := len(s.members.clocks) == len(nodes)
					for _, c := range s.members.clocks {
						enough = enough && c.n >= 2
					}
					s.members.mu.Unlock()
					// Who has heard of the wrong one only sees half of what that is off.
					if skew := s.ClockSkew(); skew.Abs() > 2*time.Second && (off == 0 || i > 0 && enough) {
						t.Fatalf("node %d is off by %v", i, skew)
					}
					all = all && enough
				}
				return all
			})
			if skew := nodes[0].ClockSkew(); off != 0 && (skew.Abs() < 2*time.Second || skew > 0 != (off > 0)) {
				t.Errorf("%v off is measured as %v", off, skew)
			}
		})
	}
}

// Whoever joins others knows nothing of its clock before it has seen two heartbeats of
// one of them; those who were there first go on, and so does one that is left alone.
func TestWhoJoinsOthersHasToCompareItsClockFirst(t *testing.T) {
	w := newWorld(t)
	first := w.run("a", ttl(2*time.Second))
	polltest.Eventually(t, "one that is alone goes on", first.ClockCompared)
	silent := w.open("b", ttl(2*time.Second)) // tells nothing
	if silent.ClockCompared() {
		t.Error("it has compared its clock before it has heard anything")
	}
	for _, off := range []time.Duration{0, time.Hour, -time.Hour, -87600 * time.Hour} {
		s := w.run("c", ttl(2*time.Second), func(c *Config) { c.Now = func() time.Time { return time.Now().Add(off) } })
		if s.ClockCompared() {
			t.Errorf("%v: compared at once", off)
		}
		polltest.Eventually(t, "it compares its clock", s.ClockCompared)
		if skew := s.ClockSkew(); (skew.Abs() > 2*time.Second) != (off != 0) {
			t.Errorf("%v off: it takes its clock for %v off when it has compared it", off, skew)
		}
		if !first.ClockCompared() {
			t.Error("one that was there first waits")
		}
		if err := s.Close(w.ctx()); err != nil {
			t.Fatal(err)
		}
	}
	if err := first.Close(w.ctx()); err != nil {
		t.Fatal(err)
	}
	polltest.Eventually(t, "it knows that it is alone", func() bool {
		if err := silent.sweepMembers(w.ctx()); err != nil {
			t.Fatal(err)
		}
		return silent.ClockCompared()
	})
}

// Who is alone goes by its clock when two heartbeats have passed, and not if others
// joined before: which of several that start together was the first is chance.
func TestWhoIsAloneWaitsForThoseWhoStartWithIt(t *testing.T) {
	t.Parallel()
	const ttl = 8 * time.Second // two heartbeats are 4 s
	others := []time.Duration{25 * time.Hour, 25 * time.Hour}
	for _, c := range []struct {
		what    string
		mode    string
		machine bool
		others  []time.Duration // our clock minus theirs; nil: there are none
		silent  bool            // no heartbeat of theirs was seen yet
		since   time.Duration   // we joined
		settled bool            // we had been alone for long before
		want    bool
	}{
		{what: "alone at once"},
		{what: "alone, soon", since: 3900 * time.Millisecond},
		{what: "alone, later", since: 4 * time.Second, want: true},
		{what: "alone, long", since: time.Hour, want: true},
		{what: "local", mode: ModeLocal, want: true},
		{what: "on one machine", machine: true, want: true},
		{what: "others, nothing heard", others: others, silent: true},
		{what: "others, nothing heard for long", others: others, silent: true, since: time.Hour},
		{what: "others, heard", others: others, want: true},
		{what: "others came to one that was there", others: others, silent: true, since: time.Hour, settled: true, want: true},
	} {
		on := c.others
		if c.silent {
			on = nil
		}
		s := seen(on, always(way{}))
		s.cfg.TTL, s.cfg.Mode, s.cfg.OneMachine, s.joined = ttl, c.mode, c.machine, time.Now().Add(-c.since)
		if c.settled && !s.ClockCompared() {
			t.Errorf("%s: it was not compared while it was alone", c.what)
		}
		if c.silent {
			for i := range c.others {
				s.members.sorted = append(s.members.sorted, Node{ID: fmt.Sprint("n", i), Process: fmt.Sprint(i + 1)})
			}
		}
		if got := s.ClockCompared(); got != c.want {
			t.Errorf("%s: compared %v, want %v", c.what, got, c.want)
		}
	}
}

// Three start together, the one with the wrong clock first: it never believes that it
// is right.
func TestTheFirstOfSeveralIsNotRightBecauseItWasTheFirst(t *testing.T) {
	w := newWorld(t)
	wrong := w.run("a", func(c *Config) { c.Now = func() time.Time { return time.Now().Add(25 * time.Hour) } })
	if wrong.ClockCompared() {
		t.Fatal("alone, it takes its clock for right at once")
	}
	for _, id := range []string{"b", "c"} {
		w.run(id)
	}
	polltest.Eventually(t, "it compares its clock", func() bool {
		if wrong.ClockCompared() && wrong.ClockSkew() < 2*time.Second {
			t.Fatal("it takes its clock for right")
		}
		return wrong.ClockCompared()
	})
}

// A node that comes back with another lease has the clock that it had.
func TestWhatIsKnownOfAClockOutlivesALease(t *testing.T) {
	w := newWorld(t)
	wrong := w.run("a", ttl(2*time.Second), func(c *Config) { c.Now = func() time.Time { return time.Now().Add(time.Hour) } })
	other := w.run("b", ttl(2*time.Second))
	polltest.Eventually(t, "it sees that its clock is wrong", func() bool { return wrong.ClockSkew() > 2*time.Second })
	before := other.Epoch().Lease
	w.revoke(before)
	polltest.Eventually(t, "the other is back", func() bool {
		for _, n := range wrong.Members() {
			if n.ID == "b" && n.LeaseID != leaseHex(before) {
				return true
			}
		}
		return false
	})
	if skew := wrong.ClockSkew(); skew < 2*time.Second {
		t.Errorf("it takes its clock for %v off when the other has another lease", skew)
	}
	m := &wrong.members
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clocks["long gone"] = &clockEstimate{gone: time.Now().Add(-2 * clockKept)}
	m.publish(false, nil)
	if _, kept := m.clocks["long gone"]; kept || len(m.clocks) != 2 {
		t.Errorf("%d clocks are kept of two nodes", len(m.clocks))
	}
}

func TestClockSkewOfLiveNodesIsSmall(t *testing.T) {
	w := newWorld(t)
	three := 3 * time.Second
	a := w.run("a", ttl(2*time.Second))
	w.run("b", ttl(2*time.Second))
	wrong := w.run("c", ttl(2*time.Second), func(c *Config) { c.Now = func() time.Time { return time.Now().Add(three) } })
	polltest.Eventually(t, "the wrong clock is seen", func() bool { return (wrong.ClockSkew() - three).Abs() < time.Second })
	if d := a.ClockSkew(); d.Abs() > time.Second {
		t.Errorf("skew %v on one machine", d)
	}
}
