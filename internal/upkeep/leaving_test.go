package upkeep_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/find"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/upkeep"
	"github.com/weft-run/weft/internal/upkeep/membertest"
	"github.com/weft-run/weft/internal/upkeep/retention"
	"github.com/weft-run/weft/pkg/archive"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/runtime/front"
	"github.com/weft-run/weft/pkg/workflow"
)

const faulting = "id: faulting\nroot:\n  - fault: it goes wrong\n"

// seconds is retention that lets go within seconds what is in the archive.
var seconds = retention.Limits{Live: 5 * time.Second, Finished: day, Grace: 10 * time.Minute}

func archived(t *testing.T) func(*membertest.Config) {
	return func(c *membertest.Config) { c.Archive = archiveIn(t, filepath.Join(t.TempDir(), "archive.db")) }
}

// What ended is in the archive only, seconds later; what faulted stays for who may retry it, also more than a look takes.
func TestWhatEndedLeavesWithinSeconds(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1, retain(retention.Limits{}), archived(t))[0]
	m.Publish(ending, faulting)
	const each = 3 * etcdstore.FinishedShards
	start := func(definition, name string, n int) {
		for i := range n {
			m.Start(definition, fmt.Sprint(name, i), "")
		}
	}
	start("faulting", "bad", each)
	start("ending", "good", each)
	grow(t, []*member{m}, 6*time.Second)
	start("ending", "young", 5)
	pass := m.Upkeep.PurgePasses(seconds)
	untilRest(t, pass, 100)
	if left := m.ended(); left != each+5 {
		t.Errorf("%d are left of %d that faulted and 5 that are young", left, each)
	}
	if in, err := m.Inspector.Instance(t.Context(), "good7"); err != nil || !in.Archived {
		t.Errorf("%+v, %v", in, err)
	}
	if _, err := m.Commands.Retry(t.Context(), "bad7"); err != nil {
		t.Errorf("what faulted can be retried: %v", err)
	}
	m.Sound()
	grow(t, []*member{m}, 2*day)
	untilRest(t, pass, 100)
	if left := m.ended(); left != 0 {
		t.Errorf("%d are left after their time", left)
	}
	m.Sound()
}

// Without an archive nothing leaves within the life of records.
func TestOnlyAnArchiveLetsLeaveEarly(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1, retain(retention.Limits{}))[0]
	m.Publish(ending)
	m.Start("ending", "good", "")
	grow(t, []*member{m}, time.Minute)
	untilRest(t, m.Upkeep.PurgePasses(seconds), 10)
	if m.ended() != 1 {
		t.Error("it went, and no archive has it")
	}
}

// What stays for longer keeps nothing behind it.
func TestWhatStaysIsInNobodysWay(t *testing.T) {
	t.Parallel()
	age := &store.Age{Elapsed: time.Hour, Marks: []store.AgeMark{{Revision: 10, Elapsed: 0}, {Revision: 20, Elapsed: 59 * time.Minute}, {Revision: 30, Elapsed: time.Hour}}}
	page := []etcdstore.Finished{
		{ID: "stays", Created: 5, Stays: true}, {ID: "old", Created: 5}, {ID: "early", Created: 15}, {ID: "stays too", Created: 15, Stays: true},
		{ID: "young", Created: 25}, {ID: "early behind a clock", Created: 15},
	}
	leaving, looked := upkeep.Overdue(page, 6, 1, &seconds, age)
	if fmt.Sprint(leaving) != "[{old false true <nil>} {early true true <nil>}]" || looked != 4 {
		t.Errorf("%v leave of the first %d", leaving, looked)
	}
	seconds := seconds
	seconds.Finished = 30 * time.Minute
	if leaving, looked = upkeep.Overdue(page, 6, 1, &seconds, age); fmt.Sprint(leaving) != "[{stays false false <nil>} {old false false <nil>} {early true true <nil>}]" || looked != 4 {
		t.Errorf("%v leave of the first %d", leaving, looked)
	}
}

