package undo

import (
	"context"
	"fmt"
	"slices"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// Compensate undoes what was done so far in the scope around it.
func Compensate() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type: workflow.CompensateType, Main: "activities",
		Description: "Undoes what was done so far in the scope around it, the last one first, and goes on when that is undone. What was undone is not undone again when the scope fails.",
		Inputs: []workflow.InputDescriptor{
			{Name: "activities", Type: "Object", Description: "The ids of the activities to undo, one or a list; all that were done, if it is not given."},
		},
		Outputs:  []workflow.OutputDescriptor{{Name: "undone", Type: "Object", Description: "The ids of the activities that were undone, in that order."}},
		NoEffect: true,
	}, compensate{}
}

type compensate struct{ keeper }

var (
	_ engine.Undoer        = compensate{}
	_ engine.Parent        = compensate{}
	_ engine.SignalHandler = compensate{}
	_ engine.Migrator      = compensate{}
)

// Prepare looks for the activities that are named.
func (compensate) Prepare(p *engine.Preparation) {
	n := p.Node
	for n != nil && n.Type() != workflow.ScopeType {
		n = n.Parent()
	}
	if n == nil {
		p.Problem("nothing-to-undo", workflow.Place{}, "no activity of the definition has an undo, so that there is nothing to undo; write undo: beside what is to be undone")
		return
	}
	v, ok := p.Constant("activities")
	if !ok || v == nil {
		return
	}
	ids, err := idsOf(v)
	if err != nil {
		p.Problem("bad-literal", p.Place("activities"), "%v", err)
	}
	var known []string
	workflow.Walk(p.Node.Definition().Root, func(a, _ *workflow.Activity, _ int) bool {
		if a.Ports[workflow.UndoPort] != nil {
			known = append(known, a.ID)
		}
		return true
	})
	for _, id := range ids {
		if !slices.Contains(known, id) {
			p.Problem("unknown-activity", p.Place("activities"), "no activity %q has an undo%s", workflow.Shorten(id), workflow.DidYouMean(id, known))
		}
	}
}

// idsOf reads activities: one or a list.
func idsOf(v any) (ids []string, err error) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, e := range list {
		id, ok := e.(string)
		if !ok || id == "" {
			return nil, fmt.Errorf("activities: %q is not the id of an activity", engine.Text(e))
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func (c compensate) Execute(_ context.Context, x *engine.Execution) error {
	s, around := engine.Scratch[State](x), scopeOf(x)
	wanted := func(Step) bool { return true }
	if v := x.Value("activities"); v != nil {
		ids, err := idsOf(v)
		if err != nil {
			return err
		}
		wanted = func(step Step) bool { return slices.Contains(ids, step.Activity) }
	}
	if around != nil {
		of := engine.Scratch[State](around)
		of.Steps = slices.DeleteFunc(of.Steps, func(step Step) bool {
			if step.Now || !wanted(step) {
				return false
			}
			s.Steps = append(s.Steps, step)
			return true
		})
	}
	s.undoAll()
	return c.goOn(x, s)
}

func (c compensate) ChildCompleted(_ context.Context, x *engine.Execution, done engine.Completed) error {
	s := engine.Scratch[State](x)
	s.tell(x, done)
	return c.goOn(x, s)
}

// goOn undoes the next step; when none is left, the activity is done.
func (compensate) goOn(x *engine.Execution, s *State) error {
	more, err := s.next(x)
	if !more {
		x.SetOutput("undone", append([]string{}, s.Undone...))
	}
	return err
}

func (c compensate) Signal(_ context.Context, x *engine.Execution, sig engine.Signal) (bool, error) {
	return c.stays(x, sig)
}

// Done is for the scope: what undoes has no undo.
func (compensate) Done(*engine.Execution, engine.Step) {}

// Unwind is for the scope, which is around it.
func (compensate) Unwind(*engine.Execution) bool { return false }
