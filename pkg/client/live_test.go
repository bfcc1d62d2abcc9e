package client_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// counter is an activity that goes on after a commit, several times, and counts in its
// memory how often. It knows how often that was decoded.
type counter struct{ decoded atomic.Int64 }

const counts = 4

// tally is the memory of a counter.
type tally struct {
	N int `json:"n"`
	c *counter
}

func (c *counter) Execute(_ context.Context, x *engine.Execution) error {
	engine.Scratch[tally](x).c = c
	x.Yield("on", true)
	return nil
}

func (c *counter) Resume(_ context.Context, x *engine.Execution, _ engine.Resume) error {
	t := engine.Scratch[tally](x)
	if t.c == nil { // only what was decoded has forgotten it
		c.decoded.Add(1)
		t.c = c
	}
	if t.N++; t.N < counts {
		x.Yield("on", true)
		return nil
	}
	x.WriteLine(fmt.Sprint("counted ", t.N))
	return nil
}

func count() *workflow.Activity { return &workflow.Activity{Type: "test.Counter"} }

func TestABurstThatGoesOnAfterACommitIsNotLoaded(t *testing.T) {
	t.Parallel()
	for _, mode := range both {
		w := newWorld(t, define("d", seq(count())))
		a := w.member("a", mode, slow)
		r := must(a.open("i").Do(t.Context(), startOf("d", "c1")))(t)
		if r.Instance.SubStatus != workflow.Finished || !slices.Equal(a.written(), []string{"counted 4"}) {
			t.Errorf("%s: %+v, lines %q", mode, r.Instance, a.written())
		}
		if rec := must(a.store.Reader.Instance(t.Context(), "i"))(t); rec.Seq != counts+1 || w.counter.decoded.Load() != 0 {
			t.Errorf("%s: %d commits, decoded %d times", mode, rec.Seq, w.counter.decoded.Load())
		}
	}
}

// A commit whose answer was lost stands, and the burst with it.
func TestABurstGoesOnAfterACommitWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	for _, fault := range []clustertest.Fault{clustertest.LoseAnswer, clustertest.FailBefore, clustertest.ApplyTwice, clustertest.DeliverLate} {
		w := newWorld(t, define("d", seq(count())))
		a := w.member("a", cluster.ModeDistributed, slow)
		commits := 0
		armed := a.faults.Add(clustertest.Rule{Fault: fault, Match: func(c clustertest.Call) bool {
			if !c.PutsUnder(cluster.Root(w.name) + "journal/") {
				return false
			}
			commits++
			return commits%2 == 0
		}})
		r := must(a.open("i").Do(t.Context(), startOf("d", "c1")))(t)
		armed.Disarm()
		a.faults.Deliver()
		if rec := must(a.store.Reader.Instance(t.Context(), "i"))(t); r.Instance.SubStatus != workflow.Finished || rec.Seq != counts+1 || armed.Fired() == 0 || !slices.Equal(a.written(), []string{"counted 4"}) {
			t.Errorf("fault %d: %+v, %d commits, lines %q", fault, r.Instance, rec.Seq, a.written())
		}
	}
}

// What a refused commit would have written is not gone on with: the instance is loaded
// as it is.
func TestABurstWhoseCommitIsRefusedIsLoadedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, define("d", seq(count())))
	a := w.member("a", cluster.ModeLocal) // whose revision is all that guards a commit
	moved := false
	a.faults.Add(clustertest.Rule{Fault: clustertest.DelayBefore, Match: func(c clustertest.Call) bool {
		if seq := cluster.Root(w.name) + "journal/i/"; !moved && c.PutsUnder(seq) && slices.ContainsFunc(c.Puts, func(k string) bool { return k[len(k)-1] == '3' }) {
			moved = true
			key := cluster.Root(w.name) + "instance/i"
			is := must(w.etcd.Get(t.Context(), key))(t)
			must(w.etcd.Put(t.Context(), key, string(is.Kvs[0].Value)))(t)
		}
		return false
	}})
	r := must(a.open("i").Do(t.Context(), startOf("d", "c1")))(t)
	rec := must(a.store.Reader.Instance(t.Context(), "i"))(t)
	if !moved || r.Instance.SubStatus != workflow.Finished || rec.Seq != counts+1 || !slices.Equal(a.written(), []string{"counted 4"}) {
		t.Errorf("moved %t: %+v, %d commits, lines %q", moved, r.Instance, rec.Seq, a.written())
	}
	if n := w.counter.decoded.Load(); n != 1 {
		t.Errorf("decoded %d times, want once", n)
	}
}

// An instance that comes back to the node that committed it last is neither read nor
// decoded; one that another node has moved is.
func TestAnIdleInstanceIsReadAgainOnlyIfItMoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, define("d", seq(waitFor("one"), waitFor("two"), waitFor("three"), line("end"))))
	a, b := w.member("a", cluster.ModeDistributed), w.member("b", cluster.ModeDistributed)
	in := must(a.open("i").Do(t.Context(), startOf("d", "c0")))(t).Instance
	for n, by := range []struct {
		m    *member
		from string
	}{{a, "idle"}, {b, "read"}, {a, "moved"}} {
		for _, m := range []*member{a, b} { // whose owner of before answers first and leaves then
			eventually(t, "nobody works it", func() bool { return !m.Holds("i") })
		}
		was := by.m.count("instance_loads_total", by.from)
		r := must(by.m.open("i").Do(t.Context(), resumeOf(fmt.Sprint("r", n), in, 0)))(t)
		if r.Effect.Outcome != workflow.OutcomeResumed {
			t.Fatalf("resume %d: %+v", n, r)
		}
		if is := by.m.count("instance_loads_total", by.from); is != was+1 {
			t.Errorf("resume %d: %g instances were %s, want one more than %g", n, is, by.from, was)
		}
		in = r.Instance
	}
	if in.SubStatus != workflow.Finished || len(a.written()) != 1 || len(b.written()) != 0 {
		t.Errorf("%+v, lines %q and %q", in, a.written(), b.written())
	}
	if n := a.count("idle_bytes", ""); n != 0 {
		t.Errorf("%g bytes of what has ended", n)
	}
}

// What the client says of an instance, and the engine does not know, is not lost.
func TestAnIncidentOfTheClientStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t, define("d", seq(waitFor("one"), waitFor("two"), line("end"))))
	var away absences
	a := w.member("a", cluster.ModeDistributed, func(c *client.Config) { c.Processes = &away })
	in := must(a.open("i").Do(t.Context(), startOf("d", "c0")))(t).Instance
	poison := resumeOf("poison", in, 0)
	poison.Attempts, poison.Begun = 3, begunBy("1", "2", "3")
	for _, b := range poison.Begun {
		away.set(b.Process, time.Hour)
	}
	if out, _, err := a.store.Stimuli.PutMail(t.Context(), "i", poison, nil); err != nil || out != etcdstore.PutDone {
		t.Fatal(out, err)
	}
	if _, _, err := a.store.Stimuli.PutMail(t.Context(), "i", resumeOf("behind", in, 0), nil); err != nil {
		t.Fatal(err)
	}
	if err := a.open("i").Work(t.Context(), true, nil); err != nil {
		t.Fatal(err)
	}
	in = must(a.store.Reader.Instance(t.Context(), "i"))(t).Header
	in = must(a.open("i").Do(t.Context(), resumeOf("last", in, 0)))(t).Instance
	if len(in.Incidents) != 1 || in.SubStatus != workflow.Finished {
		t.Errorf("incidents %+v of %+v", in.Incidents, in)
	}
}
