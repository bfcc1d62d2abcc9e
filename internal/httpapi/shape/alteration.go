package shape

import (
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// Alteration is one change of an instance.
type Alteration struct {
	Type       string            `json:"type" enum:"retry,skip,setVariable,migrate,reschedule,cancel"`
	Activity   string            `json:"activity" doc:"Id of the activity; of setVariable: whose scope has the variable. Absent: what faulted (retry), the instance (cancel), the only one there is."`
	Execution  int64             `json:"execution" doc:"Which execution of the activity, as the journal numbers them; needed if several run."`
	KeepKey    *bool             `json:"keepKey" doc:"retry: whether the call is made with the idempotency key of the call before; true if absent."`
	Again      bool              `json:"again" doc:"retry: also if a branch that ran since the call failed (onGiveUp, onTimeout, an outcome) may have undone what it did."`
	Outcomes   []string          `json:"outcomes" doc:"skip: what the activity completes with; Done if absent."`
	Variable   string            `json:"variable" doc:"setVariable: name or id."`
	Value      any               `json:"value" doc:"setVariable: any value; null clears it."`
	Version    int               `json:"version" doc:"migrate: the version of the definition to go on with."`
	Activities map[string]string `json:"activities" doc:"migrate: for activities that have another id in that version, from the old one to the new one."`
	Bookmark   string            `json:"bookmark" doc:"reschedule: id of the timer's bookmark; needed if several fit."`
	DueAt      *time.Time        `json:"dueAt" doc:"reschedule: when the timer is due."`
}

// Alteration is what the body says.
func (b *Alteration) Alteration() workflow.Alteration {
	return workflow.Alteration{
		Type: workflow.AlterationType(b.Type), Activity: b.Activity, Execution: b.Execution, NewKey: b.KeepKey != nil && !*b.KeepKey, Again: b.Again,
		Outcomes: b.Outcomes, Variable: b.Variable, Value: b.Value, Version: b.Version, Activities: b.Activities, Bookmark: b.Bookmark, DueAt: b.DueAt,
	}
}
