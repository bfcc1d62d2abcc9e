package graph

import (
	"encoding/json"

	"github.com/weft-run/weft/pkg/workflow"
)

// Change is what sets an activity apart from that of the same id in another version.
type Change string

// The changes.
const (
	Same    Change = ""
	Added   Change = "added"   // it is not in the older version
	Removed Change = "removed" // it is not in the newer version
	Changed Change = "changed" // it is there with other inputs, branches or connections
)

// changeSymbols tell a change without colour.
var changeSymbols = map[Change]string{Added: "+", Removed: "−", Changed: "≠"}

// Changes compares the activities of a version with those of another one; lone is what one is
// that the other does not have: Added or Removed. What activities hold is compared by itself.
func Changes(def, other *workflow.Definition, lone Change) map[string]Change {
	theirs := contents(other)
	changes := map[string]Change{}
	for id, content := range contents(def) {
		switch before, ok := theirs[id]; {
		case !ok:
			changes[id] = lone
		case before != content:
			changes[id] = Changed
		}
	}
	return changes
}

// Compare marks the activities that changed, by their ids.
func (g *Graph) Compare(changes map[string]Change) {
	for i := range g.Nodes {
		if n := &g.Nodes[i]; n.ID != "" && n.Kind != Folded {
			n.Change = changes[n.ID]
			if n.Change == Same {
				n.Change = changes[n.ClockID]
			}
		}
	}
}

// contents gives what each activity says, without those that it holds, where it stands and
// how a designer placed it.
func contents(def *workflow.Definition) map[string]string {
	all := map[string]string{}
	workflow.Walk(def.Root, func(a, _ *workflow.Activity, _ int) bool {
		own := *a
		own.Activities, own.Ports, own.Metadata = nil, nil, nil
		own.Cases = append([]workflow.Case(nil), a.Cases...)
		for i := range own.Cases {
			own.Cases[i].Activity = nil
		}
		own.States = append([]workflow.State(nil), a.States...)
		for i := range own.States {
			s := &own.States[i]
			s.Entry, s.Exit, s.Transitions = nil, nil, append([]workflow.Transition(nil), s.Transitions...)
			for j := range s.Transitions {
				s.Transitions[j].Trigger, s.Transitions[j].Action = nil, nil
			}
		}
		raw, err := json.Marshal(own) // a place has no line there
		if err != nil {
			raw = nil // an input that no notation can write
		}
		all[a.ID] = string(raw)
		return true
	})
	return all
}
