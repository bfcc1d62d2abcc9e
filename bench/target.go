package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/weft-run/weft/pkg/node"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// target is how callers reach the nodes; calls go round.
type target interface {
	start(ctx context.Context, s start) (instance, error)
	// send tells whether the event resumed an instance, and is durable at least.
	send(ctx context.Context, event, correlation string) (resumed bool, err error)
	// wait tells whether the instance has ended by then.
	wait(ctx context.Context, id string, wait time.Duration) (ended bool, err error)
}

type start struct {
	definition, id, correlation string
	input                       map[string]any
	wait                        time.Duration
}

// instance is what the workloads want to know of one.
type instance struct {
	ID        string          `json:"instanceId"`
	Status    workflow.Status `json:"status"`
	Incidents []struct {
		Message string `json:"message"`
	} `json:"incidents"`
	Bookmarks []struct {
		ID string `json:"bookmarkId"`
	} `json:"bookmarks"`
}

// inProcess calls the runtimes.
type inProcess struct {
	nodes []*node.Node
	next  atomic.Int64
}

func (t *inProcess) node() *node.Node { return t.nodes[int(t.next.Add(1))%len(t.nodes)] }

func (t *inProcess) start(ctx context.Context, s start) (instance, error) {
	res, err := t.node().Runtime().Starts.Execute(ctx, runtime.StartRequest{DefinitionID: s.definition, InstanceID: s.id, CorrelationID: s.correlation, Input: s.input, Wait: s.wait})
	if err != nil {
		return instance{}, err
	}
	if len(res.Instance.Incidents) > 0 {
		return instance{}, fmt.Errorf("incident: %s", res.Instance.Incidents[0].Message)
	}
	in := instance{ID: res.Instance.ID, Status: res.Instance.Status}
	for _, b := range res.Instance.Bookmarks {
		in.Bookmarks = append(in.Bookmarks, struct {
			ID string `json:"bookmarkId"`
		}{b.ID})
	}
	return in, nil
}

func (t *inProcess) send(ctx context.Context, event, correlation string) (bool, error) {
	st := workflow.EventStimulus(event, map[string]any{"by": "bench"})
	st.CorrelationID = correlation
	res, err := t.node().Runtime().Events.Send(ctx, st, nil)
	return len(res.Outcomes) == 1 && res.Outcomes[0].Outcome == workflow.OutcomeResumed, err
}

func (t *inProcess) wait(ctx context.Context, id string, wait time.Duration) (bool, error) {
	in, err := t.node().Runtime().Inspector.WaitInstance(ctx, id, wait)
	return in.Status == workflow.StatusFinished, err
}

// overHTTP calls the API.
type overHTTP struct {
	urls   []string
	client *http.Client
	next   atomic.Int64
}

func (t *overHTTP) node() string { return t.urls[int(t.next.Add(1))%len(t.urls)] }

func (t *overHTTP) start(ctx context.Context, s start) (in instance, err error) {
	body := map[string]any{"input": s.input}
	if s.id != "" {
		body["instanceId"] = s.id
	}
	if s.correlation != "" {
		body["correlationId"] = s.correlation
	}
	err = t.call(ctx, http.MethodPost, "/definitions/"+s.definition+"/execute", body, prefer(s.wait), &in)
	if err == nil && len(in.Incidents) > 0 {
		err = fmt.Errorf("incident: %s", in.Incidents[0].Message)
	}
	return in, err
}

func (t *overHTTP) wait(ctx context.Context, id string, wait time.Duration) (bool, error) {
	var in instance
	err := t.call(ctx, http.MethodGet, "/instances/"+id, nil, prefer(wait), &in)
	return in.Status == workflow.StatusFinished, err
}

func prefer(wait time.Duration) http.Header {
	if wait <= 0 {
		return nil
	}
	return http.Header{"Prefer": {fmt.Sprintf("wait=%d", int(wait.Seconds()))}}
}

func (t *overHTTP) send(ctx context.Context, event, correlation string) (bool, error) {
	var res struct{ Outcomes []struct{ Outcome string } }
	body := map[string]any{"payload": map[string]any{"by": "bench"}}
	if correlation != "" {
		body["correlationId"] = correlation
	}
	err := t.call(ctx, http.MethodPost, "/events/"+url.PathEscape(event), body, nil, &res)
	return len(res.Outcomes) == 1 && res.Outcomes[0].Outcome == "resumed", err
}

// refresh tells whether this call did it, or found it in progress elsewhere.
func (t *overHTTP) refresh(ctx context.Context) (done bool, err error) {
	var res struct{ Status string }
	err = t.call(ctx, http.MethodPost, "/definitions/refresh", map[string]any{}, nil, &res)
	return res.Status == "Completed", err
}

func (t *overHTTP) publish(ctx context.Context, yaml string) error {
	return t.do(ctx, http.MethodPost, "/definitions", []byte(yaml), http.Header{"Content-Type": {"application/yaml"}}, nil)
}

// call sends body as JSON, if there is one, and reads the answer.
func (t *overHTTP) call(ctx context.Context, method, path string, body any, header http.Header, answer any) error {
	var b []byte
	if body != nil {
		var err error
		if b, err = json.Marshal(body); err != nil {
			return err
		}
		if header == nil {
			header = http.Header{}
		}
		header.Set("Content-Type", "application/json")
	}
	return t.do(ctx, method, path, b, header, answer)
}

// refusedError is the answer of a node that did nothing and says when to ask again.
type refusedError struct {
	error
	after time.Duration
}

func (t *overHTTP) do(ctx context.Context, method, path string, body []byte, header http.Header, answer any) (err error) {
	return t.request(ctx, method, t.node()+"/api/v1"+path, body, header, answer)
}

// request sends one to an address, of the API or not.
func (t *overHTTP) request(ctx context.Context, method, to string, body []byte, header http.Header, answer any) (err error) {
	req, err := http.NewRequestWithContext(ctx, method, to, bytes.NewReader(body))
	if err != nil {
		return err
	}
	for k, v := range header {
		req.Header[k] = v
	}
	resp, err := t.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode >= 300 {
		err := fmt.Errorf("%s: %s: %.300s", to, resp.Status, raw)
		if seconds, bad := strconv.Atoi(resp.Header.Get("Retry-After")); bad == nil && resp.StatusCode == http.StatusServiceUnavailable {
			return &refusedError{error: err, after: time.Duration(seconds) * time.Second}
		}
		return err
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(raw, answer)
}
