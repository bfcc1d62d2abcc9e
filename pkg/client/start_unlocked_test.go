package client_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

func TestBeginIsOneWriteAndTheInstanceIsFreeAfterwards(t *testing.T) {
	w := newWorld(t, define("d", seq(line("a"), waitFor("go"), line("b"))))
	a, b := w.member("a", cluster.ModeDistributed), w.member("b", cluster.ModeDistributed)
	before := a.faults.Calls("txn") + a.faults.Calls("get")
	r := must(a.open("i1").Begin(t.Context(), startOf("d", "c1")))(t)
	if n := a.faults.Calls("txn") + a.faults.Calls("get") - before; n > 2 { // one more may be a heartbeat
		t.Errorf("%d requests", n)
	}
	if r.Instance.SubStatus != workflow.Suspended || r.Effect.Outcome != workflow.OutcomeStarted {
		t.Fatalf("%+v", r)
	}
	if busy := must(b.locked("i1"))(t); busy {
		t.Error("it is still locked")
	}
	if r := must(b.open("i1").Do(t.Context(), resumeOf("r1", r.Instance, 0)))(t); r.Instance.SubStatus != workflow.Finished {
		t.Errorf("%+v", r)
	}
}

// What lasts longer than its caller waits is taken over when its node dies, so it
// must be under the lock while it lasts.
func TestALongBeginTakesTheLockBeforeItBecomesVisible(t *testing.T) {
	w := newWorld(t, define("d", seq(through(), line("a"))))
	a := w.member("a", cluster.ModeDistributed, func(c *client.Config) { c.LateAfter = 30 * time.Millisecond })
	b := w.member("b", cluster.ModeDistributed)
	r := must(a.open("i1").Begin(t.Context(), startOf("d", "c1")))(t)
	if !r.Accepted || r.Instance.SubStatus != workflow.Executing {
		t.Fatalf("%+v", r)
	}
	if busy := must(b.locked("i1"))(t); !busy {
		t.Error("it is visible, has work, and is not locked")
	}
	w.valve.pass <- struct{}{}
	eventually(t, "it finishes", func() bool {
		rec, err := b.store.Reader.Instance(t.Context(), "i1")
		return err == nil && rec != nil && rec.Header.Status == workflow.StatusFinished
	})
	eventually(t, "it is free", func() bool { busy, err := b.locked("i1"); return err == nil && !busy })
	if n := len(w.valve.entered); n != 1 || len(a.written()) != 1 {
		t.Errorf("ran %d times", n)
	}
}

// stepByStep is a definition whose bursts go on after commits.
func stepByStep() *workflow.Definition {
	def := define("d", seq(line("a"), line("b"), waitFor("go")))
	def.Options.CommitStrategy = "ActivityExecutedStrict"
	return def
}

// firstCommit matches the transactions that make an instance.
func (w *world) firstCommit(c clustertest.Call) bool {
	return c.PutsUnder(cluster.Root(w.name) + "journal/i1/000000000001")
}

// goneThrough waits until instance i1 waits, with both lines written once, and free.
func (w *world) goneThrough(t *testing.T, by ...*member) {
	t.Helper()
	eventually(t, "both lines and the wait", func() bool {
		l, err := by[0].store.Instances.Load(t.Context(), "i1", "", "")
		return err == nil && l.Record != nil && l.Record.Header.SubStatus == workflow.Suspended && len(l.Mail) == 0
	})
	eventually(t, "it is free", func() bool { busy, err := by[0].locked("i1"); return err == nil && !busy })
	var lines []string
	for _, m := range by {
		lines = append(lines, m.written()...)
	}
	if !slices.Equal(lines, []string{"a", "b"}) {
		t.Errorf("lines %q", lines)
	}
}

func TestABeginThatGoesOnAfterACommitTakesTheLockWithIt(t *testing.T) {
	w := newWorld(t, stepByStep())
	a := w.member("a", cluster.ModeDistributed)
	var alone atomic.Int64
	a.faults.Add(clustertest.Rule{Match: func(c clustertest.Call) bool {
		if c.PutsUnder(cluster.Root(w.name)+"lock/") && !c.PutsUnder(cluster.Root(w.name)+"instance/") {
			alone.Add(1)
		}
		return false
	}})
	r := must(a.open("i1").Begin(t.Context(), startOf("d", "c1")))(t)
	if n := a.count("lock_acquisitions_total", "acquired"); n != 1 || alone.Load() != 0 || r.Accepted {
		t.Errorf("%v locks, %d of them before the first commit, result %+v", n, alone.Load(), r)
	}
	w.goneThrough(t, a)
	if n := a.count("locks_held", ""); n != 0 {
		t.Errorf("%g locks are held", n)
	}
}

func TestABeginThatGoesOnWithoutAnAnswerIsSentAgain(t *testing.T) {
	for _, fault := range []clustertest.Fault{clustertest.LoseAnswer, clustertest.FailBefore, clustertest.ApplyTwice, clustertest.DeliverLate} {
		w := newWorld(t, stepByStep())
		a := w.member("a", cluster.ModeDistributed)
		armed := a.faults.Add(clustertest.Rule{Fault: fault, Times: 1, Match: w.firstCommit})
		r, err := a.open("i1").Begin(t.Context(), startOf("d", "c1"))
		if err != nil || r.Instance.SubStatus != workflow.Suspended || armed.Fired() != 1 {
			t.Errorf("fault %d: %+v, %v, %d times", fault, r, err, armed.Fired())
		}
		a.faults.Deliver()
		w.goneThrough(t, a)
	}
}

