package runtime_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/weft-run/weft/internal/find"
	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/runtime/job"
	"github.com/weft-run/weft/pkg/workflow"
)

// brittle faults after its first event, unless its variable was mended; then it waits again.
func brittle(id, strategy string) string {
	return fmt.Sprintf(`id: %s
options:
  activation: %s
variables:
  broken: {type: text, default: x}
root:
  - event: go
    id: wait
  - writeLine: "${{ int(variables.broken) }}"
    id: boom
  - event: end
`, id, strategy)
}

func mend() *workflow.Alter {
	return &workflow.Alter{Alterations: []workflow.Alteration{
		{Type: workflow.AlterSetVariable, Variable: "broken", Value: "7"}, {Type: workflow.AlterRetry}}}
}

// Each way back is refused while another runs, names it, changes nothing, and is open once that has ended.
func TestWhoComesBackTakesItsGateOrIsRefused(t *testing.T) {
	t.Parallel()
	type way struct {
		back  func(t *testing.T, m *member, id string, running runtime.StateExport) error
		fails bool // it faults again at once
	}
	ways := map[string]way{
		"retry": {fails: true, back: func(t *testing.T, m *member, id string, _ runtime.StateExport) error {
			_, err := m.Commands.Retry(t.Context(), id)
			return err
		}},
		"repair": {back: func(t *testing.T, m *member, id string, _ runtime.StateExport) error {
			_, err := m.Commands.Alter(t.Context(), id, mend(), nil)
			return err
		}},
		"keyed repair": {back: func(t *testing.T, m *member, id string, _ runtime.StateExport) error {
			_, err := m.Commands.Alter(t.Context(), id, mend(), &runtime.Key{Scope: "alter", Value: fmt.Sprint(rand.Int64()), BodyHash: "h"})
			return err
		}},
		"skip": {back: func(t *testing.T, m *member, id string, _ runtime.StateExport) error {
			_, err := m.Commands.Alter(t.Context(), id, &workflow.Alter{Alterations: []workflow.Alteration{{Type: workflow.AlterSkip, Activity: "boom"}}}, nil)
			return err
		}},
		"import": {back: func(t *testing.T, m *member, id string, running runtime.StateExport) error {
			_, err := m.Commands.Import(t.Context(), id, running, 0)
			return err
		}},
		"job": {back: func(t *testing.T, m *member, id string, _ runtime.StateExport) error {
			in, err := m.Inspector.Instance(t.Context(), id)
			if err != nil {
				return err
			}
			job, err := m.Jobs.CreateJob(t.Context(), job.Request{Kind: workflow.CommandAlter, Alter: mend(),
				Filter: find.Filter{DefinitionID: in.DefinitionID, SubStatus: workflow.Faulted}})
			if err != nil {
				return err
			}
			for more := true; more; {
				if more, err = m.Jobs.WorkJob(t.Context(), job.ID); err != nil {
					return err
				}
			}
			done, err := m.Jobs.ReadJob(t.Context(), job.ID)
			if err == nil && len(done.Refusals) > 0 {
				return workflow.Fail(workflow.Code(done.Refusals[0].Code), done.Refusals[0].Detail)
			}
			return err
		}},
	}
	c := newCluster(t, 2)
	for _, strategy := range []string{"Singleton", "CorrelatedSingleton", "Correlation"} {
		for name, w := range ways {
			def := strings.ToLower(strategy + "-" + strings.ReplaceAll(name, " ", "-"))
			c[0].Publish(brittle(def, strategy))
			t.Run(strategy+"/"+name, func(t *testing.T) {
				back, other, corr := def+"-back", def+"-other", def
				if _, err := c[0].Starts.Execute(t.Context(), runtime.StartRequest{DefinitionID: def, InstanceID: back, CorrelationID: corr}); err != nil {
					t.Fatal(err)
				}
				running, err := c[0].Inspector.Export(t.Context(), back)
				if err != nil {
					t.Fatal(err)
				}
				c[0].fault(t, back)
				if _, err := c[0].Starts.Execute(t.Context(), runtime.StartRequest{DefinitionID: def, InstanceID: other, CorrelationID: corr}); err != nil {
					t.Fatal(err)
				}
				if p, err := c[1].Commands.PreviewAlter(t.Context(), back, mend()); err != nil || p.Code != workflow.CodeInstanceGated || !strings.Contains(p.Problems[0].Detail, other) {
					t.Errorf("the preview is %+v, %v", p, err)
				}
				err = w.back(t, c[1], back, running)
				if workflow.CodeOf(err) != workflow.CodeInstanceGated || !strings.Contains(err.Error(), other) {
					t.Errorf("beside %s: %v", other, err)
				}
				if in, err := c[0].Inspector.Instance(t.Context(), back); err != nil || in.SubStatus != workflow.Faulted {
					t.Errorf("it is %s, %v", in.SubStatus, err)
				}
				if _, err := c[0].Commands.Cancel(t.Context(), other, nil); err != nil {
					t.Fatal(err)
				}
				if err := w.back(t, c[1], back, running); err != nil {
					t.Fatal("when nobody runs:", err)
				}
				if w.fails {
					return
				}
				polltest.Eventually(t, "it runs", func() bool {
					in, err := c[0].Inspector.Instance(t.Context(), back)
					return err == nil && in.SubStatus == workflow.Suspended
				})
				if _, err := c[1].Starts.Execute(t.Context(), runtime.StartRequest{DefinitionID: def, InstanceID: def + "-beside", CorrelationID: corr}); workflow.CodeOf(err) != workflow.CodeInstanceGated {
					t.Errorf("a start beside it: %v", err)
				}
				c[0].Sound()
			})
		}
	}
}

