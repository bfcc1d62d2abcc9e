package runtime

import (
	"context"
	"fmt"
	"time"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/runtime/front"
	"github.com/weft-run/weft/pkg/workflow"
)

// FireSchedule starts what a schedule of a definition starts, now and beside its occurrences,
// which stay as they are. It answers with the instance's id once that is durable; with a key,
// repeats start nothing more, and get their answer also when nothing is to come any more.
//
// Errors are those of Dispatch, and schedule-not-found.
func (s *Starter) FireSchedule(ctx context.Context, definition, activity string, key *front.Key) (string, error) {
	if k := key.Command(); k != nil {
		if a, err := s.answers.Used(ctx, k); err != nil || a != nil {
			return answeredID(a), err
		}
	}
	return s.dispatch(ctx, front.StartRequest{
		DefinitionID: definition, Trigger: activity, Key: key,
		TriggerInput: map[string]any{"dueAt": s.cfg.Now().UTC().Format(time.RFC3339Nano)},
	}, func(ctx context.Context, p *plan) error {
		e, err := catalog.SchedulesOf(s.cfg.Catalog).ToCome(ctx, definition, activity)
		if err != nil {
			return err
		}
		// The version that starts has to be the one that has the trigger: the engine begins
		// one without it at its start. That it is published still, create compares.
		if e.Version != p.cmd.Start.Version {
			return workflow.Fail(workflow.CodeDefinitionMoved, fmt.Sprintf("definition %q was changed at the same time", definition))
		}
		return s.create(ctx, p)
	})
}

// answeredID is the instance of an answer, "" of none.
func answeredID(a *store.Answer) string {
	if a == nil {
		return ""
	}
	return startAnswer(a).Instance.ID
}

// SkipSchedule drops the occurrence of a schedule that is due at a time, unless it is not to come
// any more: then skipped is false. next is the one to come, zero if there is none. No other
// occurrence is dropped, however often it is called. The only occurrence of a schedule, such as a
// startAt, cannot be skipped: publish the definition without it. While the cluster is paused it
// works too.
//
// Errors: invalid-request, definition-not-found, definition-moved, schedule-not-found,
// unavailable, outcome-unknown.
func (s *Starter) SkipSchedule(ctx context.Context, definition, activity string, due time.Time) (skipped bool, next time.Time, err error) {
	if due.IsZero() {
		return false, next, &workflow.Error{Code: workflow.CodeInvalid, Detail: "dueAt has to say which occurrence; GET /timers lists the next of each"}
	}
	return catalog.SchedulesOf(s.cfg.Catalog).Skip(ctx, definition, activity, due)
}
