package run

import (
	"cmp"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/httpapi/shape"
	"github.com/weft-run/weft/pkg/runtime/commands"
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

func retryRoute() serve.Route {
	return serve.Route{
		Method: "POST", Path: "/instances/retry", Name: "retryInstances", Role: auth.Operator, Tag: "instances", Kind: serve.Changes, Once: true, Target: "instances",
		Summary: "Run every faulted instance of a filter again from the activity that faulted, a page at a time",
		Body:    retryBody{}, Answers: map[int]any{200: retriedView{}}, Serve: retryFaulted,
	}
}

func retryFaulted(c *serve.Call) (serve.Reply, error) {
	var b retryBody
	if err := c.Decode(&b); err != nil {
		return serve.Reply{}, err
	}
	c.About("definition", cmp.Or(b.DefinitionID, "any"), "correlation", b.CorrelationID, "after", b.Cursor)
	if err := serve.InvalidFields(c.EmptyFilters("definitionId", "correlationId")); err != nil {
		return serve.Reply{}, err
	}
	if err := serve.CheckIDs([2]string{"definitionId", b.DefinitionID}); err != nil {
		return serve.Reply{}, err
	}
	if err := serve.CheckNames([2]string{"correlationId", b.CorrelationID}); err != nil {
		return serve.Reply{}, err
	}
	if b.Limit < 0 || b.Limit > 500 {
		return serve.Reply{}, serve.Invalid("bad-limit", "/limit", "limit must be from 1 to 500")
	}
	res, err := c.API.Config.Runtime.Commands.RetryFaulted(c.Request.Context(), commands.RetryFilter{
		DefinitionID: b.DefinitionID, CorrelationID: b.CorrelationID, Limit: b.Limit, Cursor: b.Cursor,
	})
	if err != nil {
		return serve.Reply{}, err
	}
	refused := shape.Each(res.Refused, func(r commands.RetryRefusal) retryRefusedView { return retryRefusedView(r) })
	return serve.Reply{Body: retriedView{Retried: res.Retried, Refused: refused, NextCursor: shape.Some(res.Next)}}, nil
}