// fault sends an instance the event after which it faults.
func (m *member) fault(t *testing.T, id string) {
	t.Helper()
	st := workflow.EventStimulus("go", "")
	st.InstanceID = id
	if _, err := m.Events.Send(t.Context(), st, nil); err != nil {
		t.Fatal(err)
	}
	eventually(t, id+" faults", func() bool {
		in, err := m.Inspector.Instance(t.Context(), id)
		return err == nil && in.SubStatus == workflow.Faulted
	})
}

// Whatever is done in whatever order on two nodes: of those behind one gate one runs at most.
func TestOneRunsBehindAGateWhateverIsDone(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	for _, strategy := range []string{"Singleton", "CorrelatedSingleton", "Correlation", "Always"} {
		for seed := range testsize.Of[uint64](4, 1) {
			def := strings.ToLower(fmt.Sprint(strategy, "-", seed))
			defs := []string{def + "a", def + "b"}
			c[0].Publish(brittle(defs[0], strategy), brittle(defs[1], strategy))
			t.Run(def, func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 31))
				var ids []string
				var saved []runtime.StateExport
				backs := 0
				for step := range 60 {
					var both sync.WaitGroup
					for n := range 1 + r.IntN(2) { // side by side, on both nodes
						m, id, corr := c[n], "", def+[]string{"-x", "-y"}[r.IntN(2)]
						if len(ids) > 0 {
							id = ids[r.IntN(len(ids))]
						}
						st := workflow.EventStimulus([]string{"go", "end"}[r.IntN(2)], "")
						st.InstanceID = id
						var err error
						do := func() {}
						switch k := r.IntN(10); {
						case k < 3 || id == "":
							id = fmt.Sprint(def, "-", step, "-", n)
							ids = append(ids, id)
							req := runtime.StartRequest{DefinitionID: defs[r.IntN(2)], InstanceID: id, CorrelationID: corr}
							do = func() { _, err = m.Starts.Execute(t.Context(), req) }
						case k < 5:
							do = func() { _, err = m.Events.Send(t.Context(), st, nil) }
						case k == 5:
							do = func() { _, err = m.Commands.Retry(t.Context(), id) }
						case k == 6:
							do = func() { _, err = m.Commands.Alter(t.Context(), id, mend(), nil) }
						case k == 7 && len(saved) > 0:
							in := saved[r.IntN(len(saved))]
							do = func() { _, err = m.Commands.Import(t.Context(), in.Instance.ID, in, 0) }
						case k == 8:
							do = func() { _, err = m.Commands.Cancel(t.Context(), id, nil) }
						default:
							do = func() { _, err = m.Commands.Delete(t.Context(), id) }
						}
						both.Go(func() {
							do()
							if code := workflow.CodeOf(err); err != nil && (code == "" || code == workflow.CodeInternal || code == workflow.CodeUnavailable) {
								t.Errorf("step %d: %v", step, err)
							}
						})
					}
					both.Wait()
					running := map[string][]string{}
					for _, d := range defs {
						for _, in := range c[0].InstancesOf(d) {
							if in.Status != workflow.StatusRunning {
								continue
							}
							gate := map[string]string{"Singleton": d, "CorrelatedSingleton": d + in.CorrelationID, "Correlation": in.CorrelationID, "Always": in.ID}[strategy]
							running[gate] = append(running[gate], in.ID)
							if out, err := c[0].Inspector.Export(t.Context(), in.ID); err == nil && !slices.ContainsFunc(saved, func(s runtime.StateExport) bool { return s.Instance.ID == in.ID }) {
								saved = append(saved, out)
								backs++
							}
						}
					}
					for gate, who := range running {
						if len(who) > 1 {
							t.Fatalf("step %d: %v run behind the gate %s", step, who, gate)
						}
					}
				}
				if backs == 0 {
					t.Error("nothing was ever running")
				}
			})
		}
	}
	c[0].Sound()
}
