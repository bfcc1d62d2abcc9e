package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/explain"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// startBody is what execute and dispatch take.
type startBody struct {
	Input         map[string]any `json:"input" doc:"Values of the definition's inputs."`
	CorrelationID string         `json:"correlationId"`
	InstanceID    string         `json:"instanceId" doc:"Id of the new instance; made if absent."`
	Name          string         `json:"name"`
	Version       int            `json:"version" doc:"Version of the definition; the published one if absent."`
	Properties    map[string]any `json:"properties" doc:"Such as {\"Flowchart:ExecutionMode\": \"TokenBased\"}."`
}

type dispatchedView struct {
	InstanceID string `json:"instanceId"`
}

// stateView is an instance as it is exported and imported.
type stateView struct {
	Sequence int64           `json:"sequence" doc:"Of the last commit; the ETag."`
	Instance json.RawMessage `json:"instance" doc:"The header, in the form of the store."`
	State    json.RawMessage `json:"state" doc:"The engine's state; opaque."`
}

func (a *API) instanceRoutes() []route {
	missing := workflow.CodeInstanceNotFound
	return []route{
		{method: "POST", path: "/definitions/{id}/execute", name: "executeDefinition", role: auth.Operator, tag: "definitions", kind: starts,
			summary:    "Start an instance and answer after its first burst is committed, also when it faulted",
			idempotent: true, waits: true, body: startBody{}, answers: map[int]any{200: instanceView{}, 202: instanceView{}},
			problems: []workflow.Code{workflow.CodeDefinitionNotFound, workflow.CodeInstanceExists, workflow.CodeInstanceGated, workflow.CodeKeyReused, workflow.CodePaused},
			serve:    (*call).execute},
		{method: "POST", path: "/definitions/{id}/dispatch", name: "dispatchDefinition", role: auth.Operator, tag: "definitions", kind: starts,
			summary:    "Start an instance and answer once that is durable",
			idempotent: true, body: startBody{}, answers: map[int]any{202: dispatchedView{}},
			problems: []workflow.Code{workflow.CodeDefinitionNotFound, workflow.CodeInstanceExists, workflow.CodeInstanceGated, workflow.CodeKeyReused, workflow.CodePaused},
			serve:    (*call).dispatch},
		a.listRoute(),
		{method: "GET", path: "/instances/{id}", name: "getInstance", role: auth.Viewer, tag: "instances", kind: reads, waits: true,
			summary: "Show an instance; with Prefer: wait, at its end",
			answers: map[int]any{200: instanceView{}}, problems: []workflow.Code{missing}, serve: (*call).getInstance},
		{method: "GET", path: "/instances/{id}/state", name: "exportState", costly: true, role: auth.Operator, tag: "instances", kind: reads, audited: true,
			summary: "Export the instance with everything that it needs to go on",
			answers: map[int]any{200: stateView{}}, problems: []workflow.Code{missing}, serve: (*call).export},
		{method: "PUT", path: "/instances/{id}/state", name: "importState", costly: true, role: auth.Admin, tag: "instances", kind: changes, ifMatch: "The ETag of the export; 412 if the instance has moved since.",
			summary: "Replace the state of an instance by an exported one, or bring one that is not there", body: stateView{}, maxBody: maxState,
			answers: map[int]any{200: stateView{}}, problems: []workflow.Code{workflow.CodeDefinitionNotFound, workflow.CodeInstanceMoved, workflow.CodeInstanceGated}, serve: (*call).importState},
		{method: "POST", path: "/instances/{id}/cancel", name: "cancelInstance", role: auth.Operator, tag: "instances", kind: changes, reserved: true,
			summary: "End the instance, and the call that it waits for outside",
			answers: map[int]any{200: instanceView{}, 202: instanceView{}}, problems: []workflow.Code{missing, workflow.CodeInstanceFinished}, serve: (*call).cancel},
		a.retryRoute(), a.retryOneRoute(), a.alterRoute(),
		{method: "DELETE", path: "/instances/{id}", name: "deleteInstance", role: auth.Operator, tag: "instances", kind: changes,
			summary: "Cancel the instance if it runs, and remove it",
			answers: map[int]any{204: nil, 202: dispatchedView{}}, problems: []workflow.Code{missing}, serve: (*call).remove},
	}
}

