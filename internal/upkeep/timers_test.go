package upkeep_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/upkeep"
	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

func TestATimerFiresOnceAndNotEarly(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	c[0].Publish("id: delayed\nroot:\n  - delay: 300ms\n  - writeLine: rang\n")
	began := time.Now()
	var wg sync.WaitGroup
	for i := range 30 {
		wg.Go(func() { c[i%3].Start("delayed", fmt.Sprint("d", i), "") })
	}
	wg.Wait()
	for i := range 30 {
		id := fmt.Sprint("d", i)
		in := c[0].Finished(id)
		if in.FinishedAt.Sub(began) < 300*time.Millisecond {
			t.Errorf("%s rang early", id)
		}
		if l := c[0].Lines(id); len(l) != 1 {
			t.Errorf("%s rang %d times", id, len(l))
		}
	}
	if page, err := c[0].Inspector.Timers(t.Context(), "", 10); err != nil || len(page.Items) != 0 {
		t.Errorf("timers left: %+v, %v", page.Items, err)
	}
}

func TestAScheduleStartsOncePerOccurrence(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	c[0].Publish("id: everySecond\nroot:\n  - cron: '* * * * * *'\n    trigger: true\n  - writeLine: tick\n")
	var items []workflow.Instance
	eventually(t, "four occurrences", func() bool {
		page, err := c[1].Inspector.Instances(t.Context(), runtime.InstanceFilter{DefinitionID: "everySecond"}, runtime.Paging{Limit: 500})
		items = page.Items
		return err == nil && len(items) >= 4
	})
	// An occurrence may fire late, so two may start in one second; but there are
	// no more than seconds.
	first, last := items[0].CreatedAt, items[0].CreatedAt
	for _, in := range items {
		first, last = upkeep.Sooner(first, in.CreatedAt), upkeep.Later(last, in.CreatedAt)
	}
	if most := int(last.Sub(first)/time.Second) + 2; len(items) > most {
		t.Errorf("%d instances between %v and %v", len(items), first, last)
	}
}

// Schedules are found by the millisecond. Definitions of before could have one that
// is due within it, which ended the node that looked too early.
func TestAScheduleThatIsDueWithinTheMillisecondWaits(t *testing.T) {
	t.Parallel()
	var now atomic.Pointer[time.Time]
	set := func(at time.Time) { now.Store(&at) }
	set(time.Now().Add(-time.Hour))
	m := newCluster(t, 1, func(cfg *membertest.Config) { cfg.Now = func() time.Time { return *now.Load() } })[0]
	m.Publish("id: often\nroot:\n  - timer: 1s\n    trigger: true\n  - writeLine: tick\n")
	entries, _, err := m.Store.Reader.Schedules(t.Context(), "", 10, 0)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%+v, %v", entries, err)
	}
	e := entries[0]
	look := e.Due
	e.Interval += 500 * time.Microsecond
	e.Due = e.Due.Add(500 * time.Microsecond)
	value, err := etcdstore.Encode(e)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := clustertest.Shared(t).Client(t).Put(t.Context(), e.Key, string(value)); err != nil {
		t.Fatal(err)
	}
	looks := m.Faults.Add(clustertest.Rule{Fault: clustertest.DelayBefore, Match: func(c clustertest.Call) bool {
		return !c.Mutating && c.Touches(m.Root+"cron/")
	}})
	started := func() int {
		page, err := m.Inspector.Instances(t.Context(), runtime.InstanceFilter{DefinitionID: "often"}, runtime.Paging{})
		if err != nil {
			t.Error(err)
		}
		return len(page.Items)
	}
	set(look)
	before := looks.Fired()
	eventually(t, "two looks at it", func() bool { return looks.Fired() > before+2 })
	if n := started(); n != 0 {
		t.Errorf("%d started before it was due", n)
	}
	set(look.Add(time.Millisecond))
	eventually(t, "it starts", func() bool { return started() == 1 })
}

func TestANodeWithAWrongClockFiresNothing(t *testing.T) {
	t.Parallel()
	var skew atomic.Int64
	skew.Store(int64(3 * time.Second))
	said := &about{Handler: slog.DiscardHandler, what: "clock"}
	c := newCluster(t, 1, func(cfg *membertest.Config) {
		cfg.Skew, cfg.Log = func() time.Duration { return time.Duration(skew.Load()) }, slog.New(said)
	})
	eventually(t, "it is alone", c[0].Session.ClockCompared)
	c[0].Publish("id: delayed\nroot:\n  - delay: 10ms\n")
	c[0].Start("delayed", "d", "")
	eventually(t, "the timer is a second overdue", func() bool {
		page, err := c[0].Inspector.Timers(t.Context(), "", 1)
		return err == nil && len(page.Items) == 1 && time.Since(page.Items[0].DueAt) > time.Second
	})
	if in, _ := c[0].Inspector.Instance(t.Context(), "d"); in.SubStatus != workflow.Suspended {
		t.Errorf("it fired: %+v", in)
	}
	if n := said.n.Load(); n != 1 { // not at each of the looks
		t.Errorf("the log says %d times that the clock is off", n)
	}
	skew.Store(0)
	c[0].Finished("d")
	if n := said.n.Load(); n != 2 {
		t.Errorf("the log has %d lines about the clock; one that it is off, one that it is right again", n)
	}
}

// about counts the lines of a log that are about something.
type about struct {
	slog.Handler
	what string
	n    atomic.Int64
}

func (a *about) Enabled(context.Context, slog.Level) bool { return true }

func (a *about) Handle(_ context.Context, r slog.Record) error {
	if strings.Contains(r.Message, a.what) {
		a.n.Add(1)
	}
	return nil
}

// TestTimersFireWhileEtcdIsSlow: heartbeats that take seconds to be written are no
// reason to fire nothing.
func TestTimersFireWhileEtcdIsSlow(t *testing.T) {
	t.Parallel()
	name := clustertest.Namespace(t)
	members := make([]*member, 3)
	for i := range members {
		members[i] = newMember(t, name, string(rune('a'+i)), func(c *membertest.Config) {
			c.Session = func(cfg *cluster.Config) {
				slow := clustertest.NewFaults(uint64(i))
				records := func(c clustertest.Call) bool { return c.PutsUnder(cluster.Root(name) + "nodes/") }
				slow.Add(clustertest.Rule{Fault: clustertest.DelayBefore, Delay: 2500 * time.Millisecond, Times: 1, Match: records}) // it joins
				slow.Add(clustertest.Rule{Fault: clustertest.DelayBefore, Delay: 2500 * time.Millisecond, Prob: 0.8, Match: records})
				slow.Add(clustertest.Rule{Fault: clustertest.DelayBefore, Delay: 4 * time.Second, Match: records})
				cfg.TTL, cfg.Client = 6*time.Second, slow.Wrap(clustertest.Shared(t).Client(t))
			}
		})
	}
	members[0].Publish("id: delayed\nroot:\n  - delay: 20s\n") // when all have compared their clocks
	members[0].Start("delayed", "d", "")
	eventually(t, "the timer fires", func() bool {
		in, err := members[1].Inspector.Instance(t.Context(), "d")
		return err == nil && in.Status == workflow.StatusFinished
	})
}
