package client_test

import (
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/workflow"
)

// Whose turn has not come when the node loses the instance is told to repeat, and not
// that something went wrong inside the node.
func TestWhoWaitsInLineForALostInstanceIsToldToRepeat(t *testing.T) {
	t.Parallel()
	w := newWorld(t, define("d", seq(waitFor("go"), through())))
	m := w.member("m", cluster.ModeDistributed, func(c *client.Config) { c.LateAfter = time.Minute })
	in := must(m.open("i").Do(t.Context(), startOf("d", "s")))(t).Instance
	var done []<-chan error
	for _, id := range []string{"first", "second"} {
		out := make(chan error, 1)
		go func() {
			_, err := m.open("i").Do(t.Context(), resumeOf(id, in, 0))
			out <- err
		}()
		if done = append(done, out); id == "first" {
			<-w.valve.entered
		} else {
			eventually(t, "it waits in line", func() bool { return m.InHand("i") == 1 })
		}
	}
	m.die()
	for i, out := range done {
		if err := <-out; workflow.CodeOf(err) != workflow.CodeUnavailable {
			t.Errorf("%d: got %v", i, err)
		}
	}
}
