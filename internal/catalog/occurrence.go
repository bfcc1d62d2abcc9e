package catalog

import (
	"context"
	"fmt"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// Schedules are what starts the definitions of a catalog by the clock.
type Schedules struct{ c *Catalog }

// SchedulesOf are the schedules of a catalog.
func SchedulesOf(c *Catalog) Schedules { return Schedules{c} }

// ToCome is the occurrence to come of a schedule of a published definition, by the activity
// that is its trigger. Errors: definition-not-found, schedule-not-found, unavailable.
func (s Schedules) ToCome(ctx context.Context, id, activity string) (*store.CronEntry, error) {
	if workflow.CheckID("definition id", id) != nil {
		return nil, notFound(id)
	}
	st, err := s.c.store.ReadDefinition(ctx, id, "")
	if err != nil {
		return nil, explain(err)
	}
	s.c.learn(st.Head)
	if !st.Exists() || st.Head.Published == 0 {
		return nil, notFound(id)
	}
	for i := range st.Crons {
		if e := &st.Crons[i]; e.ActivityID == activity && st.Head.Fires(e) {
			return e, nil
		}
	}
	return nil, workflow.Fail(workflow.CodeScheduleNotFound, fmt.Sprintf("the activity %q of definition %s has no occurrence to come", workflow.Shorten(activity), id))
}

// Skip drops the occurrence of a schedule that is due at a time, and no other: skipped is
// false if it is not the one to come. next is the one that is then, zero if there is none.
func (s Schedules) Skip(ctx context.Context, id, activity string, due time.Time) (skipped bool, next time.Time, err error) {
	for range conflicts {
		e, err := s.ToCome(ctx, id, activity)
		if err != nil {
			return false, next, err
		}
		if !e.Due.Equal(due) {
			return false, e.Due, nil
		}
		var following *store.CronEntry
		at, more := Next(e, e.Due)
		if more {
			n := *e
			n.Due, next, following = at, at, &n
		}
		if skipped, err = s.c.store.SkipSchedule(ctx, e, following); err != nil || skipped {
			return skipped, next, explain(err)
		}
	}
	return false, next, explain(store.ErrHeadMoved)
}
