package httpapi

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// alterBody is what to change in an instance, together.
type alterBody struct {
	Alterations []alterationBody `json:"alterations" doc:"Made in this order and in one commit, all or none; up to 100."`
	Reason      string           `json:"reason" doc:"Why, for the journal."`
}

type alterationBody struct {
	Type       string            `json:"type" enum:"retry,skip,setVariable,migrate,reschedule,cancel"`
	Activity   string            `json:"activity" doc:"Id of the activity; of setVariable: whose scope has the variable. Absent: what faulted (retry), the instance (cancel), the only one there is."`
	Execution  int64             `json:"execution" doc:"Which execution of the activity, as the journal numbers them; needed if several run."`
	KeepKey    *bool             `json:"keepKey" doc:"retry: whether the call is made with the idempotency key of the call before; true if absent."`
	Again      bool              `json:"again" doc:"retry: also if a branch that ran since the call failed (onGiveUp, onTimeout, an outcome) may have undone what it did."`
	Outcomes   []string          `json:"outcomes" doc:"skip: what the activity completes with; Done if absent."`
	Variable   string            `json:"variable" doc:"setVariable: name or id."`
	Value      any               `json:"value" doc:"setVariable: any value; null clears it."`
	Version    int               `json:"version" doc:"migrate: the version of the definition to go on with."`
	Activities map[string]string `json:"activities" doc:"migrate: for activities that have another id in that version, from the old one to the new one."`
	Bookmark   string            `json:"bookmark" doc:"reschedule: id of the timer's bookmark; needed if several fit."`
	DueAt      *time.Time        `json:"dueAt" doc:"reschedule: when the timer is due."`
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
	Fits         bool               `json:"fits" doc:"Whether they would be made."`
	Code         workflow.Code      `json:"code,omitempty" doc:"Why not, if the instance is not in a state for it."`
	Errors       []problemItem      `json:"errors" doc:"Each thing that does not fit, with its place."`
	Did          []string           `json:"did" doc:"A sentence for each change."`
	Next         []string           `json:"next" doc:"Ids of the activities that would run then."`
	Version      int                `json:"version" doc:"Of the definition, afterwards."`
	SubStatus    workflow.SubStatus `json:"subStatus" doc:"Before the next activities run."`
	BasedOn      int64              `json:"basedOn" doc:"The sequence number of the commit that was looked at: a later one may fit no more."`
	InstanceID   string             `json:"instanceId"`
	DefinitionID string             `json:"definitionId"`
}

func (a *API) alterRoute() route {
	return route{
		method: "POST", path: "/instances/{id}/alterations", name: "alterInstance", role: auth.Operator, tag: "instances", kind: changes, idempotent: true,
		summary: "Change an instance that runs or is faulted: run activities again, skip them, set variables, migrate, reschedule, cancel",
		query:   []param{{name: "dryRun", typ: "boolean", doc: "Tell what would happen, and change nothing."}},
		body:    alterBody{}, answers: map[int]any{200: oneOf{instanceView{}, alteredView{}}, 202: instanceView{}},
		problems: []workflow.Code{workflow.CodeInstanceNotFound, workflow.CodeInstanceFinished, workflow.CodeInstanceNotFaulted, workflow.CodeInstanceUndone, workflow.CodeInstanceGated, workflow.CodeKeyReused}, serve: alterInstance,
	}
}

func (a *API) retryOneRoute() route {
	return route{
		method: "POST", path: "/instances/{id}/retry", name: "retryInstance", role: auth.Operator, tag: "instances", kind: changes, idempotent: true,
		summary: "Run an instance again: what failed, or from an activity", body: retryOneBody{},
		answers:  map[int]any{200: instanceView{}, 202: instanceView{}},
		problems: []workflow.Code{workflow.CodeInstanceNotFound, workflow.CodeInstanceFinished, workflow.CodeInstanceNotFaulted, workflow.CodeInstanceUndone, workflow.CodeInstanceGated, workflow.CodeKeyReused}, serve: retryInstance,
	}
}

// alteration is what the body says.
func (b *alterationBody) alteration() workflow.Alteration {
	return workflow.Alteration{
		Type: workflow.AlterationType(b.Type), Activity: b.Activity, Execution: b.Execution, NewKey: b.KeepKey != nil && !*b.KeepKey, Again: b.Again,
		Outcomes: b.Outcomes, Variable: b.Variable, Value: b.Value, Version: b.Version, Activities: b.Activities, Bookmark: b.Bookmark, DueAt: b.DueAt,
	}
}

// by is who asks, for the journal.
func (c *request) by() string {
	if p := exchangeOf(c.r).caller; p != nil {
		return p.Name
	}
	return ""
}

func alterInstance(c *call) (reply, error) {
	id, err := c.id()
	if err != nil {
		return reply{}, err
	}
	dryRun, err := c.dryRun()
	if err != nil {
		return reply{}, err
	}
	var b alterBody
	if err := c.decode(&b); err != nil {
		return reply{}, err
	}
	alter := &workflow.Alter{By: c.by(), Reason: b.Reason, Alterations: each(b.Alterations, func(one alterationBody) workflow.Alteration { return one.alteration() })}
	if dryRun {
		p, err := c.api.cfg.Runtime.PreviewAlter(c.r.Context(), id, alter)
		return reply{body: viewAltered(p)}, err
	}
	return alterBy(c, id, alter)
}

func alterBy(c *call, id string, alter *workflow.Alter) (reply, error) {
	key, err := c.key()
	if err != nil {
		return reply{}, err
	}
	accepted, err := c.api.cfg.Runtime.Alter(c.r.Context(), id, alter, key)
	if err != nil {
		return reply{}, err
	}
	return commanded(c, id, accepted)
}

func retryInstance(c *call) (reply, error) {
	id, err := c.id()
	if err != nil {
		return reply{}, err
	}
	var b retryOneBody
	if err := c.decode(&b); err != nil {
		return reply{}, err
	}
	one := alterationBody{Type: string(workflow.AlterRetry), Activity: b.From, Execution: b.Execution, KeepKey: b.KeepKey, Again: b.Again}
	answer, err := alterBy(c, id, &workflow.Alter{By: c.by(), Reason: b.Reason, Alterations: []workflow.Alteration{one.alteration()}})
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

func viewAltered(p runtime.AlterPreview) alteredView {
	v := alteredView{
		Fits: p.Code == "", Code: p.Code, Errors: problemItems(p.Problems), Did: p.Did, Next: p.Next, BasedOn: p.Sequence,
		Version: p.Instance.Version, SubStatus: p.Instance.SubStatus, InstanceID: p.Instance.ID, DefinitionID: p.Instance.DefinitionID,
	}
	if v.Errors == nil {
		v.Errors = []problemItem{}
	}
	if v.Did == nil {
		v.Did = []string{}
	}
	if v.Next == nil {
		v.Next = []string{}
	}
	return v
}
