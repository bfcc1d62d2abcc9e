package client_test

import (
	"slices"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/workflow"
)

// TestParity runs one table over a lone node and over a member of a cluster: the
// shell never changes what the core does.
func TestParity(t *testing.T) {
	t.Parallel()
	defs := []*workflow.Definition{
		define("lines", seq(line("one"), line("two"))),
		define("waits", seq(line("before"), waitFor("go"), line("after"))),
		define("faults", seq(line("before"), &workflow.Activity{Type: "Elsa.SetVariable", Inputs: map[string]workflow.Expression{
			"variable": {Kind: workflow.Literal, Value: "x"}, "value": workflow.Tmpl("${{ 1 % int(variables.zero ?? 0) }}")}}, line("never"))),
	}
	defs[2].Variables = []workflow.Variable{{Name: "x"}}
	cases := []struct {
		name  string
		run   func(t *testing.T, m *member)
		lines []string
	}{
		{"start to finish", func(t *testing.T, m *member) {
			r := must(m.open("i").Do(t.Context(), startOf("lines", "c1")))(t)
			if r.Effect.Outcome != workflow.OutcomeStarted || r.Instance.SubStatus != workflow.Finished {
				t.Errorf("got %+v", r)
			}
		}, []string{"one", "two"}},
		{"wait and resume", func(t *testing.T, m *member) {
			r := must(m.open("i").Do(t.Context(), startOf("waits", "c1")))(t)
			if r.Instance.SubStatus != workflow.Suspended || len(r.Instance.Bookmarks) != 1 {
				t.Fatalf("got %+v", r.Instance)
			}
			r = must(m.open("i").Do(t.Context(), resumeOf("c2", r.Instance, 0)))(t)
			if r.Effect.Outcome != workflow.OutcomeResumed || r.Instance.SubStatus != workflow.Finished {
				t.Errorf("got %+v", r)
			}
		}, []string{"before", "after"}},
		{"a bookmark is burned once", func(t *testing.T, m *member) {
			r := must(m.open("i").Do(t.Context(), startOf("waits", "c1")))(t)
			must(m.open("i").Do(t.Context(), resumeOf("c2", r.Instance, 0)))(t)
			again := must(m.open("i").Do(t.Context(), resumeOf("c3", r.Instance, 0)))(t)
			if again.Effect.Outcome == workflow.OutcomeResumed {
				t.Errorf("resumed twice: %+v", again)
			}
		}, []string{"before", "after"}},
		{"a second start of the same id is refused", func(t *testing.T, m *member) {
			must(m.open("i").Do(t.Context(), startOf("lines", "c1")))(t)
			r := must(m.open("i").Do(t.Context(), startOf("lines", "c2")))(t)
			if r.Effect.Outcome != workflow.OutcomeRefused || r.Effect.Code != string(workflow.CodeInstanceExists) {
				t.Errorf("got %+v", r.Effect)
			}
		}, []string{"one", "two"}},
		{"a fault is an incident", func(t *testing.T, m *member) {
			r := must(m.open("i").Do(t.Context(), startOf("faults", "c1")))(t)
			if r.Instance.SubStatus != workflow.Faulted || len(r.Instance.Incidents) != 1 {
				t.Errorf("got %+v", r.Instance)
			}
		}, []string{"before"}},
		{"cancel", func(t *testing.T, m *member) {
			must(m.open("i").Do(t.Context(), startOf("waits", "c1")))(t)
			r := must(m.open("i").Do(t.Context(), workflow.Command{ID: "c2", Kind: workflow.CommandCancel, CreatedAt: time.Now()}))(t)
			if r.Instance.SubStatus != workflow.Cancelled || len(r.Instance.Bookmarks) != 0 {
				t.Errorf("got %+v", r.Instance)
			}
		}, []string{"before"}},
		{"delete leaves nothing", func(t *testing.T, m *member) {
			must(m.open("i").Do(t.Context(), startOf("waits", "c1")))(t)
			must(m.open("i").Do(t.Context(), workflow.Command{ID: "c2", Kind: workflow.CommandDelete, CreatedAt: time.Now()}))(t)
			if rec := must(m.store.Reader.Instance(t.Context(), "i"))(t); rec != nil {
				t.Errorf("still there: %+v", rec)
			}
			if _, err := m.open("i").Do(t.Context(), workflow.Command{ID: "c3", Kind: workflow.CommandCancel, CreatedAt: time.Now()}); workflow.CodeOf(err) != workflow.CodeInstanceNotFound {
				t.Errorf("cancel after delete: %v", err)
			}
		}, []string{"before"}},
	}
	for _, mode := range []string{cluster.ModeLocal, cluster.ModeDistributed} {
		for _, c := range cases {
			t.Run(mode+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				m := newWorld(t, defs...).member("n1", mode)
				c.run(t, m)
				if got := m.written(); c.lines != nil && !slices.Equal(got, c.lines) {
					t.Errorf("lines %q, want %q", got, c.lines)
				}
			})
		}
	}
}
