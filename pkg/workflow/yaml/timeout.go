package yaml

import (
	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
)

// An activity with a timeout is written for a Fork of which the first branch to
// end wins: the activity, and a Sequence of a Delay with what onTimeout says.
// The activity keeps its id x; around it stand
//
//	x.timeout          the Fork
//	x.onTimeout        the Sequence
//	x.timeout.delay    the Delay
const (
	onTimeoutSuffix = ".onTimeout"
	delaySuffix     = workflow.TimeoutSuffix + ".delay"
	joinMode        = "joinMode"
	waitAny         = "WaitAny"
	timeSpan        = "timeSpan"
)

// delayInput gives the input of Delay that says how long.
func delayInput(types workflow.Types) workflow.InputDescriptor {
	if d := types.ByType(delayType); d != nil {
		if in, ok := d.Input(timeSpan); ok {
			return in
		}
	}
	return workflow.InputDescriptor{Name: timeSpan, Type: "TimeSpan"}
}

// wrapTimeout gives the finished activity, inside a Fork if it has a timeout.
func (b *activityBuilder) wrapTimeout() *workflow.Activity {
	if b.timeout.IsZero() {
		if b.onTimeout != nil {
			b.r.problem("missing-timeout", b.onTimeout.key, "onTimeout needs a timeout beside it, such as timeout: 48h")
		}
		return b.a
	}
	id := b.a.ID
	late := &workflow.Activity{Type: sequenceType, ID: id + onTimeoutSuffix, Place: b.timeout.Place}
	late.Activities = []*workflow.Activity{{
		Type: delayType, ID: id + delaySuffix, Place: b.timeout.Place,
		Inputs: map[string]workflow.Expression{timeSpan: b.timeout},
	}}
	if b.onTimeout != nil && !isNull(b.onTimeout.val) {
		n := b.onTimeout.val
		if n.Kind != yaml.SequenceNode { // one activity is a list of one
			n = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{n}, Line: n.Line, Column: n.Column}
		}
		late.Activities = append(late.Activities, b.r.children(n, late.ID)...)
	}
	return &workflow.Activity{
		Type: forkType, ID: id + workflow.TimeoutSuffix, Place: b.a.Place,
		Inputs:     map[string]workflow.Expression{joinMode: {Kind: workflow.Literal, Value: waitAny, Place: b.timeout.Place}},
		Activities: []*workflow.Activity{b.a, late},
	}
}

// timeout writes the timeout of a Fork beside the activity that has it.
func (w *writer) timeout(m *yaml.Node, fork *workflow.Activity) {
	late := fork.Activities[1]
	put(m, "timeout", w.expression(late.Activities[0].Inputs[timeSpan], delayInput(w.types)))
	if len(late.Activities) > 1 {
		put(m, "onTimeout", w.children(late.Activities[1:], late.ID))
	}
}

// timedActivity gives the activity inside a Fork that a timeout was written for,
// nil if fork is not of exactly that form.
func timedActivity(fork *workflow.Activity) *workflow.Activity {
	if fork.Type != forkType || len(fork.Activities) != 2 || len(fork.Inputs) != 1 {
		return nil
	}
	mode := fork.Inputs[joinMode]
	inner, late := fork.Activities[0], fork.Activities[1]
	if mode.Kind != workflow.Literal || mode.Value != waitAny || inner == nil || late == nil || inner.ID == "" {
		return nil
	}
	if fork.ID != inner.ID+workflow.TimeoutSuffix || late.Type != sequenceType || late.ID != inner.ID+onTimeoutSuffix || len(late.Activities) == 0 {
		return nil
	}
	delay := late.Activities[0]
	if delay.Type != delayType || delay.ID != inner.ID+delaySuffix || len(delay.Inputs) != 1 || delay.Inputs[timeSpan].IsZero() {
		return nil
	}
	if !isPlain(fork) || !isPlain(late) || !isPlain(delay) {
		return nil
	}
	return inner
}

// isPlain tells whether an activity has nothing beside inputs and children.
func isPlain(a *workflow.Activity) bool {
	return a.Name == "" && !a.CanStart && a.Version <= 1 && len(a.Outputs) == 0 && len(a.Ports) == 0 && len(a.Cases) == 0 &&
		len(a.Connections) == 0 && len(a.Variables) == 0 && len(a.States) == 0 && a.Ref == nil &&
		a.MergeMode == "" && a.CommitStrategy == "" && a.LogPersistence == "" &&
		len(writtenProperties(a.CustomProperties)) == 0 && len(writtenMetadata(a.Metadata)) == 0
}