// An id that a caller chose is taken as long as the archive has it, whether the instance is durable before its first burst or not.
func TestAnIDInTheArchiveIsTaken(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1, retain(retention.Limits{}), archived(t))[0]
	m.Publish(ending)
	m.Start("ending", "order-1", "")
	grow(t, []*member{m}, 6*time.Second)
	untilRest(t, m.Upkeep.PurgePasses(seconds), 20)
	if m.ended() != 0 {
		t.Fatal("it stays")
	}
	again := front.StartRequest{DefinitionID: "ending", InstanceID: "order-1"}
	for name, err := range map[string]error{
		"execute": second(m.Starts.Execute(t.Context(), again)), "dispatch": second(m.Starts.Dispatch(t.Context(), again)),
	} {
		if workflow.CodeOf(err) != workflow.CodeInstanceExists {
			t.Errorf("%s: %v", name, err)
		}
	}
	if lines := len(m.Lines("order-1")); lines != 1 {
		t.Errorf("it ran %d times", lines)
	}
	if _, err := m.Commands.Delete(t.Context(), "order-1"); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Starts.Execute(t.Context(), again); err != nil {
		t.Errorf("when it is deleted the id is free: %v", err)
	}
}

// A start that has looked for its id is overtaken by another one of that id, which runs, ends and leaves before the first one
// goes on.
func TestAStartThatStoodStillIsNoSecondOne(t *testing.T) {
	t.Parallel()
	start := front.StartRequest{DefinitionID: "ending", InstanceID: "order-1"}
	for how, do := range map[string]func(*member) error{
		"execute":  func(m *member) error { return second(m.Starts.Execute(t.Context(), start)) },
		"dispatch": func(m *member) error { return second(m.Starts.Dispatch(t.Context(), start)) },
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			a := archiveIn(t, filepath.Join(t.TempDir(), "archive.db"))
			ms := newCluster(t, 2, retain(retention.Limits{}), func(c *membertest.Config) { c.Archive = a })
			ms[0].Publish(ending)
			var overtaken atomic.Bool
			ms[1].Faults.Add(clustertest.Rule{Fault: clustertest.FailBefore, Match: func(c clustertest.Call) bool {
				its := func(key string) bool { return strings.Contains(key, "order-1") }
				if !c.Mutating || !slices.ContainsFunc(c.Keys, its) || overtaken.Swap(true) {
					return false
				}
				ms[0].Start("ending", "order-1", "")
				ms[0].leaves(t, a, "order-1")
				return false
			}})
			if err := do(ms[1]); workflow.CodeOf(err) != workflow.CodeInstanceExists || !overtaken.Load() {
				t.Errorf("%v, and overtaken is %v", err, overtaken.Load())
			}
			ms[0].Sound()
		})
	}
}

// leaves has an instance leave for the archive.
func (m *member) leaves(t *testing.T, to *archive.Archive, id string) {
	t.Helper()
	locks := func(id string) string { return m.Session.LockPrefix(cluster.InstanceLock(id)) }
	left, err := m.Store.Upkeep.Purge(t.Context(), []etcdstore.Leaving{{ID: id, Early: true}}, locks, func(ctx context.Context, some []etcdstore.Ended) error {
		e := some[0]
		return to.Put(ctx, []archive.Item{{Instance: e.Record.Header, Sequence: e.Record.Seq, Life: e.Life, State: e.Record.State, Journal: e.Journal}})
	})
	if err != nil || len(left) != 1 {
		t.Errorf("%v left, %v", left, err)
	}
}

// Who started whom is told whichever of them left, and so is what is found by label.
func TestTheFamilyOfWhatLeftIsKnown(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1, retain(retention.Limits{}), archived(t))[0]
	m.Publish(ending, "id: middle\nlabels: {kind: middle}\nroot:\n  - executeWorkflow: {workflowDefinitionId: ending, waitForCompletion: true}\n  - executeWorkflow: {workflowDefinitionId: ending, waitForCompletion: true}\n",
		"id: top\nroot:\n  - executeWorkflow: {workflowDefinitionId: middle, waitForCompletion: true}\n  - event: go\n")
	m.Start("top", "top", "")
	family := func() (ids []string, gone int) {
		l, err := m.Inspector.Lineage(t.Context(), "top", 5, 50)
		if err != nil || !l.Whole {
			t.Fatalf("%+v, %v", l, err)
		}
		for _, r := range l.Of {
			ids = append(ids, fmt.Sprint(r.Depth, r.Instance.ID, "<", r.Parent, " ", r.Children))
			if r.Instance.Archived {
				gone++
			}
		}
		slices.Sort(ids)
		return ids, gone
	}
	eventually(t, "its children have ended", func() bool { return m.ended() == 3 })
	want, _ := family()
	if len(want) != 4 {
		t.Fatal(want)
	}
	grow(t, []*member{m}, 6*time.Second)
	pass := m.Upkeep.PurgePasses(seconds)
	untilRest(t, pass, 20)
	if got, gone := family(); !slices.Equal(got, want) || gone != 3 {
		t.Errorf("with %d in the archive:\n%v, want\n%v", gone, got, want)
	}
	m.Event("go", "", nil)
	grow(t, []*member{m}, 6*time.Second)
	untilRest(t, pass, 20)
	if got, gone := family(); !slices.Equal(got, want) || gone != 4 {
		t.Errorf("with %d in the archive:\n%v, want\n%v", gone, got, want)
	}
	if got := m.all(find.Filter{Labels: map[string]string{"kind": "middle"}}, 5); len(got) != 1 {
		t.Errorf("by label: %v", got)
	}
}

