package define

import (
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/httpapi/shape"
	"github.com/weft-run/weft/pkg/workflow"
)

// scheduleRoutes act on what starts definitions by the clock.
func scheduleRoutes() []serve.Route {
	missing := []workflow.Code{workflow.CodeDefinitionNotFound, workflow.CodeScheduleNotFound}
	return []serve.Route{
		{Method: "POST", Path: "/definitions/{id}/schedules/{activity}/fire", Name: "fireSchedule", Role: auth.Operator, Tag: "definitions", Kind: serve.Starts,
			Summary: "Start what a schedule starts, now and beside its time; answered once that is durable", Idempotent: true,
			Answers:  map[int]any{202: shape.Dispatched{}},
			Problems: append([]workflow.Code{workflow.CodeInstanceExists, workflow.CodeInstanceGated, workflow.CodeKeyReused, workflow.CodePaused}, missing...), Serve: fireSchedule},
		{Method: "POST", Path: "/definitions/{id}/schedules/{activity}/skip", Name: "skipSchedule", Role: auth.Operator, Tag: "definitions", Kind: serve.Changes,
			Summary: "Drop the occurrence of a schedule that is due at a time: nothing starts by it", Body: skipBody{},
			Answers: map[int]any{200: skippedView{}}, Problems: append([]workflow.Code{workflow.CodeDefinitionMoved}, missing...), Serve: skipSchedule},
	}
}

type skipBody struct {
	DueAt time.Time `json:"dueAt" doc:"Of the occurrence, as GET /timers has it. Another one is never dropped."`
}

type skippedView struct {
	Skipped bool       `json:"skipped" doc:"Whether it was dropped; false: it is not the one to come: it was fired, or skipped, or is not the next one. The only one of a schedule, such as a startAt, is refused."`
	Next    *time.Time `json:"next" doc:"When the one to come is due; null: there is none."`
}

func fireSchedule(c *serve.Call) (serve.Reply, error) {
	id, err := c.ID()
	if err != nil {
		return serve.Reply{}, err
	}
	if err := c.Decode(&struct{}{}); err != nil {
		return serve.Reply{}, err
	}
	c.About("", id, "activity", serve.Shorten(c.Request.PathValue("activity")))
	key, err := c.Key()
	if err != nil {
		return serve.Reply{}, err
	}
	instance, err := c.API.Config.Runtime.Starts.FireSchedule(c.Request.Context(), id, c.Request.PathValue("activity"), key)
	if err != nil {
		return serve.Reply{}, err
	}
	return serve.Reply{Status: 202, Body: shape.Dispatched{InstanceID: instance}, Location: shape.InstancePath(instance)}, nil
}

func skipSchedule(c *serve.Call) (serve.Reply, error) {
	id, err := c.ID()
	if err != nil {
		return serve.Reply{}, err
	}
	var b skipBody
	if err := c.Decode(&b); err != nil {
		return serve.Reply{}, err
	}
	c.About("", id, "activity", serve.Shorten(c.Request.PathValue("activity")), "due", b.DueAt.UTC().Format(time.RFC3339Nano))
	skipped, next, err := c.API.Config.Runtime.Starts.SkipSchedule(c.Request.Context(), id, c.Request.PathValue("activity"), b.DueAt)
	if err != nil {
		return serve.Reply{}, err
	}
	return serve.Reply{Body: skippedView{skipped, shape.KnownTime(next)}}, nil
}
