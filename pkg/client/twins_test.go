package client_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/workflow"
)

// Found by test/chaos: the second caller waited for ever.
func TestACallThatGivesUpDoesNotStrandItsTwin(t *testing.T) {
	t.Parallel()
	w := newWorld(t, define("d", &workflow.Activity{Type: "Elsa.Parallel", Activities: []*workflow.Activity{waitFor("e"), through()}}))
	m := w.member("a", cluster.ModeDistributed, func(c *client.Config) { c.LateAfter = time.Minute })
	go func() { _, _ = m.open("i").Do(context.WithoutCancel(t.Context()), startOf("d", "start")) }()
	<-w.valve.entered
	cmd := workflow.Command{ID: "twin", Kind: workflow.CommandResume, CreatedAt: time.Now().UTC(), Bookmark: "i~none"}
	impatient, cancel := context.WithCancel(t.Context())
	results := make(chan error, 2)
	for _, ctx := range []context.Context{impatient, t.Context()} {
		go func() {
			_, err := m.open("i").Do(ctx, cmd)
			results <- err
		}()
	}
	time.AfterFunc(50*time.Millisecond, cancel)
	for range 2 {
		select {
		case err := <-results:
			if !errors.Is(err, client.ErrBusy) {
				t.Errorf("got %v", err)
			}
		case <-time.After(time.Minute):
			t.Fatal("a caller waits for ever")
		}
	}
	w.valve.pass <- struct{}{}
}

// Found by test/chaos: between the commit and the answers the command was made
// durable once more, and took effect again.
func TestACommittedCommandIsNotMadeDurable(t *testing.T) {
	t.Parallel()
	publish := &workflow.Activity{Type: "Elsa.PublishEvent", Inputs: map[string]workflow.Expression{"eventName": workflow.Lit("other")}}
	w := newWorld(t, define("d", seq(waitFor("e"), publish, line("once"), waitFor("e"), line("twice"))))
	hinted, goOn := make(chan struct{}, 10), make(chan struct{})
	m := w.member("a", cluster.ModeDistributed, func(c *client.Config) {
		c.LateAfter = time.Minute
		c.Wakeups = told{hint: func([]string) {
			hinted <- struct{}{}
			<-goOn
		}}
	})
	r := must(m.open("i").Do(t.Context(), startOf("d", "start")))(t)
	results := make(chan client.Result, 1)
	go func() {
		res, err := m.open("i").Do(t.Context(), resumeOf("c", r.Instance, 0))
		if err != nil {
			t.Error(err)
		}
		results <- res
	}()
	<-hinted // it is committed
	m.Drain()
	select {
	case res := <-results:
		if res.Accepted || res.Effect.Outcome != workflow.OutcomeResumed {
			t.Errorf("got %+v", res)
		}
	case <-time.After(time.Minute):
		t.Error("no answer to what is committed")
	}
	close(goOn)
	if l := m.written(); len(l) != 1 {
		t.Errorf("lines %q", l)
	}
}
