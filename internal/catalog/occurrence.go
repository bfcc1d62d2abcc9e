package catalog

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/weft-run/weft/internal/catalog/schedule"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/engine"
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
	if e := pending(st, activity); e != nil {
		return e, nil
	}
	return nil, noSchedule(id, activity, "no occurrence to come")
}

// pending is the occurrence that the schedule of an activity waits for, nil if there is none.
func pending(st *store.DefinitionState, activity string) *store.CronEntry {
	for i := range st.Crons {
		if e := &st.Crons[i]; e.ActivityID == activity && st.Head.Fires(e) {
			return e
		}
	}
	return nil
}

func noSchedule(id, activity, has string) error {
	return workflow.Fail(workflow.CodeScheduleNotFound, fmt.Sprintf("the activity %q of definition %s has %s", workflow.Shorten(activity), id, has))
}

// Skip drops the occurrence of a schedule that is due at a time, and no other: skipped is
// false if it is not the one to come. next is the one that is then, zero if there is none.
//
// It is a change of the definition. Publications keep what it left, as long as the definition is
// published and the schedule stays the same. Nothing follows the last occurrence in which they
// could see that it was skipped, so that one, such as a startAt, is refused with invalid-request.
// Other errors are those of ToCome; schedule-not-found only if the activity is no schedule.
func (s Schedules) Skip(ctx context.Context, id, activity string, due time.Time) (skipped bool, next time.Time, err error) {
	_, err = s.c.change(ctx, id, func(st *store.DefinitionState) (*store.DefinitionHead, error) {
		skipped, next = false, time.Time{}
		if st.Head.Published == 0 {
			return nil, notFound(id)
		}
		e := pending(st, activity)
		if e == nil {
			return st.Head, s.isOne(ctx, st.Head, activity)
		}
		if next = e.Due; !next.Equal(due) {
			return st.Head, nil
		}
		following := *e
		var more bool
		if following.Due, more = schedule.Next(e, e.Due); !more {
			return nil, workflow.Fail(workflow.CodeInvalid, fmt.Sprintf("the occurrence of %q of definition %s is its only one, and the next publication would bring it back; "+
				"publish the definition without it, or retract the definition", workflow.Shorten(activity), id))
		}
		head, err := s.c.store.SkipSchedule(ctx, st, e, &following, s.c.now())
		if err == nil {
			skipped, next = true, following.Due
		}
		return head, err
	})
	if err != nil {
		return false, time.Time{}, err
	}
	return skipped, next, nil
}

// clocksApart is how far the clocks of nodes that fire may be from this one's.
const clocksApart = time.Minute

// Lasting are the schedules of a version that have an occurrence after now, by the clocks of
// all nodes. Errors as for [Catalog.Program].
func (s Schedules) Lasting(ctx context.Context, id string, version int) ([]store.CronEntry, error) {
	prog, def, err := s.c.Program(ctx, id, version)
	if err != nil {
		return nil, err
	}
	now := s.c.now().Add(clocksApart)
	idx, _ := index(def, prog.Triggers(), now)
	return slices.DeleteFunc(idx.Schedules, func(e store.CronEntry) bool {
		_, more := schedule.Next(&e, now)
		return !more
	}), nil
}

// isOne tells, with schedule-not-found if not, whether an activity of the published version is
// the trigger of a schedule.
func (s Schedules) isOne(ctx context.Context, head *store.DefinitionHead, activity string) error {
	prog, _, err := s.c.Program(ctx, head.ID, head.Published)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(prog.Triggers(), func(t engine.Trigger) bool {
		return t.ActivityID == activity && (t.Cron != "" || t.Every > 0 || t.At != nil)
	}) {
		return nil
	}
	return noSchedule(head.ID, activity, "no schedule")
}
