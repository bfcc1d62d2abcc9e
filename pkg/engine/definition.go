package engine

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/weft-run/weft/pkg/workflow"
)

const workflowType = "Elsa.Workflow"

var workflowDescriptor = workflow.Descriptor{Type: workflowType, Description: "The workflow itself.", AnyOutcome: true, NoEffect: true}

// Describe is the descriptor of a definition that is used as an activity of a type.
func Describe(typ string, def *workflow.Definition) *workflow.Descriptor {
	d := &workflow.Descriptor{Type: typ, Description: def.Description, Outcomes: def.Outcomes, NoEffect: true}
	for _, in := range def.Inputs {
		d.Inputs = append(d.Inputs, workflow.InputDescriptor{Name: workflow.LowerFirst(in.Name), Type: aliasOf(in.Type, in.IsArray), Description: in.Description, Required: in.Required && in.Default == nil, Default: in.Default})
	}
	for _, out := range def.Outputs {
		d.Outputs = append(d.Outputs, workflow.OutputDescriptor{Name: workflow.LowerFirst(out.Name), Type: aliasOf(out.Type, out.IsArray), Description: out.Description})
	}
	return d
}

// composite runs a definition: the workflow itself, or one used as an activity.
// Its execution is the boundary of the definition's scopes.
type composite struct{}

var (
	_ Parent        = composite{}
	_ SignalHandler = composite{}
)

// Execute takes the inputs and starts the root.
func (composite) Execute(_ context.Context, x *Execution) error {
	u := x.node.inner
	if x.parent != nil { // the workflow itself has its inputs from the header
		x.scope.inputs = map[string]any{}
		for i, in := range u.inputs {
			// In the form that a commit gives it: a duration is text before and after.
			v, err := Normalize(x.valueAt(i))
			if err != nil {
				return fmt.Errorf("input %s: %w", in.Name, err)
			}
			if err = x.b.env.refuseSecret("input "+in.Name, v); err != nil {
				return err
			}
			x.scope.inputs[in.Name] = v
		}
	} else if err := x.begin(); err != nil {
		return err
	}
	x.Schedule(x.node.ports["root"], Child{})
	return nil
}

// begin takes the inputs of the instance, and evaluates its labels.
func (x *Execution) begin() error {
	if err := x.b.takeInputs(); err != nil {
		return err
	}
	u := x.node.inner
	for i := range u.labels {
		label := &u.labels[i]
		v, err := x.evaluateIn(x, &label.value)
		if err != nil {
			return err
		}
		if err := x.SetLabel(label.name, Text(v)); err != nil {
			return err
		}
	}
	return nil
}

// ChildCompleted evaluates the outputs; completing follows by itself.
func (composite) ChildCompleted(_ context.Context, x *Execution, done Completed) error {
	return finishUnit(x, done.Outcomes)
}

// Signal completes the definition when a Complete activity inside asks for it.
// A Break without a loop does not reach the loops of the definition
// that uses this one.
func (composite) Signal(_ context.Context, x *Execution, s Signal) (bool, error) {
	if s.Name != SignalComplete {
		return s.Name == SignalBreak, nil
	}
	outcomes := s.Outcomes
	if err := finishUnit(x, outcomes); err != nil {
		return true, err
	}
	s.Sender.Complete(outcomes...)
	x.Complete(x.outcomes...)
	return true, nil
}

// finishUnit sets the declared outputs and the outcomes of x's definition.
func finishUnit(x *Execution, outcomes []string) error {
	u := x.node.inner
	for i := range u.outputs {
		out := &u.outputs[i]
		if out.value.given {
			v, err := x.evaluateIn(x, &out.value)
			if err != nil {
				return err
			}
			x.SetWorkflowOutput(out.name, v)
		}
	}
	if x.parent != nil {
		for i, out := range u.outputs {
			if v, ok := x.scope.outputs[out.name]; ok {
				x.SetOutput(x.node.desc.Outputs[i].Name, v)
			}
		}
	}
	// Only outcomes that the definition declares leave it.
	var leave []string
	for _, o := range outcomes {
		if slices.Contains(u.def.Outcomes, o) {
			leave = append(leave, o)
		}
	}
	x.SetOutcomes(leave...)
	return nil
}

// scopeState is what a boundary execution holds for its definition.
type scopeState struct {
	inputs  map[string]any
	outputs map[string]any
	results map[string]map[string]any // outputs by local activity id
	last    any
}

func (s *scopeState) setOutput(name string, v any) {
	if s.outputs == nil {
		s.outputs = map[string]any{}
	}
	s.outputs[name] = v
}

func aliasOf(typ string, array bool) string {
	if array {
		return cmp.Or(typ, "Object") + "[]"
	}
	return typ
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
