package client_test

import (
	"slices"
	"testing"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

func beside(n int) *workflow.Activity {
	a := &workflow.Activity{Type: "Elsa.Parallel"}
	for range n {
		a.Activities = append(a.Activities, &workflow.Activity{Type: "test.Asking"})
	}
	return a
}

// Calls are in flight together on a lone node and on a member of a cluster: none passes before all are there.
func TestCallsAreInFlightTogether(t *testing.T) {
	t.Parallel()
	for _, mode := range both {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, define("d", seq(beside(3), line("on"))))
			m := w.member("a", mode)
			got := inBackground(t.Context(), m.open("i"), startOf("d", "c1"))
			for range 3 {
				<-w.valve.entered
			}
			for range 3 {
				w.valve.pass <- struct{}{}
			}
			if r := <-got; r.err != nil || r.Instance.SubStatus != workflow.Finished {
				t.Fatalf("%+v %v", r.Result, r.err)
			}
			if l := m.written(); !slices.Equal(l, []string{"on"}) {
				t.Errorf("lines %q", l)
			}
		})
	}
}

// A hint ends none of them, so the owner looks who is there, and ends all.
func TestACancelCutsAllCallsInFlight(t *testing.T) {
	t.Parallel()
	for _, mode := range both {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, define("d", seq(beside(3), line("never"))))
			m := w.member("a", mode, slow)
			accepted(t, m.open("i"), startOf("d", "c1"), w.valve)
			<-w.valve.entered
			<-w.valve.entered
			m.cancelMail(t, "i")
			m.Interrupt("i")
			_, events := m.cancelled(t, "i", "test.Asking")
			count := map[string]int{}
			for _, e := range events {
				count[e]++
			}
			if count[engine.EventStarted] != 3 || count[engine.EventInterrupted] != 3 || count[engine.EventCanceled] != 3 || len(events) != 9 {
				t.Errorf("the journal has %v", events)
			}
		})
	}
}
