package run

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/explain"
	"github.com/weft-run/weft/internal/httpapi/peers"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/httpapi/shape"
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

// stateView is an instance as it is exported and imported.
type stateView struct {
	Sequence int64           `json:"sequence" doc:"Of the last commit; the ETag."`
	Instance json.RawMessage `json:"instance" doc:"The header, in the form of the store."`
	State    json.RawMessage `json:"state" doc:"The engine's state; opaque."`
	Files    []stateFileView `json:"files,omitzero" doc:"Those that lie beside the instance. Absent in the answer of an import."`
}

// stateFileView is a file of an exported instance.
type stateFileView struct {
	SHA256  string `json:"sha256" doc:"Of what is in it, in hexadecimal."`
	Bytes   int64  `json:"bytes"`
	Content string `json:"content" doc:"What is in it, in base64."`
	LeftOut bool   `json:"leftOut,omitempty" doc:"The export has no room for its content: an import needs the file beside the instance already."`
}

func instanceRoutes() []serve.Route {
	missing := workflow.CodeInstanceNotFound
	return []serve.Route{
		{Method: "POST", Path: "/definitions/{id}/execute", Name: "executeDefinition", Role: auth.Operator, Tag: "definitions", Kind: serve.Starts,
			Summary:    "Start an instance and answer after its first burst is committed, also when it faulted",
			Idempotent: true, Waits: true, Body: startBody{}, Answers: map[int]any{200: shape.Instance{}, 202: shape.Instance{}},
			Problems: []workflow.Code{workflow.CodeDefinitionNotFound, workflow.CodeInstanceExists, workflow.CodeInstanceGated, workflow.CodeKeyReused, workflow.CodePaused},
			Serve:    execute},
		{Method: "POST", Path: "/definitions/{id}/dispatch", Name: "dispatchDefinition", Role: auth.Operator, Tag: "definitions", Kind: serve.Starts,
			Summary:    "Start an instance and answer once that is durable",
			Idempotent: true, Body: startBody{}, Answers: map[int]any{202: shape.Dispatched{}},
			Problems: []workflow.Code{workflow.CodeDefinitionNotFound, workflow.CodeInstanceExists, workflow.CodeInstanceGated, workflow.CodeKeyReused, workflow.CodePaused},
			Serve:    dispatch},
		listRoute(),
		{Method: "GET", Path: "/instances/{id}", Name: "getInstance", Role: auth.Viewer, Tag: "instances", Kind: serve.Reads, Waits: true,
			Summary: "Show an instance; with Prefer: wait, at its end",
			Answers: map[int]any{200: shape.Instance{}}, Problems: []workflow.Code{missing}, Serve: getInstance},
		{Method: "GET", Path: "/instances/{id}/state", Name: "exportState", Costly: true, Tagged: true, Role: auth.Operator, Tag: "instances", Kind: serve.Reads, Audited: true,
			Summary: "Export the instance with everything that it needs to go on, its files too",
			Answers: map[int]any{200: stateView{}}, Problems: []workflow.Code{missing}, Serve: exportState},
		{Method: "PUT", Path: "/instances/{id}/state", Name: "importState", Costly: true, Role: auth.Admin, Tag: "instances", Kind: serve.Changes, IfMatch: "The ETag of the export; 412 if the instance has moved since.",
			Summary: "Replace the state of an instance by an exported one, or bring one that is not there", Body: stateView{}, MaxBody: maxState,
			Answers: map[int]any{200: stateView{}}, Problems: []workflow.Code{workflow.CodeDefinitionNotFound, workflow.CodeInstanceMoved, workflow.CodeInstanceGated}, Serve: importState},
		{Method: "POST", Path: "/instances/{id}/cancel", Name: "cancelInstance", Role: auth.Operator, Tag: "instances", Kind: serve.Changes, Reserved: true, Idempotent: true,
			Summary: "End the instance, and the call that it waits for outside",
			Answers: map[int]any{200: shape.Instance{}, 202: shape.Instance{}}, Problems: []workflow.Code{missing, workflow.CodeInstanceFinished, workflow.CodeKeyReused}, Serve: cancelInstance},
		retryRoute(), retryOneRoute(), alterRoute(),
		{Method: "DELETE", Path: "/instances/{id}", Name: "deleteInstance", Role: auth.Operator, Tag: "instances", Kind: serve.Changes,
			Summary: "Cancel the instance if it runs, and remove it",
			Answers: map[int]any{204: nil, 202: shape.Dispatched{}}, Problems: []workflow.Code{missing}, Serve: deleteInstance},
	}
}

