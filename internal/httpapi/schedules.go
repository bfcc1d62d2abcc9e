package httpapi

import (
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/pkg/workflow"
)

// scheduleRoutes act on what starts definitions by the clock.
func scheduleRoutes() []route {
	missing := []workflow.Code{workflow.CodeDefinitionNotFound, workflow.CodeScheduleNotFound}
	return []route{
		{method: "POST", path: "/definitions/{id}/schedules/{activity}/fire", name: "fireSchedule", role: auth.Operator, tag: "definitions", kind: starts,
			summary: "Start what a schedule starts, now and beside its time; answered once that is durable", idempotent: true,
			answers:  map[int]any{202: dispatchedView{}},
			problems: append([]workflow.Code{workflow.CodeInstanceExists, workflow.CodeInstanceGated, workflow.CodeKeyReused, workflow.CodePaused}, missing...), serve: (*call).fireSchedule},
		{method: "POST", path: "/definitions/{id}/schedules/{activity}/skip", name: "skipSchedule", role: auth.Operator, tag: "definitions", kind: changes,
			summary: "Drop the occurrence of a schedule that is due at a time: nothing starts by it", body: skipBody{},
			answers: map[int]any{200: skippedView{}}, problems: append([]workflow.Code{workflow.CodeDefinitionMoved}, missing...), serve: (*call).skipSchedule},
	}
}

type skipBody struct {
	DueAt time.Time `json:"dueAt" doc:"Of the occurrence, as GET /timers has it. Another one is never dropped."`
}

type skippedView struct {
	Skipped bool       `json:"skipped" doc:"Whether it was dropped; false: it is not the one to come: it was fired, or skipped, or is not the next one. The only one of a schedule, such as a startAt, is refused."`
	Next    *time.Time `json:"next" doc:"When the one to come is due; null: there is none."`
}

func (c *call) fireSchedule() (reply, error) {
	id, err := c.id()
	if err != nil {
		return reply{}, err
	}
	if err := c.decode(&struct{}{}); err != nil {
		return reply{}, err
	}
	c.about("", id, "activity", shorten(c.r.PathValue("activity")))
	key, err := c.key()
	if err != nil {
		return reply{}, err
	}
	instance, err := c.api.cfg.Runtime.FireSchedule(c.r.Context(), id, c.r.PathValue("activity"), key)
	if err != nil {
		return reply{}, err
	}
	return reply{status: 202, body: dispatchedView{instance}, location: instancePath(instance)}, nil
}

func (c *call) skipSchedule() (reply, error) {
	id, err := c.id()
	if err != nil {
		return reply{}, err
	}
	var b skipBody
	if err := c.decode(&b); err != nil {
		return reply{}, err
	}
	c.about("", id, "activity", shorten(c.r.PathValue("activity")), "due", b.DueAt.UTC().Format(time.RFC3339Nano))
	skipped, next, err := c.api.cfg.Runtime.SkipSchedule(c.r.Context(), id, c.r.PathValue("activity"), b.DueAt)
	if err != nil {
		return reply{}, err
	}
	return reply{body: skippedView{skipped, knownTime(next)}}, nil
}
