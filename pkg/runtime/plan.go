package runtime

import (
	"fmt"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
)

// plan is a start that was checked.
type plan struct {
	id      string
	cmd     workflow.Command
	gate    *store.Gate
	answer  *store.Answer // the key was used before
	trigger *store.TriggerRef
	send    *store.Send // the record of the stimulus that starts it
	chosen  bool        // the caller chose the id
	unseen  bool        // the id was made here, and nobody can know it

	elsewhere bool // the program of this node cannot run it, and that of another can
}

// instance is what the plan makes durable.
func (p *plan) instance() *etcdstore.NewInstance {
	return &etcdstore.NewInstance{Header: etcdstore.NewHeader(p.id, p.cmd, p.cmd.CreatedAt), Command: p.cmd, Gate: p.gate, Trigger: p.trigger, Send: p.send}
}

func describeGate(g *store.Gate) string {
	switch {
	case g.Definition == "":
		return fmt.Sprintf("of any definition with correlation %q", g.Correlation)
	case g.Correlation == "":
		return "singleton"
	}
	return fmt.Sprintf("with correlation %q", g.Correlation)
}

func triggerPlan(id string, t store.TriggerRef, st *workflow.Stimulus, at time.Time) *plan {
	cmd := workflow.Command{ID: store.TriggeredStart(id, t.DefinitionID, t.ActivityID), Kind: workflow.CommandStart, CreatedAt: at, Start: &workflow.Start{
		DefinitionID: t.DefinitionID, Version: t.Version, CorrelationID: st.CorrelationID, Trigger: t.ActivityID, TriggerInput: st.Input}}
	return &plan{id: store.TriggeredInstance(id, t.DefinitionID, t.ActivityID), cmd: cmd, trigger: &t, gate: store.GateOf(t.Activation, cmd.Start)}
}

// HeldStart is the instance that an item which waited behind a gate starts.
func HeldStart(item *store.QueueItem, at time.Time, trace string) *etcdstore.NewInstance {
	p := triggerPlan(item.Held.Event, item.Held.Trigger, &item.Stimulus, at)
	p.trigger, p.gate, p.cmd.Trace = nil, &item.Held.Gate, trace
	return p.instance()
}
