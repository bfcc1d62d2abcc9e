package client_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/workflow"
)

// A command that does not fit a commit is set aside by who finds that, however often
// it was begun before: it does not rest to be run again and again.
func TestWhatDoesNotFitIsNotRunAgain(t *testing.T) {
	t.Parallel()
	const k = 1000
	for _, mode := range both {
		for attempts := range 5 {
			t.Run(fmt.Sprint(mode, "/", attempts), func(t *testing.T) {
				if attempts > 0 {
					testsize.NotRaced(t, "megabytes")
				}
				t.Parallel()
				w := newWorld(t, define("d", seq(waitFor("go"), line("ran"), &workflow.Activity{Type: "Elsa.PublishEvent", Inputs: map[string]workflow.Expression{
					"eventName": workflow.Lit("out"), "payload": workflow.Lit(bulk(1500*k, 1))}})))
				m := w.member("m", mode, func(c *client.Config) { c.Rest = 20 * time.Millisecond })
				start := startOf("d", "s")
				start.Start.Input = map[string]any{"doc": bulk(700*k, 2)}
				cmd := resumeOf("timer-c", must(m.open("i").Do(t.Context(), start))(t).Instance, 0)
				cmd.Timer, cmd.Attempts = true, attempts
				m.put(t, "i", cmd)
				eventually(t, "it faults", func() bool {
					if err := m.open("i").Work(t.Context(), true, nil); err != nil {
						t.Fatal(err)
					}
					in := must(m.store.Reader.Instance(t.Context(), "i"))(t).Header
					if in.SubStatus == workflow.Finished {
						t.Fatal("all of it fits")
					}
					return in.SubStatus == workflow.Faulted
				})
				if !slices.Equal(m.written(), []string{"ran"}) {
					t.Errorf("it was run %d times", len(m.written()))
				}
			})
		}
	}
}
