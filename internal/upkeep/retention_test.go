package upkeep_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/upkeep"
	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/internal/upkeep/retention"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

const ending = `
id: ending
root:
  - writeLine: done
`

const parting = `
id: parting
variables:
  end: {type: object}
root:
  - event: go
  - executeWorkflow: {workflowDefinitionId: ending, waitForCompletion: true}
  - event: later
`

// count is how many finished instances are listed in the order of their ends.
func (m *member) ended() (n int) {
	m.T.Helper()
	for s := range etcdstore.FinishedShards {
		_, total, _, err := m.Store.Upkeep.Finished(m.T.Context(), s, "", time.Time{}, 1)
		if err != nil {
			m.T.Fatal(err)
		}
		n += int(total)
	}
	return n
}

func retain(r retention.Limits) func(*membertest.Config) {
	if r.Grace == 0 {
		r.Grace = time.Nanosecond
	}
	return func(c *membertest.Config) { c.Retention, c.AgeEvery = r, 50*time.Millisecond }
}

func TestFinishedInstancesAreKeptAsLongAsConfigured(t *testing.T) {
	t.Parallel()
	for name, keep := range map[string]retention.Limits{
		"by age":    {Finished: time.Nanosecond},
		"by number": {FinishedCount: 1}, // one a shard stays
		"by bytes":  {FinishedBytes: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ms := newCluster(t, 2, retain(keep))
			ms[0].Publish(ending)
			for i := range 60 {
				ms[i%2].Start("ending", fmt.Sprintf("i%d", i), "k")
			}
			most := 0
			if keep.FinishedCount > 0 {
				most = etcdstore.FinishedShards
			}
			eventually(t, "what is too old or too much is purged", func() bool { ms[0].Sound(); return ms[0].ended() <= most })
			if keep.FinishedCount > 0 && ms[0].ended() == 0 {
				t.Error("the newest are gone too")
			}
		})
	}
}

func TestFinishedInstancesStayForTheLifeOfTheirRecords(t *testing.T) {
	t.Parallel()
	age := &store.Age{Elapsed: 20 * time.Minute, Marks: []store.AgeMark{{Revision: 10, Elapsed: 9 * time.Minute}, {Revision: 20, Elapsed: 11 * time.Minute}}}
	keep := retention.Limits{Finished: time.Minute, FinishedCount: 1, FinishedBytes: 1, Grace: 10 * time.Minute}
	page := []etcdstore.Finished{{ID: "old", Created: 10}, {ID: "young", Created: 11}}
	if ids, _ := upkeep.Overdue(page, 1000, 1000, &keep, age); len(ids) != 1 || ids[0].ID != "old" {
		t.Errorf("purged %v: a copy of the start of the young one may still be under way", ids)
	}
}

