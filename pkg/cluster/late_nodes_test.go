package cluster

import (
	"fmt"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/polltest"
)

// A node whose record lives on its lease and is not renewed is told as late, by others and by itself, until
// it is renewed: also where only the sweep sees its record.
func TestANodeThatDoesNotBeatIsLate(t *testing.T) {
	w := newWorld(t)
	short := ttl(4 * time.Second)
	a := w.run("a", short)
	b := w.open("b", short, func(c *Config) { c.TTL = time.Minute }) // its lease lives on without a beat
	a.cfg.TTL = 2 * time.Second                                      // beats every half second
	late := func(id string) func() bool {
		return func() bool { return a.Late()[id] > lateBeats*heartbeatEvery(a.cfg.TTL) }
	}
	polltest.Eventually(t, "a knows b", func() bool { return len(a.Members()) == 2 })
	if late := a.Late(); len(late) > 0 {
		t.Errorf("late at once: %v", late)
	}
	polltest.Eventually(t, "b is late", late("b"))
	if err := a.sweepMembers(w.ctx()); err != nil {
		t.Fatal(err)
	}
	if !late("b")() {
		t.Error("a sweep that finds the same record takes it for a heartbeat")
	}
	if err := b.publish(w.ctx(), b.Epoch()); err != nil {
		t.Fatal(err)
	}
	polltest.Eventually(t, fmt.Sprint("b is not late, of ", a.Members()), func() bool { return !late("b")() })
}

// A form of records is written when every live node reads it: not while one of before lives.
func TestAFormIsReadByAllOrNotWritten(t *testing.T) {
	w := newWorld(t)
	reads := func(form int) func(*Config) { return func(c *Config) { c.Reads = form } }
	a := w.open("a", reads(2))
	w.start(a)
	polltest.Eventually(t, "a reads it, and is alone", func() bool { return a.AllRead(1) && a.AllRead(2) && !a.AllRead(3) })
	old := w.open("old")
	polltest.Eventually(t, "an older node lives", func() bool { return len(a.Members()) == 2 })
	if a.AllRead(1) {
		t.Error("an older node does not read it")
	}
	if err := old.Close(w.ctx()); err != nil {
		t.Fatal(err)
	}
	polltest.Eventually(t, "it has gone", func() bool { return a.AllRead(2) })
}
