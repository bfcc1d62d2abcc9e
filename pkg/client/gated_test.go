package client_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/workflow"
)

// Nothing of an instance runs that is refused since another has its gate, and the refusal is a
// commit, after which no copy of the one that was refused is applied.
func TestARefusalForAGateIsWritten(t *testing.T) {
	t.Parallel()
	for _, mode := range both {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, define("d", seq(&workflow.Activity{Type: "test.Broken"}, through())))
			gate := &store.Gate{Definition: "d"}
			m := w.member("a", mode, func(c *client.Config) {
				c.Definitions = gated{c.Definitions, gate}
			})
			begin := func(id string) {
				cmd := startOf("d", "start")
				n := &etcdstore.NewInstance{Header: etcdstore.NewHeader(id, cmd, cmd.CreatedAt), Command: cmd, Gate: gate}
				if out, err := m.store.Stimuli.Create(t.Context(), n, nil); err != nil || out != etcdstore.Created {
					t.Fatal(out, err)
				}
			}
			begin("i")
			if err := m.open("i").Work(t.Context(), false, nil); err != nil {
				t.Fatal(err)
			}
			begin("other")
			calls, before := w.broken.calls.Load(), must(m.store.Reader.Instance(t.Context(), "i"))(t)
			r := must(m.open("i").Do(t.Context(), workflow.Command{ID: "retry", Kind: workflow.CommandRetry, CreatedAt: time.Now().UTC()}))(t)
			if r.Effect.Code != string(workflow.CodeInstanceGated) || !strings.Contains(r.Effect.Detail, "other") {
				t.Errorf("the retry got %+v", r.Effect)
			}
			if n := w.broken.calls.Load() - calls; n != 0 {
				t.Errorf("%d calls", n)
			}
			after := must(m.store.Reader.Instance(t.Context(), "i"))(t)
			if after.Seq != before.Seq+1 || after.Header.SubStatus != workflow.Faulted {
				t.Errorf("commit %d after %d, and it is %s", after.Seq, before.Seq, after.Header.SubStatus)
			}
		})
	}
}

// gated are definitions whose starts all have one gate.
type gated struct {
	client.Definitions

	gate *store.Gate
}

func (g gated) Gate(context.Context, *workflow.Start) (*store.Gate, error) { return g.gate, nil }
