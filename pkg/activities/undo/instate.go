package undo

import (
	"encoding/json"
	"slices"

	"github.com/weft-run/weft/pkg/workflow"
)

// InState gives what is being undone in an instance, of its state as it is stored. Of a state that cannot be read
// nothing is known.
func InState(state json.RawMessage) (undoing []State) {
	var doc struct {
		Executions []struct {
			Scratch json.RawMessage `json:"scratch"`
		} `json:"executions"`
	}
	if len(state) == 0 || json.Unmarshal(state, &doc) != nil {
		return nil
	}
	for _, x := range doc.Executions {
		var s State
		if len(x.Scratch) > 0 && workflow.UnmarshalKnown(x.Scratch, &s) == nil && s.Running != "" {
			undoing = append(undoing, s)
		}
	}
	return undoing
}

// Left are the steps that are to be undone, the one that is being undone first.
func (s *State) Left() (steps []Step) {
	for _, step := range slices.Backward(s.Steps) {
		switch {
		case step.ID == s.Running:
			steps = slices.Insert(steps, 0, step)
		case step.Now:
			steps = append(steps, step)
		}
	}
	return steps
}
