package front

import (
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// OutcomeOf is what a command did to an instance, as its record says.
func OutcomeOf(id string, e *store.Effect) TargetOutcome {
	t := TargetOutcome{InstanceID: id, Code: e.Code, Detail: e.Detail, Interrupted: e.Interrupted}
	if len(e.Misfits) > 0 {
		t.problems = new(workflow.Problems)
		for _, m := range e.Misfits {
			*t.problems = append(*t.problems, workflow.Problem{Code: m.Code, Detail: m.Detail, Place: workflow.Place{Pointer: m.Pointer}})
		}
	}
	switch e.Outcome {
	case workflow.OutcomeStarted:
		t.Outcome = workflow.OutcomeStarted
	case workflow.OutcomeResumed, workflow.OutcomeApplied:
		t.Outcome = workflow.OutcomeResumed
	case workflow.OutcomeRequeued, workflow.OutcomeAccepted:
		t.Outcome = workflow.OutcomeAccepted
	default:
		t.Outcome = workflow.OutcomeRefused
	}
	return t
}

// OutcomesOf is the same of several.
func OutcomesOf(effects []store.Effect) []TargetOutcome {
	out := make([]TargetOutcome, len(effects))
	for i := range effects {
		out[i] = OutcomeOf(effects[i].InstanceID, &effects[i])
	}
	return out
}