// A clock that is behind puts what ends now before all others. That may not go yet,
// and keeps nothing else that is too much.
func TestAClockThatIsBehindKeepsNoOthers(t *testing.T) {
	t.Parallel()
	for name, keep := range map[string]retention.Limits{
		"by number": {FinishedCount: 1, Grace: 10 * time.Minute},
		"by bytes":  {FinishedBytes: 1, Grace: 10 * time.Minute},
		"by age":    {Finished: time.Minute, Grace: 10 * time.Minute},
		"both":      {FinishedCount: 1, FinishedBytes: 1, Finished: 7 * day, Grace: 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var off atomic.Int64
			m := newCluster(t, 1, retain(keep), func(c *membertest.Config) {
				c.Now = func() time.Time { return time.Now().Add(time.Duration(off.Load())) }
			})[0]
			m.Publish(ending)
			end := func(kind string, n int) {
				for i := range n {
					m.Start("ending", fmt.Sprint(kind, i), "")
				}
			}
			end("right", 40)
			off.Store(-int64(day))
			end("behind", 80)
			if err := m.Upkeep.PurgeFinishedOnce(t.Context()); err != nil || m.ended() != 120 {
				t.Fatalf("%d are left, %v: none may go yet", m.ended(), err)
			}
			// Those with the right end are old now, and 80 others are new again.
			grow(t, []*member{m}, 11*time.Minute)
			end("new", 80)
			eventually(t, "what is too much goes", func() bool {
				if err := m.Upkeep.PurgeFinishedOnce(t.Context()); err != nil {
					t.Fatal(err)
				}
				for i := range 40 {
					if _, err := m.Inspector.Instance(t.Context(), fmt.Sprint("right", i)); workflow.CodeOf(err) != workflow.CodeInstanceNotFound {
						return false
					}
				}
				return true
			})
			for i := range 80 {
				if _, err := m.Inspector.Instance(t.Context(), fmt.Sprint("new", i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// untilRest looks until the loop would rest, at most so many times, and tells how many that was.
func untilRest(t *testing.T, pass func(context.Context) (bool, error), most int) (passes int) {
	t.Helper()
	for more := true; more && passes < most; passes++ {
		var err error
		if more, err = pass(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return passes
}

// Most looks are at the ends of half a minute only. What ended hours later goes all the same as soon as it is old,
// and what is above a number without waiting for an age.
func TestLooksAtTheFirstEndsLeaveNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keep retention.Limits
		left int
	}{
		"by age":    {retention.Limits{Finished: time.Minute, Grace: 10 * time.Minute}, 0},
		"by number": {retention.Limits{FinishedCount: 20 * etcdstore.FinishedShards, Grace: 10 * time.Minute}, 20 * etcdstore.FinishedShards},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var off atomic.Int64
			m := newCluster(t, 1, retain(retention.Limits{}), func(c *membertest.Config) {
				c.Now = func() time.Time { return time.Now().Add(time.Duration(off.Load())) }
			})[0]
			m.Publish(ending)
			const hours, each = 4, 50 * etcdstore.FinishedShards // more than a slice in each shard, of each hour
			for h := range hours {
				off.Store(int64(time.Duration(h) * time.Hour))
				var wg sync.WaitGroup
				for w := range 32 {
					wg.Go(func() {
						for i := w; i < each; i += 32 {
							m.Start("ending", fmt.Sprint("h", h, "-", i), "")
						}
					})
				}
				wg.Wait()
			}
			pass := m.Upkeep.PurgePasses(c.keep)
			for range 3 {
				if more, err := pass(t.Context()); more || err != nil || m.ended() != hours*each {
					t.Fatalf("%d are left, %v, %v: none may go yet", m.ended(), more, err)
				}
			}
			grow(t, []*member{m}, 11*time.Minute)
			passes := untilRest(t, pass, 200)
			if m.ended() > c.left || c.left > 0 && m.ended() < c.left*3/4 {
				t.Errorf("after %d looks %d are left, wanted %d", passes, m.ended(), c.left)
			}
			m.Sound()
		})
	}
}

// A look goes on behind what the one before it deleted, so that etcd does not walk over that again. What a clock that
// is behind puts before that place goes after the next count.
func TestALookGoesOnBehindWhatWasDeleted(t *testing.T) {
	t.Parallel()
	var off atomic.Int64
	m := newCluster(t, 1, retain(retention.Limits{}), func(c *membertest.Config) {
		c.Now = func() time.Time { return time.Now().Add(time.Duration(off.Load())) }
	})[0]
	m.Publish(ending)
	const each = 100 * etcdstore.FinishedShards // some slices in each shard
	var wg sync.WaitGroup
	for w := range 32 {
		wg.Go(func() {
			for i := w; i < each; i += 32 {
				m.Start("ending", fmt.Sprint("right", i), "")
			}
		})
	}
	wg.Wait()
	keep := retention.Limits{FinishedCount: etcdstore.FinishedShards, Grace: time.Nanosecond}
	pass := m.Upkeep.PurgePasses(keep)
	began := time.Now()
	look := func() {
		t.Helper()
		if _, err := pass(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	look()
	first := m.ended()
	off.Store(-int64(day))
	m.Start("ending", "behind", "")
	look()
	if left := m.ended(); left > first-etcdstore.FinishedShards*10 {
		t.Errorf("%d are left of %d: the second look deleted little", left, first)
	}
	_, err := m.Inspector.Instance(t.Context(), "behind")
	if err != nil && time.Since(began) < 20*time.Second { // else it may have counted again
		t.Errorf("a look began before what was deleted: %v", err)
	}
	untilRest(t, pass, 100)
	pass = m.Upkeep.PurgePasses(keep) // knows nothing, and so counts
	untilRest(t, pass, 100)
	if _, err := m.Inspector.Instance(t.Context(), "behind"); workflow.CodeOf(err) != workflow.CodeInstanceNotFound {
		t.Errorf("what ended before the place of the looks stays: %v", err)
	}
	if left := m.ended(); left > etcdstore.FinishedShards || left == 0 {
		t.Errorf("%d are left, wanted one a shard", left)
	}
	m.Sound()
}

// An instance that may not go, at the beginning of its shard, keeps nothing else that is too much.
func TestOneThatMayNotGoKeepsNoOthers(t *testing.T) {
	t.Parallel()
	var off atomic.Int64
	m := newCluster(t, 1, retain(retention.Limits{}), func(c *membertest.Config) {
		c.Now = func() time.Time { return time.Now().Add(time.Duration(off.Load())) }
	})[0]
	m.Publish(ending)
	ids := map[int]string{} // the first of each shard
	for i := 0; len(ids) < etcdstore.FinishedShards; i++ {
		id := fmt.Sprint("first", i)
		m.Start("ending", id, "")
		for shard := range etcdstore.FinishedShards {
			if page, _, _, err := m.Store.Upkeep.Finished(t.Context(), shard, "", time.Time{}, 1); err != nil {
				t.Fatal(err)
			} else if len(page) > 0 && page[0].ID == id {
				ids[shard] = id
			}
		}
	}
	first := m.ended()
	for _, id := range ids {
		if _, err := clustertest.Shared(t).Client(t).Put(t.Context(), m.Root+"instance/"+id, "damaged"); err != nil {
			t.Fatal(err)
		}
	}
	off.Store(int64(time.Hour)) // behind the window that begins with the damaged ones
	const n = 45 * etcdstore.FinishedShards
	for i := range n {
		m.Start("ending", fmt.Sprint("other", i), "")
	}
	keep := retention.Limits{FinishedCount: 2 * etcdstore.FinishedShards, Grace: time.Nanosecond}
	pass := m.Upkeep.PurgePasses(keep)
	passes := untilRest(t, pass, 300)
	if left := m.ended(); left > int(keep.FinishedCount)+first {
		t.Errorf("%d of %d are left after %d looks, wanted about %d", left, first+n, passes, keep.FinishedCount)
	}
	for shard, id := range ids {
		if page, _, _, err := m.Store.Upkeep.Finished(t.Context(), shard, "", time.Time{}, 1); err != nil || len(page) != 1 || page[0].ID != id {
			t.Errorf("shard %d begins with %+v and not with %s, which is damaged: %v", shard, page, id, err)
		}
	}
}

// Sizes are read some at a time; when all were, the mean is that of all.
func TestTheMeanSizeIsThatOfAll(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1, retain(retention.Limits{}))[0]
	m.Publish(ending)
	for i := range 150 {
		m.Start("ending", fmt.Sprint(strings.Repeat("x", i/2), i), "")
	}
	for shard := range etcdstore.FinishedShards {
		page, _, _, err := m.Store.Upkeep.Finished(t.Context(), shard, "", time.Time{}, 1000)
		if err != nil {
			t.Fatal(err)
		}
		all, first := 0.0, 0.0
		for i, f := range page {
			if all += float64(f.Bytes); i < 3 {
				first = all / float64(i+1)
			}
		}
		means, err := m.Upkeep.Measure(t.Context(), shard, 2)
		if looks := 2 * max(1, (len(page)+2)/3); err != nil || len(means) != looks || math.Abs(means[0]-first) > 0.01 || math.Abs(means[looks/2-1]-all/float64(max(1, len(page)))) > 0.01 || math.Abs(means[looks-1]-means[looks/2-1]) > 0.01 {
			t.Errorf("shard %d of %d: %v (the first are %v, all %v): %v", shard, len(page), means, first, all/float64(max(1, len(page))), err)
		}
	}
}

// A parent that waits for a child's end gets it, however short the child is kept.
func TestAParentIsToldOfAnEndWhateverIsKept(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1, retain(retention.Limits{Finished: time.Nanosecond}))[0]
	m.Publish(ending, parting)
	for i := range 10 {
		m.Start("parting", fmt.Sprintf("p%d", i), "")
	}
	m.Event("go", "", nil)
	eventually(t, "every parent goes on", func() bool {
		page, err := m.Inspector.Instances(t.Context(), runtime.InstanceFilter{DefinitionID: "parting"}, runtime.Paging{})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, in := range page.Items {
			if len(in.Bookmarks) == 1 && in.Bookmarks[0].Name == "later" {
				n++
			}
		}
		return n == 10
	})
	eventually(t, "the children are purged", func() bool { m.Sound(); return m.ended() == 0 })
}

func TestDeadLettersArePurgedByAgeNumberAndBytes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keep retention.Limits
		left int
	}{
		"by age":    {retention.Limits{DeadLetters: time.Nanosecond}, 0},
		"by number": {retention.Limits{DeadLettersCount: 3}, 3},
		"by bytes":  {retention.Limits{DeadLettersBytes: 1}, 0},
		"not yet":   {retention.Limits{DeadLetters: time.Hour, DeadLettersCount: 10, DeadLettersBytes: 1 << 20}, 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newCluster(t, 1, retain(c.keep), func(c *membertest.Config) { c.QueueTTL = time.Millisecond })[0]
			for i := range 10 {
				m.Event(fmt.Sprintf("nobody%d", i), "", nil)
			}
			letters := func() []string {
				page, err := m.Inspector.DeadLetters(t.Context(), runtime.DeadLetterFilter{}, "", 100)
				if err != nil {
					t.Fatal(err)
				}
				var names []string
				for _, d := range page.Items {
					names = append(names, d.ID)
				}
				return names
			}
			eventually(t, "all are dead", func() bool { return len(letters()) == 10 })
			grow(t, []*member{m}, time.Minute)
			if err := m.Upkeep.PurgeDeadOnce(t.Context()); err != nil {
				t.Fatal(err)
			}
			if left := letters(); len(left) != c.left {
				t.Errorf("%d are left, want %d", len(left), c.left)
			}
		})
	}
}

func TestAnswersToKeysArePurgedByNumberAndBytes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keep retention.Limits
		left int
	}{
		"by number":                {retention.Limits{IdempotencyCount: 3}, 3},
		"by bytes":                 {retention.Limits{IdempotencyBytes: 1}, 0},
		"not yet":                  {retention.Limits{IdempotencyCount: 10, IdempotencyBytes: 1 << 20}, 10},
		"never in the first while": {retention.Limits{IdempotencyCount: 1, IdempotencyBytes: 1, Grace: time.Hour}, 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newCluster(t, 1, retain(c.keep))[0]
			for i := range 10 {
				m.Event(fmt.Sprintf("nobody%d", i), "", &runtime.Key{Value: fmt.Sprintf("k%d", i)})
			}
			grow(t, []*member{m}, time.Minute)
			if err := m.Upkeep.PurgeKeysOnce(t.Context()); err != nil {
				t.Fatal(err)
			}
			left, _, err := m.Store.Upkeep.KeyRecords(t.Context(), "", 100)
			if err != nil || len(left) != c.left {
				t.Errorf("%d are left, want %d; %v", len(left), c.left, err)
			}
			m.Sound()
		})
	}
}

// A retry of a faulted instance and its purge exclude each other: whatever comes
// first, the other sees it, and neither is an error or a breach.
func TestARetryAndAPurgeExcludeEachOther(t *testing.T) {
	t.Parallel()
	ms := newCluster(t, 2)
	ms[0].Publish("id: failing\nroot:\n  - fault: always\n")
	locks := func(id string) string { return ms[0].Session.LockPrefix(cluster.InstanceLock(id)) }
	for i := range 30 {
		id := fmt.Sprintf("f%d", i)
		ms[0].Start("failing", id, "")
		gone := make(chan int)
		go func() {
			for n := 1; ; n++ {
				purged, err := ms[0].Store.Upkeep.Purge(context.WithoutCancel(t.Context()), etcdstore.Late(id), locks, nil)
				if err != nil {
					t.Error(err)
				}
				if len(purged) > 0 || err != nil {
					gone <- n
					return
				}
			}
		}()
		for range 3 {
			_, err := ms[i%2].Commands.Retry(t.Context(), id)
			if c := workflow.CodeOf(err); err != nil && c != workflow.CodeInstanceNotFound && c != workflow.CodeBusy {
				t.Errorf("retry: %v", err)
			}
		}
		<-gone
	}
	ms[0].Sound()
}