var pageParams = []param{
	{name: "limit", typ: "integer", doc: "Items of a page, 1 to 500, 50 if absent."},
	{name: "cursor", typ: "string", doc: "nextCursor of the page before."},
}

// maxState bounds an imported state: more does not fit into one transaction.
const maxState = 2 << 20

// startRequest reads what execute and dispatch have in common.
func (c *call) startRequest() (runtime.StartRequest, error) {
	var b startBody
	id, err := c.id()
	if err != nil {
		return runtime.StartRequest{}, err
	}
	if err := c.decode(&b); err != nil {
		return runtime.StartRequest{}, err
	}
	if err := checkIDs([2]string{"instanceId", b.InstanceID}); err != nil {
		return runtime.StartRequest{}, err
	}
	if err := checkNames([2]string{"correlationId", b.CorrelationID}, [2]string{"name", b.Name}); err != nil {
		return runtime.StartRequest{}, err
	}
	if b.Version < 0 {
		return runtime.StartRequest{}, invalid("bad-version", "/version", "version must be 1 or more")
	}
	key, err := c.key()
	return runtime.StartRequest{
		DefinitionID: id, Version: b.Version, InstanceID: b.InstanceID, CorrelationID: b.CorrelationID,
		Name: b.Name, Input: b.Input, Properties: b.Properties, Key: key,
	}, err
}

func (c *call) execute() (reply, error) {
	req, err := c.startRequest()
	if err != nil {
		return reply{}, err
	}
	res, err := c.api.cfg.Runtime.Execute(c.r.Context(), req)
	if err != nil {
		return reply{}, err
	}
	if c.wait() > 0 && res.Instance.Status != workflow.StatusFinished {
		// The start is done; that a look fails afterwards does not undo it.
		if in, err := c.waitInstance(res.Instance.ID); err == nil {
			res.Instance, res.Accepted = in, res.Accepted && isUnder(in)
		}
	}
	answer := reply{body: viewInstance(res.Instance), location: instancePath(res.Instance.ID)}
	if res.Accepted {
		answer.status = 202
	}
	return answer, nil
}

// isUnder tells that the first burst is not committed yet.
func isUnder(in workflow.Instance) bool {
	return in.SubStatus == workflow.Pending || in.SubStatus == workflow.Executing
}

func (c *call) dispatch() (reply, error) {
	req, err := c.startRequest()
	if err != nil {
		return reply{}, err
	}
	id, err := c.api.cfg.Runtime.Dispatch(c.r.Context(), req)
	if err != nil {
		return reply{}, err
	}
	return reply{status: 202, body: dispatchedView{id}, location: instancePath(id)}, nil
}

func (c *call) getInstance() (reply, error) {
	id, err := c.id()
	if err != nil {
		return reply{}, err
	}
	in, err := c.waitInstance(id)
	return reply{body: viewInstance(in)}, err
}

// waitInstance waits as long as the client prefers, and no longer than this
// node takes requests.
func (c *call) waitInstance(id string) (workflow.Instance, error) {
	wait := c.wait()
	if wait == 0 {
		return c.api.cfg.Runtime.Instance(c.r.Context(), id)
	}
	ctx, stop := c.api.untilDrain(c.r.Context())
	defer stop()
	in, err := c.api.cfg.Runtime.WaitInstance(ctx, id, wait)
	if err != nil && ctx.Err() != nil && c.r.Context().Err() == nil {
		return c.api.cfg.Runtime.Instance(c.r.Context(), id)
	}
	return in, err
}

