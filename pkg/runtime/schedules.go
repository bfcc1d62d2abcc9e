package runtime

import (
	"context"
	"time"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/pkg/workflow"
)

// FireSchedule starts what a schedule of a definition starts, now and beside its occurrences,
// which stay as they are. It answers with the instance's id once that is durable; with a key,
// repeats start nothing more.
//
// Errors are those of Dispatch, and schedule-not-found.
func (s *starter) FireSchedule(ctx context.Context, definition, activity string, key *Key) (string, error) {
	e, err := catalog.SchedulesOf(s.cfg.Catalog).ToCome(ctx, definition, activity)
	if err != nil {
		return "", err
	}
	return s.Dispatch(ctx, StartRequest{
		DefinitionID: definition, Trigger: e.ActivityID, Key: key,
		TriggerInput: map[string]any{"dueAt": s.cfg.Now().UTC().Format(time.RFC3339Nano)},
	})
}

// SkipSchedule drops the occurrence of a schedule that is due at a time, unless it is not to come
// any more: then skipped is false. next is the one to come, zero if there is none. No other
// occurrence is dropped, however often it is called. While the cluster is paused it works too.
//
// Errors: definition-not-found, schedule-not-found, unavailable, outcome-unknown.
func (s *starter) SkipSchedule(ctx context.Context, definition, activity string, due time.Time) (skipped bool, next time.Time, err error) {
	if due.IsZero() {
		return false, next, &workflow.Error{Code: workflow.CodeInvalid, Detail: "dueAt has to say which occurrence; GET /timers lists the next of each"}
	}
	return catalog.SchedulesOf(s.cfg.Catalog).Skip(ctx, definition, activity, due)
}
