package client_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/workflow"
)

// An owner that is long about making the burst has its callers told that the outcome is
// unknown. What they asked for is done all the same, once the burst runs: it may run for
// hours, and would be lost with its node.
func TestACommandIsMadeDurableAfterItsCallerGaveUp(t *testing.T) {
	t.Parallel()
	for _, mode := range both {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, define("d", seq(through(), line("once"))))
			looking, found := make(chan struct{}, 10), make(chan struct{})
			m := w.member("a", mode, func(c *client.Config) {
				c.LateAfter = time.Minute
				c.Definitions = looked{c.Definitions, func() {
					looking <- struct{}{}
					<-found
				}}
			})
			caller, goAway := context.WithCancel(t.Context())
			go func() {
				<-looking // the owner has taken the command
				goAway()
			}()
			res, err := m.open("i").Do(caller, startOf("d", "start"))
			if code := workflow.CodeOf(err); !res.Accepted && code != workflow.CodeUnknownOutcome {
				t.Errorf("got %+v, %v", res, err)
			}
			close(found)
			<-w.valve.entered
			eventually(t, "its command is made durable", func() bool { return m.count("late_durability_total", "") == 1 })
			w.valve.pass <- struct{}{}
			eventually(t, "the instance ends, and its mail is gone", func() bool {
				rec := must(m.store.Reader.Instance(t.Context(), "i"))(t)
				l := must(m.store.Instances.Load(t.Context(), "i", "", ""))(t)
				return rec != nil && rec.Header.SubStatus == workflow.Finished && len(l.Mail) == 0
			})
			if l := m.written(); len(l) != 1 {
				t.Errorf("lines %q", l)
			}
		})
	}
}

// Callers of one burst that give up together, before it runs, are told of all of their
// commands once it does.
func TestAllThatIsAskedForIsMadeDurable(t *testing.T) {
	t.Parallel()
	const callers = 5
	w := newWorld(t, forks(through()))
	taken, found := make(chan struct{}), make(chan struct{})
	m := w.member("a", cluster.ModeDistributed, slow, func(c *client.Config) {
		var bursts atomic.Int64
		c.Definitions = looked{c.Definitions, func() {
			if bursts.Add(1) == 3 { // after that of the start, and the one that all of them wait behind
				close(taken)
				<-found
			}
		}}
	})
	ctx, giveUp := context.WithCancel(t.Context())
	defer giveUp()
	got := m.together(ctx, "i", func(in workflow.Instance) (cmds []workflow.Command) {
		for n := range callers {
			cmds = append(cmds, resumeOf(fmt.Sprint("c", n), in, 1))
		}
		return cmds
	})
	<-taken
	giveUp()
	eventually(t, "all of them ask", func() bool { return m.Asked("i") == callers })
	close(found)
	<-w.valve.entered
	for _, g := range got {
		if a := <-g; a.err != nil || !a.Accepted {
			t.Errorf("got %+v, %v", a.Result, a.err)
		}
	}
	if n := m.count("late_durability_total", ""); n != callers {
		t.Errorf("%v commands were made durable, want %d", n, callers)
	}
	w.valve.pass <- struct{}{}
}