// Nobody else can know the id, but for a guess: who has its lock then goes on with the
// burst, whose start is durable.
func TestABeginThatGoesOnLeavesTheLockToWhoHasIt(t *testing.T) {
	w := newWorld(t, stepByStep())
	a, b := w.member("a", cluster.ModeDistributed), w.member("b", cluster.ModeDistributed)
	lock := must(b.session.Locks().TryAcquire(t.Context(), cluster.InstanceLock("i1")))(t)
	r := must(a.open("i1").Begin(t.Context(), startOf("d", "c1")))(t)
	if !r.Accepted || r.Effect.Outcome != workflow.OutcomeStarted {
		t.Errorf("%+v", r)
	}
	if n := a.count("locks_held", ""); n != 0 {
		t.Errorf("%g locks are held", n)
	}
	if err := lock.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := b.open("i1").Work(t.Context(), false, nil); err != nil {
		t.Error(err)
	}
	w.goneThrough(t, a, b)
}

func TestManyBookmarksAreBegunUnderTheLock(t *testing.T) {
	fork := &workflow.Activity{Type: "Elsa.Fork"}
	for i := range 12 {
		fork.Activities = append(fork.Activities, waitFor(fmt.Sprint("e", i)))
	}
	w := newWorld(t, define("d", fork))
	a := w.member("a", cluster.ModeDistributed)
	r := must(a.open("i1").Begin(t.Context(), startOf("d", "c1")))(t)
	if len(r.Instance.Bookmarks) != 12 || a.count("lock_acquisitions_total", "acquired") != 1 {
		t.Errorf("%d bookmarks, %v locks", len(r.Instance.Bookmarks), a.count("lock_acquisitions_total", "acquired"))
	}
}

func TestABeginWithoutAnAnswerIsSentAgain(t *testing.T) {
	for _, fault := range []clustertest.Fault{clustertest.LoseAnswer, clustertest.FailBefore, clustertest.ApplyTwice} {
		w := newWorld(t, define("d", seq(line("a"))))
		a := w.member("a", cluster.ModeDistributed)
		armed := a.faults.Add(clustertest.Rule{Fault: fault, Times: 1, Match: func(c clustertest.Call) bool { return c.PutsUnder(cluster.Root(w.name) + "instance/") }})
		r, err := a.open("i1").Begin(t.Context(), startOf("d", "c1"))
		if err != nil || r.Instance.SubStatus != workflow.Finished || armed.Fired() != 1 || len(a.written()) != 1 {
			t.Errorf("fault %d: %+v, %v, %d times", fault, r, err, armed.Fired())
		}
	}
}

func TestABeginWhoseSessionEndsIsNoInstance(t *testing.T) {
	w := newWorld(t, define("d", seq(through())))
	a := w.member("a", cluster.ModeDistributed)
	failed := make(chan error, 1)
	go func() {
		_, err := a.open("i1").Begin(context.WithoutCancel(t.Context()), startOf("d", "c1"))
		failed <- err
	}()
	<-w.valve.entered
	if _, err := w.etcd.Delete(t.Context(), cluster.Root(w.name)+"nodes/a"); err != nil { // as the end of the lease does
		t.Fatal(err)
	}
	w.valve.pass <- struct{}{}
	if err := <-failed; err == nil {
		t.Error("it was told that it started")
	}
	if rec := must(a.store.Reader.Instance(t.Context(), "i1"))(t); rec != nil {
		t.Errorf("there is %+v", rec)
	}
}

// The commit of a start without a lock was applied, its node has no answer yet, and
// another node deletes the instance: it is not begun a second time.
func TestABeginThatOthersDeleteIsNotRepeated(t *testing.T) {
	w := newWorld(t, define("d", seq(line("a"), waitFor("go"))))
	a, b := w.member("a", cluster.ModeDistributed, func(c *client.Config) { c.LateAfter = 200 * time.Millisecond }), w.member("b", cluster.ModeDistributed)
	var deleted atomic.Bool
	commits := func(c clustertest.Call) bool { return c.PutsUnder(cluster.Root(w.name) + "instance/") }
	a.faults.Add(clustertest.Rule{Fault: clustertest.LoseAnswer, Times: 1, Match: commits})
	a.faults.Add(clustertest.Rule{Fault: clustertest.FailBefore, Match: func(c clustertest.Call) bool { return commits(c) && !deleted.Load() }})
	told := make(chan error, 1)
	go func() {
		_, err := a.open("i1").Begin(context.WithoutCancel(t.Context()), startOf("d", "c1"))
		told <- err
	}()
	eventually(t, "it is there", func() bool {
		rec, err := b.store.Reader.Instance(t.Context(), "i1")
		return err == nil && rec != nil
	})
	must(b.open("i1").Do(t.Context(), workflow.Command{ID: "x", Kind: workflow.CommandDelete, CreatedAt: time.Now().UTC()}))(t)
	deleted.Store(true)
	if err := <-told; err == nil {
		t.Error("it was told that it started, though nothing proves it")
	}
	if rec := must(b.store.Reader.Instance(t.Context(), "i1"))(t); rec != nil || len(a.written()) != 1 {
		t.Errorf("there is %+v, and it ran %d times", rec, len(a.written()))
	}
}