// maxState bounds an imported state, so that each export can be imported: what an instance may have as JSON (16 MiB), and
// some 450 bytes for each of the places where it waits, which may be 100,000.
const maxState = 64 << 20

// maxListed is how many bytes of an export the hashes of its files take, and what stands around them.
const maxListed = 64 << 10

// startRequest reads what execute and dispatch have in common.
func startRequest(c *serve.Call) (runtime.StartRequest, error) {
	var b startBody
	id, err := c.ID()
	if err != nil {
		return runtime.StartRequest{}, err
	}
	if err := c.Decode(&b); err != nil {
		return runtime.StartRequest{}, err
	}
	if err := serve.CheckIDs([2]string{"instanceId", b.InstanceID}); err != nil {
		return runtime.StartRequest{}, err
	}
	if err := serve.CheckNames([2]string{"correlationId", b.CorrelationID}, [2]string{"name", b.Name}); err != nil {
		return runtime.StartRequest{}, err
	}
	if err := inTheHead(c, b.CorrelationID); err != nil {
		return runtime.StartRequest{}, err
	}
	if b.Version < 0 {
		return runtime.StartRequest{}, serve.Invalid("bad-version", "/version", "version must be 1 or more")
	}
	key, err := c.Key()
	return runtime.StartRequest{
		DefinitionID: id, Version: b.Version, InstanceID: b.InstanceID, CorrelationID: b.CorrelationID,
		Name: b.Name, Input: b.Input, Properties: b.Properties, Key: key,
	}, err
}

func execute(c *serve.Call) (serve.Reply, error) {
	req, err := startRequest(c)
	if err != nil {
		return serve.Reply{}, err
	}
	res, err := c.API.Config.Runtime.Starts.Execute(c.Request.Context(), req)
	if err != nil {
		return serve.Reply{}, err
	}
	if c.Wait() > 0 && res.Instance.Status != workflow.StatusFinished {
		// The start is done; that a look fails afterwards does not undo it.
		if in, err := waitInstance(c, res.Instance.ID); err == nil {
			res.Instance, res.Accepted = in, res.Accepted && isUnder(in)
		}
	}
	answer := serve.Reply{Body: shape.ViewInstance(res.Instance), Location: shape.InstancePath(res.Instance.ID)}
	if res.Accepted {
		answer.Status = 202
	}
	return answer, nil
}

// isUnder tells that the first burst is not committed yet.
func isUnder(in workflow.Instance) bool {
	return in.SubStatus == workflow.Pending || in.SubStatus == workflow.Executing
}

func dispatch(c *serve.Call) (serve.Reply, error) {
	req, err := startRequest(c)
	if err != nil {
		return serve.Reply{}, err
	}
	id, err := c.API.Config.Runtime.Starts.Dispatch(c.Request.Context(), req)
	if err != nil {
		return serve.Reply{}, err
	}
	return serve.Reply{Status: 202, Body: shape.Dispatched{InstanceID: id}, Location: shape.InstancePath(id)}, nil
}

func getInstance(c *serve.Call) (serve.Reply, error) {
	id, err := c.ID()
	if err != nil {
		return serve.Reply{}, err
	}
	in, err := waitInstance(c, id)
	return serve.Reply{Body: shape.ViewInstance(in)}, err
}

// waitInstance waits as long as the client prefers, and no longer than this
// node takes requests.
func waitInstance(c *serve.Call, id string) (workflow.Instance, error) {
	wait := c.Wait()
	if wait == 0 {
		return c.API.Config.Runtime.Inspector.Instance(c.Request.Context(), id)
	}
	ctx, stop := c.API.UntilDrain(c.Request.Context())
	defer stop()
	in, err := c.API.Config.Runtime.Inspector.WaitInstance(ctx, id, wait)
	if err != nil && ctx.Err() != nil && c.Request.Context().Err() == nil {
		return c.API.Config.Runtime.Inspector.Instance(c.Request.Context(), id)
	}
	return in, err
}

func exportState(c *serve.Call) (serve.Reply, error) {
	id, err := c.ID()
	if err != nil {
		return serve.Reply{}, err
	}
	state, err := c.API.Config.Runtime.Inspector.Export(c.Request.Context(), id)
	if err != nil {
		return serve.Reply{}, err
	}
	reply, err := viewState(state)
	if err != nil {
		return serve.Reply{}, err
	}
	view := reply.Body.(stateView)
	list, err := c.API.Config.Runtime.Commands.Files(c.Request.Context(), id, max(0, maxState-maxListed-int64(len(view.Instance)+len(view.State)))/4*3)
	if err != nil {
		return serve.Reply{}, err
	}
	view.Files = []stateFileView{}
	for i := range list {
		f := &list[i]
		view.Files = append(view.Files, stateFileView{f.Hash, f.Bytes, base64.StdEncoding.EncodeToString(f.Content), f.LeftOut})
		f.Content = nil
	}
	reply.Body = view
	return reply, nil
}