func (c *call) export() (reply, error) {
	id, err := c.id()
	if err != nil {
		return reply{}, err
	}
	state, err := c.api.cfg.Runtime.Export(c.r.Context(), id)
	if err != nil {
		return reply{}, err
	}
	return viewState(state)
}

func viewState(s runtime.StateExport) (reply, error) {
	header, err := json.Marshal(s.Instance)
	if err != nil {
		return reply{}, fmt.Errorf("encode the header of %s: %w", s.Instance.ID, err)
	}
	return reply{body: stateView{s.Sequence, header, s.State}, etag: `"` + strconv.FormatInt(s.Sequence, 10) + `"`}, nil
}

func (c *call) importState() (reply, error) {
	id, err := c.id()
	if err != nil {
		return reply{}, err
	}
	ifSeq, err := c.ifMatch()
	if err != nil {
		return reply{}, err
	}
	var b stateView
	if err := c.decode(&b); err != nil {
		return reply{}, err
	}
	in := runtime.StateExport{Sequence: b.Sequence, State: b.State}
	if len(b.Instance) == 0 || len(b.State) == 0 {
		return reply{}, invalid("missing-field", "", "an exported state has the fields sequence, instance and state")
	}
	if err := workflow.Unmarshal(b.Instance, &in.Instance); err != nil {
		return reply{}, invalid("wrong-type", "/instance", "instance is not the header of an exported instance: "+err.Error())
	}
	if in.Instance.ID != id {
		return reply{}, invalid("wrong-instance", "/instance/instanceId", "the state belongs to another instance than the path")
	}
	state, err := c.api.cfg.Runtime.Import(c.r.Context(), id, in, ifSeq)
	if err != nil {
		return reply{}, err
	}
	return viewState(state)
}

// ifMatch reads the sequence number that the instance must be at; 0: any.
func (c *call) ifMatch() (int64, error) {
	text := strings.TrimSpace(c.r.Header.Get("If-Match"))
	switch text {
	case "", "*":
		return 0, nil
	}
	n, err := strconv.ParseInt(strings.Trim(text, `"`), 10, 64)
	if err != nil || n <= 0 || text != `"`+strconv.FormatInt(n, 10)+`"` {
		return 0, workflow.Fail(workflow.CodeInstanceMoved, "If-Match is not an ETag of an instance")
	}
	return n, nil
}

func (c *call) cancel() (reply, error) {
	interrupted := ""
	answer, err := c.command(func(ctx context.Context, id string) (accepted bool, err error) {
		did, err := c.api.cfg.Runtime.Cancel(ctx, id)
		interrupted = did.Interrupted
		return did.Accepted, err
	})
	if view, ok := answer.body.(instanceView); ok && err == nil {
		view.Interrupted = interrupted
		if answer.status == http.StatusAccepted {
			view.NotYet = c.notYet(view.InstanceID)
		}
		answer.body = view
	}
	return answer, err
}

// notYet says what an instance is at that is to be cancelled; "": that could not be found out,
// or it is over by now. The cancel stands either way.
func (c *call) notYet(id string) string {
	x, err := c.api.cfg.Explainer.Instance(c.r.Context(), id, peersOf(c))
	if err != nil || x.State != explain.Running && x.State != explain.Queued {
		return ""
	}
	var texts []string
	for _, r := range x.Reasons {
		if r.Kind != "mail" || x.State == explain.Queued { // among it is the cancel
			texts = append(texts, r.Text)
		}
	}
	return strings.Join(texts, "; ")
}

func (c *call) remove() (reply, error) {
	id, err := c.id()
	if err != nil {
		return reply{}, err
	}
	accepted, err := c.api.cfg.Runtime.Delete(c.r.Context(), id)
	if err != nil {
		return reply{}, err
	}
	if accepted {
		return reply{status: 202, body: dispatchedView{id}, location: instancePath(id)}, nil
	}
	return reply{status: 204}, nil
}
