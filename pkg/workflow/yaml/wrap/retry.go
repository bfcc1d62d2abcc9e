package wrap

import (
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml/notation"
)

// An activity with a retry is written for a RetryPolicy that has it as its body, within
// its timeout if it has one. The activity keeps its id x; around it stand
//
//	x.retry      the RetryPolicy
//	x.onGiveUp   a Sequence of what onGiveUp says
const (
	BodyPort       = "body"
	OnGiveUpSuffix = "." + notation.GiveUpKey
)

// CoreOf gives the activity that the text shows for a: a itself, or the one inside a Fork
// or a RetryPolicy that stands for its timeout or its retry.
func CoreOf(types workflow.Types, a *workflow.Activity) *workflow.Activity {
	body := a
	if a.Type == workflow.RetryType {
		if body = a.Ports[BodyPort]; body == nil || !isRetry(types.ByType(a.Type), a) {
			return a
		}
	}
	core := body
	if inner := timedActivity(body); inner != nil && !notation.Owns(TypeOf(types, inner), "timeout") {
		core = inner
	}
	if body == a {
		return core
	}
	if d := TypeOf(types, core); core.ID == "" || a.ID != core.ID+workflow.RetrySuffix || notation.Owns(d, notation.RetryKey) || notation.Owns(d, notation.GiveUpKey) {
		return a
	}
	if late := a.Ports[notation.GiveUpKey]; late != nil && late.ID != core.ID+OnGiveUpSuffix {
		return a
	}
	return core
}

// TypeOf gives the type of an activity; nil for a definition that is run, and for what is unknown.
func TypeOf(types workflow.Types, a *workflow.Activity) *workflow.Descriptor {
	if a.Ref != nil {
		return nil
	}
	return types.ByType(a.Type)
}

// isRetry tells whether an activity has nothing that a retry beside its body does not say.
func isRetry(d *workflow.Descriptor, a *workflow.Activity) bool {
	bare := *a
	bare.Ports = nil
	if d == nil || !IsPlain(&bare) {
		return false
	}
	for name, e := range a.Inputs {
		if in, ok := d.Input(name); !ok || in.Name != name || e.IsZero() {
			return false
		}
	}
	late := a.Ports[notation.GiveUpKey]
	if late == nil {
		return len(a.Ports) == 1
	}
	return len(a.Ports) == 2 && late.Type == notation.SequenceType && late.Activities != nil && len(late.Inputs) == 0 && IsPlain(late)
}