// Thousands that stay in front of a shard are read once, and not with each look.
func TestWhatStaysIsReadOnce(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1, retain(retention.Limits{}), archived(t))[0]
	m.Publish(faulting, ending)
	m.Start("faulting", "bad", "")
	etcd := clustertest.Shared(t).Client(t)
	is, err := etcd.Get(t.Context(), m.Root+"finished/", clientv3.WithPrefix())
	if err != nil || len(is.Kvs) != 1 {
		t.Fatalf("%d places, %v", len(is.Kvs), err)
	}
	for n := range 80 {
		var some []clientv3.Op
		for i := range 100 {
			some = append(some, clientv3.OpPut(fmt.Sprintf("%s-%02d-%02d", is.Kvs[0].Key, n, i), string(is.Kvs[0].Value)))
		}
		if _, err := etcd.Txn(t.Context()).Then(some...).Commit(); err != nil {
			t.Fatal(err)
		}
	}
	grow(t, []*member{m}, 3*time.Minute)
	var looks atomic.Int64
	m.Faults.Add(clustertest.Rule{Fault: clustertest.FailBefore, Match: func(c clustertest.Call) bool {
		if c.Op == "get" && c.Touches(m.Root+"finished/") {
			looks.Add(1)
		}
		return false
	}})
	pass := m.Upkeep.PurgePasses(seconds)
	untilRest(t, pass, 5)
	if looks.Load() < 8 {
		t.Errorf("%d looks at 8,000", looks.Load())
	}
	for range 3 {
		looks.Store(0)
		untilRest(t, pass, 5)
		if looks.Load() > 5 {
			t.Errorf("%d looks at what was looked at", looks.Load())
		}
	}
	for i := range 40 {
		m.Start("ending", fmt.Sprint("good", i), "")
	}
	grow(t, []*member{m}, time.Minute)
	untilRest(t, pass, 50)
	if left := m.ended(); left != 8001 {
		t.Errorf("%d are left", left)
	}
}

// While a node lives that would not look in the archive for an id, nothing leaves early.
func TestNothingLeavesBesideANodeOfBefore(t *testing.T) {
	t.Parallel()
	a := archiveIn(t, filepath.Join(t.TempDir(), "archive.db"))
	name := clustertest.Namespace(t)
	m := newMember(t, name, "a", retain(retention.Limits{}), func(c *membertest.Config) { c.Archive = a })
	old := newMember(t, name, "b", retain(retention.Limits{}), func(c *membertest.Config) {
		c.Archive, c.Session = a, func(s *cluster.Config) { s.Reads = etcdstore.FormLeft - 1 }
	})
	both := []*member{m, old}
	eventually(t, "they know each other", func() bool { return !m.Session.AllRead(etcdstore.FormLeft) })
	m.Publish(ending)
	m.Start("ending", "one", "")
	grow(t, both, time.Minute)
	for _, m := range both {
		untilRest(t, m.Upkeep.PurgePasses(seconds), 10)
	}
	if m.ended() != 1 {
		t.Error("it left")
	}
}

// What leaves late for the archive leaves a record, too: a start of its id may have looked there before.
func TestWhatLeavesLateIsRecorded(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1, retain(retention.Limits{}), archived(t))[0]
	m.Publish(ending)
	m.Start("ending", "order-1", "")
	grow(t, []*member{m}, time.Minute)
	untilRest(t, m.Upkeep.PurgePasses(retention.Limits{Finished: time.Second, Grace: time.Second}), 20)
	is, err := clustertest.Shared(t).Client(t).Get(t.Context(), m.Root+"idem/c/order-1/~deleted")
	if err != nil || len(is.Kvs) != 1 || m.ended() != 0 {
		t.Errorf("%d records, %d left, %v", len(is.Kvs), m.ended(), err)
	}
}
