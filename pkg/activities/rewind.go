package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/weft-run/weft/pkg/activities/branch"
	"github.com/weft-run/weft/pkg/engine"
)

// Rewind goes on from one of the activities of the sequence.
func (sequenceActivity) Rewind(_ context.Context, x *engine.Execution, child *engine.Node) error {
	at := slices.Index(x.Node().List(), child)
	x.Retract(branch.EveryNode)
	*engine.Scratch[sequenceState](x) = sequenceState{Next: at + 1}
	x.Schedule(child, engine.Child{})
	return nil
}

// Rewind runs one of the branches again, beside the others.
func (parallelActivity) Rewind(_ context.Context, x *engine.Execution, child *engine.Node) error {
	x.Schedule(child, engine.Child{})
	return nil
}

// Rewind goes on from the entry of a state, or an action of the current one.
func (stateMachineActivity) Rewind(_ context.Context, x *engine.Execution, child *engine.Node) error {
	s := engine.Scratch[machineState](x)
	taken, tag := -1, ""
	state := slices.IndexFunc(x.Node().States(), func(st engine.NodeState) bool {
		if st.Entry == child {
			tag = "entry"
			return true
		}
		for i, t := range st.Transitions {
			if t.Action == child {
				taken, tag = i, "action"
				return true
			}
		}
		return false
	})
	switch {
	case tag == "":
		return errors.New("a state machine goes back to the entry of a state, or to the action of a transition")
	case tag == "action" && state != s.State:
		return fmt.Errorf("it leads out of the state %s, and the machine is in %s", x.Node().States()[state].Name, x.Node().States()[s.State].Name)
	}
	x.Retract(branch.EveryNode)
	s.State, s.Taken = state, taken
	x.SetOutput("currentState", x.Node().States()[state].Name)
	x.Schedule(child, engine.Child{Tag: tag})
	return nil
}
