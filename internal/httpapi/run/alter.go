package run

import (
	"errors"
	"slices"
	"strings"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/httpapi/schema"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/httpapi/shape"
	"github.com/weft-run/weft/pkg/runtime/commands"
	"github.com/weft-run/weft/pkg/workflow"
)

// alterBody is what to change in an instance, together.
type alterBody struct {
	Alterations []shape.Alteration `json:"alterations" doc:"Made in this order and in one commit, all or none; up to 100."`
	Reason      string             `json:"reason" doc:"Why, for the journal."`
}

// retryOneBody says from where an instance is run again.
type retryOneBody struct {
	From      string `json:"from" doc:"Id of the activity to run again from its beginning; absent: the call that failed."`
	Execution int64  `json:"execution" doc:"Which execution of it, as the journal numbers them; needed if several run."`
	KeepKey   *bool  `json:"keepKey" doc:"Whether the call is made with the idempotency key of the call before; true if absent."`
	Again     bool   `json:"again" doc:"Also if a branch that ran since the call failed (onGiveUp, onTimeout, an outcome) may have undone what it did."`
	Reason    string `json:"reason" doc:"Why, for the journal."`
}

// alteredView is what alterations would do.
type alteredView struct {
	Fits         bool                `json:"fits" doc:"Whether they would be made."`
	Code         workflow.Code       `json:"code,omitempty" doc:"Why not, if the instance is not in a state for it."`
	Errors       []serve.ProblemItem `json:"errors" doc:"Each thing that does not fit, with its place."`
	Did          []string            `json:"did" doc:"A sentence for each change."`
	Next         []string            `json:"next" doc:"Ids of the activities that would run then."`
	Version      int                 `json:"version" doc:"Of the definition, afterwards."`
	SubStatus    workflow.SubStatus  `json:"subStatus" doc:"Before the next activities run."`
	BasedOn      int64               `json:"basedOn" doc:"The sequence number of the commit that was looked at: a later one may fit no more."`
	InstanceID   string              `json:"instanceId"`
	DefinitionID string              `json:"definitionId"`
}

func alterRoute() serve.Route {
	return serve.Route{
		Method: "POST", Path: "/instances/{id}/alterations", Name: "alterInstance", Role: auth.Operator, Tag: "instances", Kind: serve.Changes, Idempotent: true,
		Summary: "Change an instance that runs or is faulted: run activities again, skip them, set variables, migrate, reschedule, cancel",
		Query:   []serve.Param{{Name: "dryRun", Type: "boolean", Doc: "Tell what would happen, and change nothing."}},
		Body:    alterBody{}, Answers: map[int]any{200: schema.OneOf{shape.Instance{}, alteredView{}}, 202: shape.Instance{}},
		Problems: []workflow.Code{workflow.CodeInstanceNotFound, workflow.CodeInstanceFinished, workflow.CodeInstanceNotFaulted, workflow.CodeInstanceUndone, workflow.CodeInstanceGated, workflow.CodeKeyReused}, Serve: alterInstance,
	}
}

func retryOneRoute() serve.Route {
	return serve.Route{
		Method: "POST", Path: "/instances/{id}/retry", Name: "retryInstance", Role: auth.Operator, Tag: "instances", Kind: serve.Changes, Idempotent: true,
		Summary: "Run an instance again: what failed, or from an activity", Body: retryOneBody{},
		Answers:  map[int]any{200: shape.Instance{}, 202: shape.Instance{}},
		Problems: []workflow.Code{workflow.CodeInstanceNotFound, workflow.CodeInstanceFinished, workflow.CodeInstanceNotFaulted, workflow.CodeInstanceUndone, workflow.CodeInstanceGated, workflow.CodeKeyReused}, Serve: retryInstance,
	}
}

func alterInstance(c *serve.Call) (serve.Reply, error) {
	id, err := c.ID()
	if err != nil {
		return serve.Reply{}, err
	}
	dryRun, err := c.DryRun()
	if err != nil {
		return serve.Reply{}, err
	}
	var b alterBody
	if err := c.Decode(&b); err != nil {
		return serve.Reply{}, err
	}
	alter := &workflow.Alter{By: c.By(), Reason: b.Reason, Alterations: shape.Each(b.Alterations, func(one shape.Alteration) workflow.Alteration { return one.Alteration() })}
	if dryRun {
		p, err := c.API.Config.Runtime.Commands.PreviewAlter(c.Request.Context(), id, alter)
		return serve.Reply{Body: viewAltered(p)}, err
	}
	return alterBy(c, id, alter)
}

func alterBy(c *serve.Call, id string, alter *workflow.Alter) (serve.Reply, error) {
	key, err := c.Key()
	if err != nil {
		return serve.Reply{}, err
	}
	accepted, err := c.API.Config.Runtime.Commands.Alter(c.Request.Context(), id, alter, key)
	if err != nil {
		return serve.Reply{}, err
	}
	return commanded(c, id, accepted)
}

func retryInstance(c *serve.Call) (serve.Reply, error) {
	id, err := c.ID()
	if err != nil {
		return serve.Reply{}, err
	}
	var b retryOneBody
	if err := c.Decode(&b); err != nil {
		return serve.Reply{}, err
	}
	one := shape.Alteration{Type: string(workflow.AlterRetry), Activity: b.From, Execution: b.Execution, KeepKey: b.KeepKey, Again: b.Again}
	answer, err := alterBy(c, id, &workflow.Alter{By: c.By(), Reason: b.Reason, Alterations: []workflow.Alteration{one.Alteration()}})
	return answer, inRetry(err)
}

// inRetry gives what is wrong its place in the body of a retry, which is one alteration.
func inRetry(err error) error {
	var e *workflow.Error
	if !errors.As(err, &e) || len(e.Problems) == 0 {
		return err
	}
	at := *e
	at.Problems = slices.Clone(e.Problems)
	for i := range at.Problems {
		place := &at.Problems[i].Place
		if place.Pointer = strings.TrimPrefix(place.Pointer, "/alterations/0"); place.Pointer == "/activity" {
			place.Pointer = "/from"
		}
	}
	return &at
}

func viewAltered(p commands.AlterPreview) alteredView {
	v := alteredView{
		Fits: p.Code == "", Code: p.Code, Errors: serve.ProblemItems(p.Problems), Did: p.Did, Next: p.Next, BasedOn: p.Sequence,
		Version: p.Instance.Version, SubStatus: p.Instance.SubStatus, InstanceID: p.Instance.ID, DefinitionID: p.Instance.DefinitionID,
	}
	if v.Errors == nil {
		v.Errors = []serve.ProblemItem{}
	}
	if v.Did == nil {
		v.Did = []string{}
	}
	if v.Next == nil {
		v.Next = []string{}
	}
	return v
}
