package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// remote is a node behind HTTP, as users reach it.
type remote struct {
	id, base string
	http     *http.Client
}

func (r *remote) name() string { return r.id }

// ask makes one request. An answer that is none of the API's is an error without
// a code: its outcome is unknown.
func (r *remote) ask(ctx context.Context, method, path string, body any, key *runtime.Key, out any, headers ...string) (status int, err error) {
	defer func() {
		if err == nil {
			return
		}
		select { // as patient as a client should be
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
		}
	}()
	var raw []byte
	if text, is := body.(string); is {
		raw = []byte(text)
	} else if body != nil {
		if raw, err = json.Marshal(body); err != nil {
			return 0, err
		}
	}
	if !strings.HasPrefix(path, "/workflows/") && !strings.HasPrefix(path, "/links/") {
		path = "/api/v1" + path
	}
	req, err := http.NewRequestWithContext(ctx, method, r.base+path, bytes.NewReader(raw))
	if err != nil {
		return 0, err
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	if strings.HasPrefix(path, "/workflows/") {
		req.Header.Set("Content-Type", "application/json")
	}
	if key != nil {
		req.Header.Set("Idempotency-Key", key.Value)
	}
	resp, err := r.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	if resp.StatusCode >= 300 {
		var problem struct {
			Code   workflow.Code `json:"code"`
			Detail string        `json:"detail"`
		}
		if err := json.Unmarshal(answer, &problem); err != nil || problem.Code == "" {
			return resp.StatusCode, fmt.Errorf("%s: %s", resp.Status, answer)
		}
		return resp.StatusCode, workflow.Fail(problem.Code, problem.Detail)
	}
	if out == nil || len(answer) == 0 {
		return resp.StatusCode, nil
	}
	if raw, is := out.(*json.RawMessage); is {
		*raw = answer // whatever it is
		return resp.StatusCode, nil
	}
	return resp.StatusCode, json.Unmarshal(answer, out)
}

func (r *remote) Send(ctx context.Context, st workflow.Stimulus, key *runtime.Key) (runtime.SendResult, error) {
	event, _ := st.Payload.(map[string]any)["eventName"].(string)
	body := map[string]any{"payload": st.Input[workflow.EventInput], "correlationId": st.CorrelationID}
	return sendResult(ctx, r, "/events/"+url.PathEscape(event), body, key)
}

// sendResult sends a stimulus over HTTP.
func sendResult(ctx context.Context, m target, path string, body any, key *runtime.Key) (runtime.SendResult, error) {
	var answer struct {
		Outcomes []runtime.TargetOutcome
		Queued   string
	}
	_, err := m.ask(ctx, "POST", path, body, key, &answer)
	return runtime.SendResult{Outcomes: answer.Outcomes, Queued: answer.Queued}, err
}

func (r *remote) start(ctx context.Context, how string, req runtime.StartRequest) (res runtime.StartResult, err error) {
	var answer struct {
		InstanceID string `json:"instanceId"`
	}
	body := map[string]any{"instanceId": req.InstanceID, "correlationId": req.CorrelationID, "input": req.Input}
	status, err := r.ask(ctx, "POST", "/definitions/"+req.DefinitionID+"/"+how, body, req.Key, &answer)
	res.Instance.ID, res.Accepted = answer.InstanceID, status == http.StatusAccepted
	return res, err
}

func (r *remote) Execute(ctx context.Context, req runtime.StartRequest) (runtime.StartResult, error) {
	return r.start(ctx, "execute", req)
}

func (r *remote) Dispatch(ctx context.Context, req runtime.StartRequest) (string, error) {
	res, err := r.start(ctx, "dispatch", req)
	return res.Instance.ID, err
}

func (r *remote) Journal(ctx context.Context, id, cursor string, limit int) (runtime.Page[workflow.JournalEntry], error) {
	var answer struct {
		Items      []workflow.JournalItem
		NextCursor string
	}
	_, err := r.ask(ctx, "GET", fmt.Sprintf("/instances/%s/journal?limit=%d&cursor=%s", id, limit, url.QueryEscape(cursor)), nil, nil, &answer)
	return runtime.Page[workflow.JournalEntry]{Items: []workflow.JournalEntry{{Items: answer.Items}}, Next: answer.NextCursor}, err
}

func (r *remote) Cancel(ctx context.Context, id string) (accepted bool, err error) {
	status, err := r.ask(ctx, "POST", "/instances/"+id+"/cancel", nil, nil, nil)
	return status == http.StatusAccepted, err
}

func (r *remote) Delete(ctx context.Context, id string) (accepted bool, err error) {
	status, err := r.ask(ctx, "DELETE", "/instances/"+id, nil, nil, nil)
	return status == http.StatusAccepted, err
}

func (r *remote) Publish(ctx context.Context, source string) error {
	_, err := r.ask(ctx, "POST", "/definitions", source, nil, nil)
	return err
}

func (r *remote) Retract(ctx context.Context, id string) error {
	_, err := r.ask(ctx, "POST", "/definitions/"+id+"/retract", nil, nil, nil)
	return err
}
