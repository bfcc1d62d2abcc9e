package httpapi

import (
	"cmp"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// retryBody says which faulted instances to retry.
type retryBody struct {
	DefinitionID  string `json:"definitionId" doc:"Of this definition; of all if absent."`
	CorrelationID string `json:"correlationId" doc:"With this correlation id; with any, or none, if absent."`
	Limit         int    `json:"limit" doc:"How many at once, 1 to 500, 50 if absent."`
	Cursor        string `json:"cursor" doc:"nextCursor of the answer before."`
}

type retriedView struct {
	Retried    []string           `json:"retried" doc:"Ids of the instances whose retry is applied or durably accepted."`
	Refused    []retryRefusedView `json:"refused"`
	NextCursor *string            `json:"nextCursor" doc:"Pass it as cursor for the next ones; null at the end."`
}

type retryRefusedView struct {
	InstanceID string        `json:"instanceId"`
	Code       workflow.Code `json:"code" doc:"Why, such as instance-finished: it is not faulted any more."`
}

func (a *API) retryRoute() route {
	return route{
		method: "POST", path: "/instances/retry", name: "retryInstances", role: auth.Operator, tag: "instances", kind: changes, target: "instances",
		summary: "Run every faulted instance of a filter again from the activity that faulted, a page at a time",
		body:    retryBody{}, answers: map[int]any{200: retriedView{}}, serve: (*call).retryFaulted,
	}
}

func (c *call) retryFaulted() (reply, error) {
	var b retryBody
	if err := c.decode(&b); err != nil {
		return reply{}, err
	}
	c.about("definition", cmp.Or(b.DefinitionID, "any"), "correlation", b.CorrelationID, "after", b.Cursor)
	if err := checkIDs([2]string{"definitionId", b.DefinitionID}); err != nil {
		return reply{}, err
	}
	if err := checkNames([2]string{"correlationId", b.CorrelationID}); err != nil {
		return reply{}, err
	}
	if b.Limit < 0 || b.Limit > 500 {
		return reply{}, invalid("bad-limit", "/limit", "limit must be from 1 to 500")
	}
	res, err := c.api.cfg.Runtime.RetryFaulted(c.r.Context(), runtime.RetryFilter{
		DefinitionID: b.DefinitionID, CorrelationID: b.CorrelationID, Limit: b.Limit, Cursor: b.Cursor,
	})
	if err != nil {
		return reply{}, err
	}
	refused := each(res.Refused, func(r runtime.RetryRefusal) retryRefusedView { return retryRefusedView(r) })
	return reply{body: retriedView{Retried: res.Retried, Refused: refused, NextCursor: some(res.Next)}}, nil
}
