package upkeep_test

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/internal/upkeep/retention"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

const day = 24 * time.Hour

// wrong is how far clocks are off in these tests.
var wrong = []time.Duration{0, 25 * time.Hour, 11 * time.Minute, 31 * day, -25 * time.Hour, 3650 * day, -3650 * day}

const paying = `
id: pay
root:
  - while: ${{ true }}
    body:
      - event: pay
      - writeLine: paid
`

func kept() retention.Limits {
	return retention.Limits{Finished: 7 * day, DeadLetters: 30 * day, Grace: 10 * time.Minute}
}

// Six nodes, each with another clock: none of them deletes what another one wrote,
// whoever does it, and a repeat with the same key has no second effect. When the
// time is over all goes, also what is of years ahead.
func TestWrongClocksForgetNothingAndKeepNothingForEver(t *testing.T) {
	t.Parallel()
	next := 0
	c := newCluster(t, 6, retain(kept()), func(cfg *membertest.Config) {
		off := wrong[next+1]
		next++
		cfg.Now = func() time.Time { return time.Now().Add(off) }
		cfg.QueueTTL = time.Hour
	})
	c[0].Publish(paying, ending)
	key := func(i int) *runtime.Key { return &runtime.Key{Scope: "s", Value: fmt.Sprint("k", i)} }
	for i, m := range c {
		m.Start("pay", fmt.Sprint("i", i), fmt.Sprint("i", i))
		m.Start("ending", fmt.Sprint("f", i), "")
		m.Event("pay", fmt.Sprint("i", i), key(i))
	}
	from := c[0].Age.Seen().Elapsed
	eventually(t, "every worker has looked several times", func() bool { return c[0].Age.Seen().Elapsed > from+12*time.Second })
	for i := range c {
		again := c[(i+1)%len(c)]
		again.Event("pay", fmt.Sprint("i", i), key(i))
		if l := again.Lines(fmt.Sprint("i", i)); !slices.Equal(l, []string{"paid"}) {
			t.Errorf("what node %d acknowledged, %v off, was done again: %v", i, wrong[i+1], l)
		}
		if _, err := again.Inspector.Instance(t.Context(), fmt.Sprint("f", i)); err != nil {
			t.Errorf("what ended at node %d, %v off: %v", i, wrong[i+1], err)
		}
	}
	grow(t, c, 26*time.Hour)
	eventually(t, "the keys go", func() bool {
		left, _, err := c[0].Store.Upkeep.KeyRecords(t.Context(), "", 10)
		return err == nil && len(left) == 0
	})
	if n := c[0].ended(); n != len(c) {
		t.Errorf("%d finished instances are left", n)
	}
	grow(t, c, 8*day)
	eventually(t, "the finished instances go", func() bool { return c[0].ended() == 0 })
	c[0].Sound()
}

// One node, whose clock jumps: whatever it says when something is written, and
// whatever when it is looked at, each kind goes by its age only.
func TestEachKindGoesByItsAge(t *testing.T) {
	t.Parallel()
	var off atomic.Int64
	m := newCluster(t, 1, retain(kept()), func(cfg *membertest.Config) {
		cfg.Now = func() time.Time { return time.Now().Add(time.Duration(off.Load())) }
		cfg.QueueTTL = time.Millisecond
	})[0]
	m.Publish(ending)
	letters := func() int {
		page, err := m.Inspector.DeadLetters(t.Context(), runtime.DeadLetterFilter{}, "", 100)
		if err != nil {
			t.Fatal(err)
		}
		return len(page.Items)
	}
	for i, d := range wrong {
		off.Store(int64(d))
		m.Start("ending", fmt.Sprint("f", i), "")
		m.Event(fmt.Sprint("nobody", i), "", &runtime.Key{Value: fmt.Sprint("k", i)})
		eventually(t, "the event is dead", func() bool { return letters() == i+1 })
	}
	check := func(when string, keys, ended, dead int) {
		t.Helper()
		for _, d := range wrong {
			off.Store(int64(d))
			for _, once := range []func() error{
				func() error { return m.Upkeep.PurgeDeadOnce(t.Context()) },
				func() error { return m.Upkeep.PurgeKeysOnce(t.Context()) },
				func() error { return m.Upkeep.PurgeFinishedOnce(t.Context()) },
				func() error { _, _, err := m.Store.Upkeep.ExpireRecords(t.Context(), m.Age.Seen(), ""); return err },
			} {
				if err := once(); err != nil {
					t.Fatal(err)
				}
			}
			left, _, err := m.Store.Upkeep.KeyRecords(t.Context(), "", 100)
			if err != nil || len(left) != keys || m.ended() != ended || letters() != dead {
				t.Fatalf("%s, the clock %v off: %d keys, %d instances, %d dead letters; want %d, %d, %d; %v", when, d, len(left), m.ended(), letters(), keys, ended, dead, err)
			}
		}
	}
	n := len(wrong)
	check("at once", 2*n, n, n) // a record is listed for each time it was written: as the event was queued, and as it died
	grow(t, []*member{m}, 23*time.Hour)
	check("after 23 hours", 2*n, n, n)
	grow(t, []*member{m}, 4*time.Hour)
	check("after 27 hours", 0, n, n)
	grow(t, []*member{m}, 5*day)
	check("after 6 days", 0, n, n)
	grow(t, []*member{m}, 2*day)
	check("after 8 days", 0, 0, n)
	grow(t, []*member{m}, 20*day)
	check("after 28 days", 0, 0, n)
	grow(t, []*member{m}, 6*day)
	check("after 34 days", 0, 0, 0)
	m.Sound()
	m.Start("ending", "again", "")
	if in, err := m.Inspector.Instance(t.Context(), "again"); err != nil || in.Status != workflow.StatusFinished {
		t.Error(in.Status, err)
	}
}

// When etcd takes no new age, what there is grows older on each node, also on those
// that only follow: they look after a part of what is to be deleted.
func TestWithoutANewAgeAllGrowsOlder(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, retain(kept()))
	c[0].Publish(ending)
	c[0].Start("ending", "f", "")
	grow(t, c, time.Minute)
	var fails []*clustertest.Armed
	for _, m := range c {
		fails = append(fails, m.Faults.Add(clustertest.Rule{Fault: clustertest.FailBefore, Match: func(c clustertest.Call) bool { return c.PutsUnder(m.Root + "meta/age") }}))
	}
	eventually(t, "it stands still, and all know", func() bool {
		return slices.ContainsFunc(fails, func(a *clustertest.Armed) bool { return a.Fired() > 0 }) &&
			!slices.ContainsFunc(c, func(m *member) bool { return m.Age.Seen().Elapsed != c[0].Age.Seen().Elapsed })
	})
	last := c[0].Age.Seen().Elapsed
	for i, m := range c {
		m.Elapsed.Add(int64(time.Hour))
		tried := fails[i].Fired()
		looks := m.Faults.Add(clustertest.Rule{Fault: clustertest.DelayBefore, Delay: time.Nanosecond, Match: func(c clustertest.Call) bool { return c.Touches(m.Root + "meta/age") }})
		eventually(t, "it looked again", func() bool { return looks.Fired() > 3 || fails[i].Fired() > tried+3 })
		if is := m.Age.Now().Elapsed; is < last+time.Hour {
			t.Errorf("node %s: the age is %v, an hour after it was %v", m.Session.NodeID(), is, last)
		}
	}
}
