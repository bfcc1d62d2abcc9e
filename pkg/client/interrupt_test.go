package client_test

import (
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

// cancelMail puts a cancel into the mailbox, as a caller on any node does, and tells no node.
func (m *member) cancelMail(t *testing.T, id string) {
	t.Helper()
	cmd := workflow.Command{ID: "stop", Kind: workflow.CommandCancel, CreatedAt: time.Now().UTC()}
	if out, _, err := m.store.Stimuli.PutMail(t.Context(), id, cmd, nil); err != nil || out != etcdstore.PutDone {
		t.Fatal(out, err)
	}
}

// cancelled waits for the end, and gives what the cancel is recorded to have interrupted
// and the events of an activity.
func (m *member) cancelled(t *testing.T, id, activity string) (interrupted string, events []string) {
	t.Helper()
	eventually(t, "it ends", func() bool {
		return must(m.store.Reader.Instance(t.Context(), id))(t).Header.Status == workflow.StatusFinished
	})
	if rec := must(m.store.Reader.Instance(t.Context(), id))(t); rec.Header.SubStatus != workflow.Cancelled || len(rec.Header.Incidents) > 0 {
		t.Errorf("it is %s, %v", rec.Header.SubStatus, rec.Header.Incidents)
	}
	entries, err := commits(t, m.store.Reader, id)
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range itemsOf(entries) {
		if it.ActivityType == activity {
			events = append(events, it.Event)
		}
	}
	e := must(m.store.Stimuli.Effect(t.Context(), id, "stop"))(t)
	if e == nil || e.Outcome != workflow.OutcomeApplied {
		t.Fatalf("the cancel is recorded as %+v", e)
	}
	return e.Interrupted, events
}

// Nobody lets it through the valve: it ends as the context of its call does.
func TestACancelInterruptsACall(t *testing.T) {
	t.Parallel()
	for _, mode := range both {
		for name, tune := range map[string]func(*client.Config){"always": asItIs, "auto": auto} {
			for _, at := range []string{"start", "resume"} {
				t.Run(fmt.Sprint(mode, "/", name, "/", at), func(t *testing.T) {
					t.Parallel()
					w := newWorld(t, define("start", seq(line("in"), through(), line("never"))), define("resume", seq(waitFor("go"), line("in"), through(), line("never"))))
					m := w.member("a", mode, slow, tune)
					cmd := startOf(at, "c1")
					if at == "resume" {
						cmd = resumeOf("c2", must(m.open("i").Do(t.Context(), cmd))(t).Instance, 0)
					}
					accepted(t, m.open("i"), cmd, w.valve)
					m.cancelMail(t, "i")
					m.Interrupt("i")
					interrupted, events := m.cancelled(t, "i", "test.Valve")
					if want := []string{engine.EventStarted, engine.EventInterrupted, engine.EventCanceled}; !slices.Equal(events, want) || interrupted == "" {
						t.Errorf("the call of %q is told as %v, want %v", interrupted, events, want)
					}
					if l := m.written(); !slices.Equal(l, []string{"in"}) {
						t.Errorf("lines %q", l)
					}
				})
			}
		}
	}
}

// What has no effect outside computes, and ends by itself: it is not told.
func TestACancelWaitsForWhatHasNoEffect(t *testing.T) {
	t.Parallel()
	w := newWorld(t, define("d", seq(line("in"), within(), line("never"))))
	m := w.member("a", cluster.ModeDistributed, slow)
	accepted(t, m.open("i"), startOf("d", "c1"), w.inside)
	m.cancelMail(t, "i")
	m.Interrupt("i")
	w.inside.pass <- struct{}{} // it would choose between this and the end of its context
	interrupted, events := m.cancelled(t, "i", "test.Inside")
	if want := []string{engine.EventStarted, engine.EventCompleted}; !slices.Equal(events, want) || interrupted != "" {
		t.Errorf("it is told as %v, and %q was interrupted", events, interrupted)
	}
}

// An interrupt is a hint. Without a cancel the call is made again, and only once.
func TestAnInterruptWithoutACancelChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, define("d", seq(through(), line("on"))))
	m := w.member("a", cluster.ModeDistributed, slow)
	accepted(t, m.open("i"), startOf("d", "c1"), w.valve)
	m.Interrupt("i")
	<-w.valve.entered
	m.Interrupt("i") // the sweep behind the watch says it again
	m.Interrupt("i")
	w.valve.pass <- struct{}{}
	eventually(t, "it goes on to its end", func() bool {
		return must(m.store.Reader.Instance(t.Context(), "i"))(t).Header.SubStatus == workflow.Finished
	})
	if l, left := m.written(), len(w.valve.entered); !slices.Equal(l, []string{"on"}) || left != 0 {
		t.Errorf("lines %q, and %d more calls", l, left)
	}
}

// The node dies with the call, between the commit that puts the call back and the cancel:
// another one finds both, and cancels.
func TestANodeDiesBetweenAnInterruptAndItsCancel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, define("d", seq(line("in"), through(), line("never"))))
	a, b := w.member("a", cluster.ModeDistributed, slow), w.member("b", cluster.ModeDistributed, slow)
	accepted(t, a.open("i"), startOf("d", "c1"), w.valve)
	a.cancelMail(t, "i")
	var commits atomic.Int64
	put := a.faults.Add(clustertest.Rule{Fault: clustertest.FailBefore, Match: func(c clustertest.Call) bool {
		return c.PutsUnder(cluster.Root(w.name)+"journal/") && commits.Add(1) > 1
	}})
	a.Interrupt("i")
	eventually(t, "it came to the cancel", func() bool { return put.Fired() > 0 })
	a.die()
	eventually(t, "its lock is free", func() bool { held, err := b.locked("i"); return err == nil && !held })
	if err := b.open("i").Work(t.Context(), true, nil); err != nil {
		t.Fatal(err)
	}
	_, events := b.cancelled(t, "i", "test.Valve")
	if want := []string{engine.EventStarted, engine.EventInterrupted, engine.EventCanceled}; !slices.Equal(events, want) {
		t.Errorf("the call is told as %v, want %v", events, want)
	}
	if n := len(w.valve.entered); n != 0 {
		t.Errorf("%d more calls", n)
	}
}
