package activities

import (
	"context"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

func sequence() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type:        "Elsa.Sequence",
		NoEffect:    true,
		Container:   true,
		Description: "Runs its activities one after the other. A Break inside ends it, and so do End, Complete and Finish among its activities.",
		List:        "activities",
	}, sequenceActivity{}
}

type sequenceActivity struct{}

// sequenceState is how many activities were scheduled.
type sequenceState struct {
	Next  int  `json:"next"`
	Break bool `json:"break,omitempty"`
}

// Signal stops the sequence for a Break inside; a loop around it, if there is
// one, gets the signal too.
func (sequenceActivity) Signal(_ context.Context, x *engine.Execution, s engine.Signal) (bool, error) {
	if s.Name == engine.SignalBreak {
		engine.Scratch[sequenceState](x).Break = true
	}
	return false, nil
}

func (a sequenceActivity) Execute(_ context.Context, x *engine.Execution) error {
	a.next(x)
	return nil
}

func (a sequenceActivity) ChildCompleted(_ context.Context, x *engine.Execution, done engine.Completed) error {
	if done.Node.Descriptor().Terminal {
		x.Complete()
		return nil
	}
	a.next(x)
	return nil
}

func (sequenceActivity) next(x *engine.Execution) {
	list := x.Node().List()
	s := engine.Scratch[sequenceState](x)
	if s.Next < len(list) && !s.Break {
		x.Schedule(list[s.Next], engine.Child{})
		s.Next++
	}
}
