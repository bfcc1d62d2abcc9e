package undo

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

const (
	bodyPort   = "body"
	undonePort = "onUndone"
)

// Scope undoes what was done in its body when that fails.
func Scope() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type: workflow.ScopeType,
		Description: "Runs its body. When something in it fails, or the instance is cancelled, what was done in it and has an undo is undone, the last one first. " +
			"Then the branch onUndone runs, with the variables Error and Undone, and the scope is done; without it the scope fails. A definition in which something has an undo is a scope by itself.",
		MainPort: bodyPort,
		Gives: []workflow.OutputDescriptor{
			{Name: "Error", Type: "String", Description: "Why it failed, in onUndone."},
			{Name: "Undone", Type: "Object", Description: "The ids of the activities that were undone, in that order, in onUndone."},
		},
		Ports:      []string{bodyPort, undonePort},
		AnyOutcome: true,
		NoEffect:   true,
		Container:  true,
	}, scope{}
}

type scope struct{ keeper }

var (
	_ engine.Undoer        = scope{}
	_ engine.Parent        = scope{}
	_ engine.SignalHandler = scope{}
	_ engine.Migrator      = scope{}
)

func (scope) Execute(_ context.Context, x *engine.Execution) error {
	x.Schedule(x.Node().Port(bodyPort), engine.Child{})
	return nil
}

// Done takes a step.
func (scope) Done(x *engine.Execution, s engine.Step) { engine.Scratch[State](x).add(Step{Step: s}) }

func (sc scope) ChildCompleted(_ context.Context, x *engine.Execution, done engine.Completed) error {
	s := engine.Scratch[State](x)
	switch {
	case s.tell(x, done):
	case done.Node == x.Node().Port(undonePort):
		s.Ended = true
	default:
		s.Ended, s.Outcomes = true, done.Outcomes
	}
	return sc.goOn(x, s)
}

// goOn undoes the next step, or does what comes when none is left.
func (scope) goOn(x *engine.Execution, s *State) error {
	switch more, err := s.next(x); {
	case more || err != nil:
		return err
	case s.Cancelled:
		x.Complete()
	case s.Failed != nil && !s.Ended:
		x.OtherCalls()
		if n := x.Node().Port(undonePort); n != nil && !s.Failed.Final {
			x.Schedule(n, engine.Child{Variables: map[string]any{"Error": s.Failed.Message, "Undone": s.Undone}})
			return nil
		}
		return engine.BeginAgain(s.Failed.error(s.Undone))
	case s.Ended:
		if err := s.handOn(x); err != nil {
			return err
		}
		x.Complete(s.Outcomes...)
	}
	return nil
}

// Signal takes a failure if there is something to undo. With ContinueWithIncidents the rest goes on, but for a
// failure that is final.
func (sc scope) Signal(_ context.Context, x *engine.Execution, sig engine.Signal) (bool, error) {
	s := engine.Scratch[State](x)
	if done, err := sc.stays(x, sig); done || err != nil {
		return done, err
	}
	goesOn := strings.Contains(strings.ToLower(x.Node().Definition().Options.IncidentStrategy), "continuewithincidents")
	switch {
	case sig.Name != engine.SignalFinal && (sig.Name != engine.SignalFault || goesOn), s.Failed != nil, s.Cancelled, !hasSteps(x):
		return false, nil
	}
	s.Failed = failureOf(x, sig)
	stop(x, s)
	x.Journal(workflow.EventUndoing, s.Failed.Message, map[string]any{"failed": s.Failed.Activity, "steps": activities(s.Steps)})
	return true, sc.goOn(x, s)
}

// Unwind undoes all, as the instance is cancelled.
func (sc scope) Unwind(x *engine.Execution) bool {
	s := engine.Scratch[State](x)
	stop(x, s)
	if len(s.Steps) == 0 {
		return false
	}
	s.Cancelled = true
	x.Journal(workflow.EventUndoing, "the instance is cancelled", map[string]any{"steps": activities(s.Steps)})
	if err := sc.goOn(x, s); err != nil {
		panic(err)
	}
	return true
}

// stop ends all in x but what undoes, and marks the steps: those of scopes in it, too.
func stop(x *engine.Execution, s *State) {
	branch := func(n *engine.Node) bool { return n == x.Node().Port(bodyPort) || n == x.Node().Port(undonePort) }
	was := s.Running
	s.Running = cmp.Or(was, "none yet") // what is handed on waits: the last of all comes first
	x.Withdraw(branch)
	x.CancelChildren(func(k *engine.Execution) bool { return branch(k.Node()) })
	s.Running = was
	s.undoAll()
}

// hasSteps tells whether something was done in x that can be undone.
func hasSteps(x *engine.Execution) bool {
	if keeps(x) && len(engine.Scratch[State](x).Steps) > 0 {
		return true
	}
	return slices.ContainsFunc(x.Children(), hasSteps)
}

func keeps(x *engine.Execution) bool {
	return x.Node().Type() == workflow.ScopeType || x.Node().Type() == workflow.CompensateType
}

func activities(steps []Step) (ids []string) {
	for _, s := range slices.Backward(steps) {
		ids = append(ids, s.Activity)
	}
	return ids
}