func viewState(s runtime.StateExport) (serve.Reply, error) {
	header, err := json.Marshal(s.Instance)
	if err != nil {
		return serve.Reply{}, fmt.Errorf("encode the header of %s: %w", s.Instance.ID, err)
	}
	return serve.Reply{Body: stateView{Sequence: s.Sequence, Instance: header, State: s.State}, ETag: `"` + strconv.FormatInt(s.Sequence, 10) + `"`}, nil
}

func importState(c *serve.Call) (serve.Reply, error) {
	id, err := c.ID()
	if err != nil {
		return serve.Reply{}, err
	}
	ifSeq, err := ifMatch(c)
	if err != nil {
		return serve.Reply{}, err
	}
	var b stateView
	if err := c.Decode(&b); err != nil {
		return serve.Reply{}, err
	}
	in := runtime.StateExport{Sequence: b.Sequence, State: b.State}
	if len(b.Instance) == 0 || len(b.State) == 0 {
		return serve.Reply{}, serve.Invalid("missing-field", "", "an exported state has the fields sequence, instance and state")
	}
	if err := workflow.Unmarshal(b.Instance, &in.Instance); err != nil {
		return serve.Reply{}, serve.Invalid("wrong-type", "/instance", "instance is not the header of an exported instance: "+err.Error())
	}
	if in.Instance.ID != id {
		return serve.Reply{}, serve.Invalid("wrong-instance", "/instance/instanceId", "the state belongs to another instance than the path")
	}
	if in.Files, err = filesOf(c, b.Files); err != nil {
		return serve.Reply{}, err
	}
	state, err := c.API.Config.Runtime.Commands.Import(c.Request.Context(), id, in, ifSeq)
	if err != nil {
		return serve.Reply{}, err
	}
	return viewState(state)
}

// filesOf are the files of an export; nil if it does not say which.
func filesOf(c *serve.Call, views []stateFileView) ([]runtime.StateFile, error) {
	if views == nil {
		return nil, nil
	}
	list := make([]runtime.StateFile, len(views))
	for i := range views {
		f := &views[i]
		if err := c.Charge(int64(len(f.Content))); err != nil {
			return nil, err
		}
		data, err := base64.StdEncoding.DecodeString(f.Content)
		if err != nil {
			return nil, serve.Invalid("wrong-type", fmt.Sprintf("/files/%d/content", i), "the content of a file is base64: "+err.Error())
		}
		list[i] = runtime.StateFile{Hash: f.SHA256, Bytes: f.Bytes, Content: data, LeftOut: f.LeftOut}
		f.Content = ""
	}
	return list, nil
}

// ifMatch reads the sequence number that the instance must be at; 0: any.
func ifMatch(c *serve.Call) (int64, error) {
	text := strings.TrimSpace(c.Request.Header.Get("If-Match"))
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

func cancelInstance(c *serve.Call) (serve.Reply, error) {
	interrupted := ""
	key, err := c.Key()
	if err != nil {
		return serve.Reply{}, err
	}
	answer, err := command(c, func(ctx context.Context, id string) (accepted bool, err error) {
		did, err := c.API.Config.Runtime.Commands.Cancel(ctx, id, key)
		interrupted = did.Interrupted
		return did.Accepted, err
	})
	if view, ok := answer.Body.(shape.Instance); ok && err == nil {
		view.Interrupted = interrupted
		switch {
		case answer.Status == http.StatusAccepted:
			view.NotYet = notYet(c, view.InstanceID)
		case view.Status == workflow.StatusRunning:
			answer.Status, view.NotYet = http.StatusAccepted, "what it did is undone first"
		}
		answer.Body = view
	}
	return answer, err
}

// notYet says what an instance is at that is to be cancelled; "": that could not be found out,
// or it is over by now. The cancel stands either way.
func notYet(c *serve.Call, id string) string {
	x, err := c.API.Config.Explainer.Instance(c.Request.Context(), id, peers.Of(c))
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

func deleteInstance(c *serve.Call) (serve.Reply, error) {
	id, err := c.ID()
	if err != nil {
		return serve.Reply{}, err
	}
	accepted, err := c.API.Config.Runtime.Commands.Delete(c.Request.Context(), id)
	if err != nil {
		return serve.Reply{}, err
	}
	if accepted {
		return serve.Reply{Status: 202, Body: shape.Dispatched{InstanceID: id}, Location: shape.InstancePath(id)}, nil
	}
	return serve.Reply{Status: 204}, nil
}
