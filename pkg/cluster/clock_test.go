package cluster

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/cluster/members"
)

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
			beats := make([]map[string]map[int64]bool, len(nodes)) // that a node has seen of each, with what it tells of the one before
			polltest.Eventually(t, "samples of each other", func() bool {
				all := true
				for i, s := range nodes {
					if beats[i] == nil {
						beats[i] = map[string]map[int64]bool{}
					}
					for _, n := range s.Members() {
						if beats[i][n.ID] == nil {
							beats[i][n.ID] = map[int64]bool{}
						}
						if n.Last.Revision != 0 {
							beats[i][n.ID][n.Last.Revision] = true
						}
					}
					enough := len(beats[i]) == len(nodes)
					for _, b := range beats[i] {
						enough = enough && len(b) >= 3 // two samples, as the first may be none
					}
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

// tell gives a list the record of a node.
func tell(t *testing.T, list *members.List, n Node, revision int64, at time.Time) {
	t.Helper()
	raw, err := json.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	list.Apply(&clientv3.Event{Kv: &mvccpb.KeyValue{Key: []byte(nodesDir + n.ID), Value: raw, ModRevision: revision}}, at)
}

// hear gives a list some heartbeats of this node and of others whose clocks it is ahead of by so
// much, which take no time.
func hear(t *testing.T, list *members.List, off []time.Duration) {
	t.Helper()
	last := make([]members.Written, len(off))
	at := time.Now().Round(0)
	for beat := range int64(8) {
		at = at.Add(3 * time.Second)
		list.Sending(at)
		tell(t, list, Node{ID: "me", Process: "0", Clock: at}, 100*beat+1, at)
		for i, d := range off {
			revision := 100*beat + int64(i) + 2
			tell(t, list, Node{ID: fmt.Sprint("n", i), Process: fmt.Sprint(i + 1), Clock: at.Add(-d), Last: last[i]}, revision, at)
			last[i] = members.Written{Revision: revision}
		}
	}
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
		s := &Session{cfg: Config{NodeID: "me", TTL: ttl, Mode: c.mode, OneMachine: c.machine}, members: members.New(), joined: time.Now().Add(-c.since)}
		hear(t, s.members, on)
		if c.settled && !s.ClockCompared() {
			t.Errorf("%s: it was not compared while it was alone", c.what)
		}
		if c.silent {
			for i := range c.others {
				tell(t, s.members, Node{ID: fmt.Sprint("n", i), Process: fmt.Sprint(i + 1)}, 1000, time.Now())
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
