package front

import (
	"context"

	"github.com/weft-run/weft/internal/answers"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// CommandID is the id that a command keeps for life: the caller's key if there
// is one.
func CommandID(k *workflow.CommandKey) string {
	if k == nil {
		return workflow.NewID()
	}
	return k.Name
}

// Answered gives the answer of an earlier call, where became says what became since of
// what was only accepted then.
func Answered(ctx context.Context, a *store.Answer, k *workflow.CommandKey, became func(context.Context, []store.Effect) []store.Effect) (SendResult, error) {
	if err := answers.Check(a, k); err != nil {
		return SendResult{}, err
	}
	res := SendResult{Queued: a.Queued, Response: a.Response}
	if len(a.Targets) > 0 && a.Queued == "" { // who was told that it is queued is told so again: its receipt says the rest
		res.Outcomes = OutcomesOf(became(ctx, a.Targets))
	}
	if a.Instance != nil && len(res.Outcomes) == 0 {
		res.Outcomes = []TargetOutcome{{InstanceID: a.Instance.ID, Outcome: workflow.OutcomeStarted}}
	}
	return res, ctx.Err()
}
