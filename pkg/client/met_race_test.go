package client_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// Events race with a cancel while the instance waits, and while a loop of it runs: each event whose sender was told
// that it resumed the instance has its line in the journal, and no other has.
func TestWhoWasToldResumedIsInTheJournal(t *testing.T) {
	t.Parallel()
	endless := &workflow.Activity{Type: "Elsa.While", Inputs: map[string]workflow.Expression{"condition": workflow.Lit(true)}, Ports: map[string]*workflow.Activity{"body": {Type: "Elsa.SetName", Inputs: map[string]workflow.Expression{"value": workflow.Lit("n")}}}}
	events := func() []*workflow.Activity {
		return []*workflow.Activity{seq(waitFor("one"), line("a")), seq(waitFor("two"), line("b")), seq(waitFor("three"), waitFor("more"))}
	}
	race := &workflow.Activity{Type: "Elsa.Parallel", Activities: events()}
	busy := &workflow.Activity{Type: "Elsa.Parallel", Activities: append(events(), seq(within(), endless))}
	for name, root := range map[string]*workflow.Activity{"waits": race, "loops": busy} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, define("d", root))
			for range 100 { // nothing waits
				w.inside.pass <- struct{}{}
			}
			m := w.member("a", cluster.ModeDistributed, func(c *client.Config) {
				env := c.Env
				c.Env = func() engine.Env {
					e := env()
					e.Limits.Activities = 200
					return e
				}
			})
			told, cancelled := 0, 0
			for round := range 40 {
				id := fmt.Sprint("i", round)
				in := m.waitsThrice(t, id, name == "loops")
				met, ended := m.races(t, in, round)
				told += met
				cancelled += ended
			}
			if told == 0 || cancelled == 0 {
				t.Errorf("%d events met their instance, %d cancels", told, cancelled)
			}
		})
	}
}

// waitsThrice starts an instance, which waits at three places; one that loops is not waited for.
func (m *member) waitsThrice(t *testing.T, id string, loops bool) workflow.Instance {
	t.Helper()
	if !loops {
		return must(m.open(id).Do(t.Context(), startOf("d", id)))(t).Instance
	}
	accepted(t, m.open(id), startOf("d", id), m.w.inside)
	var in workflow.Instance
	eventually(t, "it loops behind a commit", func() bool {
		if rec := must(m.store.Reader.Instance(t.Context(), id))(t); rec != nil {
			in = rec.Header
		}
		return len(in.Bookmarks) == 3
	})
	return in
}

// races sends all events of an instance and a cancel at once, and compares the answers with the journal.
func (m *member) races(t *testing.T, in workflow.Instance, round int) (met, cancelled int) {
	t.Helper()
	got := make([]client.Result, len(in.Bookmarks))
	var sends sync.WaitGroup
	begin := make(chan struct{})
	for i := range in.Bookmarks {
		cmd := resumeOf(fmt.Sprint(in.ID, "e", i), in, i)
		sends.Go(func() {
			<-begin
			got[i] = patiently(t, m, in.ID, cmd)
		})
	}
	sends.Go(func() {
		<-begin
		for range round % 4 {
			_, _ = m.store.Reader.Instance(t.Context(), in.ID) // it comes a little later each time
		}
		m.Interrupt(in.ID)
		if r := patiently(t, m, in.ID, workflow.Command{ID: in.ID + "c", Kind: workflow.CommandCancel, CreatedAt: time.Now().UTC()}); r.Effect.Outcome == workflow.OutcomeApplied {
			cancelled++
		}
	})
	close(begin)
	sends.Wait()
	resumed := map[string]int{}
	for _, it := range itemsOf(must(commits(t, m.store.Reader, in.ID))(t)) {
		if it.Event == engine.EventResumed {
			resumed[it.Text]++
		}
	}
	for i, r := range got {
		lines := 0
		if r.Effect.Outcome == workflow.OutcomeResumed {
			lines = 1
			met++
		}
		if r.Accepted && resumed[in.Bookmarks[i].Name] <= 1 {
			continue // its sender was told that it is durable, and no more: a busy machine takes its time
		}
		if name := in.Bookmarks[i].Name; resumed[name] != lines {
			t.Errorf("%s: the event %s was answered %+v, and the journal has %d lines of it", in.ID, name, r, resumed[name])
		}
	}
	return met, cancelled
}

// patiently repeats a command while another node is at the instance.
func patiently(t *testing.T, m *member, id string, cmd workflow.Command) (r client.Result) {
	eventually(t, cmd.ID+" is answered", func() bool {
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
		defer stop()
		var err error
		if r, err = m.open(id).Do(ctx, cmd); err != nil && !errors.Is(err, client.ErrBusy) && workflow.CodeOf(err) != workflow.CodeUnavailable {
			t.Error(cmd.ID, err)
			return true
		}
		return err == nil
	})
	return r
}
