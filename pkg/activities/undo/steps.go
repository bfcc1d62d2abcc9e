package undo

import (
	"errors"
	"slices"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// State is what a scope, or a compensate, knows of its steps.
type State struct {
	Steps   []Step   `json:"steps,omitempty"`   // that are not undone, in the order in which they were done
	Running string   `json:"running,omitempty"` // the id of the one that is being undone
	Undone  []string `json:"undone,omitempty"`  // activities, in the order in which they were undone

	// Of a scope:
	Ended     bool     `json:"ended,omitempty"`     // its body is done
	Outcomes  []string `json:"outcomes,omitempty"`  // of the body
	Failed    *Failure `json:"failed,omitempty"`    // why all of it is undone
	Cancelled bool     `json:"cancelled,omitempty"` // the instance is: it ends when all is undone
}

// Step is a step of a scope.
type Step struct {
	engine.Step
	Now bool `json:"now,omitempty"` // it is to be undone
}

// add puts a step where it belongs by when it was done. It stands for those that were done in it, and for the same
// calls in an attempt before.
func (s *State) add(step Step) {
	s.Steps = slices.DeleteFunc(s.Steps, func(o Step) bool {
		return o.ID != s.Running && (o.Key == step.Key || slices.Contains(o.Within, step.ID))
	})
	at, _ := slices.BinarySearchFunc(s.Steps, step.Seq, func(o Step, seq int64) int { return int(min(max(o.Seq-seq, -1), 1)) })
	s.Steps = slices.Insert(s.Steps, at, step)
}

// undoAll marks all steps.
func (s *State) undoAll() {
	for i := range s.Steps {
		s.Steps[i].Now = true
	}
}

// next undoes the last step of those that are to be undone, if none is being undone; false if there is none.
func (s *State) next(x *engine.Execution) (more bool, err error) {
	if s.Running != "" {
		return true, nil
	}
	for _, step := range slices.Backward(s.Steps) {
		if step.Now {
			why := ""
			if s.Failed != nil {
				why = s.Failed.Message
			}
			s.Running = step.ID
			return true, step.Schedule(x, map[string]any{"Error": why})
		}
	}
	return false, nil
}

// tell takes the end of what undid a step; false if it was none.
func (s *State) tell(x *engine.Execution, done engine.Completed) bool {
	i := slices.IndexFunc(s.Steps, func(step Step) bool { return step.ID == done.Tag })
	if s.Running == "" || done.Tag != s.Running || i < 0 {
		return false
	}
	activity, number := s.Steps[i].Activity, s.Steps[i].Number
	s.Steps, s.Running = slices.Delete(s.Steps, i, i+1), ""
	s.Undone = append(s.Undone, activity)
	x.Journal(workflow.EventUndone, activity, map[string]any{"activity": activity, "execution": number})
	return true
}

// errStays keeps the failure of what undoes from who is around: it is an incident, and goes on where it failed.
var errStays = errors.New("what undoes is not undone")

// undoing tells whether child undoes a step.
func (s *State) undoing(child *engine.Execution) bool {
	return s.Running != "" && child.Tag() == s.Running
}

// handOn gives the scope around x the steps of s.
func (s *State) handOn(x *engine.Execution) error {
	steps := s.Steps
	s.Steps, s.Running = nil, ""
	around := scopeOf(x)
	if around == nil || len(steps) == 0 {
		return nil
	}
	a := engine.Scratch[State](around)
	for _, step := range steps {
		a.add(step)
	}
	_, err := a.next(around)
	return err
}

// scopeOf is the scope around x; nil if there is none.
func scopeOf(x *engine.Execution) *engine.Execution {
	for p := x.Parent(); p != nil; p = p.Parent() {
		if p.Node().Type() == workflow.ScopeType {
			return p
		}
	}
	return nil
}

// migrate finds the activities of the steps in another version of the definition.
func (s *State) migrate(m engine.Migration) error {
	for i := range s.Steps {
		step := &s.Steps[i]
		var now *engine.Node
		if old := m.Named(step.Activity); old != nil {
			now = m.To(old)
		}
		if now == nil || now.Port(workflow.UndoPort) == nil {
			return errors.New("it has done " + step.Activity + ", which has no undo there")
		}
		step.Activity = now.ID()
	}
	return nil
}

// keeper is what scope and compensate have in common.
type keeper struct{}

// Left hands on what is not undone.
func (keeper) Left(x *engine.Execution) {
	s := engine.Scratch[State](x)
	if err := s.handOn(x); err != nil {
		panic(err)
	}
}

// Undone are the activities that were undone.
func (keeper) Undone(x *engine.Execution) []string { return engine.Scratch[State](x).Undone }

// Migrate finds the activities of the steps again.
func (keeper) Migrate(x *engine.Execution, m engine.Migration) error {
	return engine.Scratch[State](x).migrate(m)
}

// stays keeps the signals of what undoes from what is around: a failure is an incident, and a Break or a Complete
// ends the undo that it stands in. done: it was that.
func (keeper) stays(x *engine.Execution, sig engine.Signal) (done bool, err error) {
	if !engine.Scratch[State](x).undoing(sig.Child) {
		return false, nil
	}
	switch sig.Name {
	case engine.SignalFault, engine.SignalFinal:
		return false, errStays
	case engine.SignalBreak, engine.SignalComplete:
		sig.Sender.Complete(sig.Outcomes...)
		sig.Child.Complete()
		return true, nil
	}
	return false, nil
}
