package wrap

import (
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml/notation"
)

// An activity with a timeout is written for a Fork of which the first branch to
// end wins: the activity, and a Sequence of a Delay with what onTimeout says.
// The activity keeps its id x; around it stand
//
//	x.timeout          the Fork
//	x.onTimeout        the Sequence
//	x.timeout.delay    the Delay
const (
	OnTimeoutSuffix = ".onTimeout"
	DelaySuffix     = workflow.TimeoutSuffix + ".delay"
	JoinMode        = "joinMode"
	WaitAny         = "WaitAny"
	TimeSpan        = "timeSpan"
)

// DelayInput gives the input of Delay that says how long.
func DelayInput(types workflow.Types) workflow.InputDescriptor {
	if d := types.ByType(notation.DelayType); d != nil {
		if in, ok := d.Input(TimeSpan); ok {
			return in
		}
	}
	return workflow.InputDescriptor{Name: TimeSpan, Type: "TimeSpan"}
}

// timedActivity gives the activity inside a Fork that a timeout was written for,
// nil if fork is not of exactly that form.
func timedActivity(fork *workflow.Activity) *workflow.Activity {
	if fork.Type != notation.ForkType || len(fork.Activities) != 2 || len(fork.Inputs) != 1 {
		return nil
	}
	mode := fork.Inputs[JoinMode]
	inner, late := fork.Activities[0], fork.Activities[1]
	if mode.Kind != workflow.Literal || mode.Value != WaitAny || inner == nil || late == nil || inner.ID == "" {
		return nil
	}
	if fork.ID != inner.ID+workflow.TimeoutSuffix || late.Type != notation.SequenceType || late.ID != inner.ID+OnTimeoutSuffix || len(late.Activities) == 0 {
		return nil
	}
	delay := late.Activities[0]
	if delay.Type != notation.DelayType || delay.ID != inner.ID+DelaySuffix || len(delay.Inputs) != 1 || delay.Inputs[TimeSpan].IsZero() {
		return nil
	}
	if !IsPlain(fork) || !IsPlain(late) || !IsPlain(delay) {
		return nil
	}
	return inner
}

// IsPlain tells whether an activity has nothing beside inputs and children.
func IsPlain(a *workflow.Activity) bool {
	return a.Name == "" && !a.CanStart && a.Version <= 1 && len(a.Outputs) == 0 && len(a.Ports) == 0 && len(a.Cases) == 0 &&
		len(a.Connections) == 0 && len(a.Variables) == 0 && len(a.States) == 0 && a.Ref == nil &&
		a.MergeMode == "" && a.CommitStrategy == "" && a.LogPersistence == "" &&
		len(notation.WrittenProperties(a.CustomProperties)) == 0 && len(notation.WrittenMetadata(a.Metadata)) == 0
}
