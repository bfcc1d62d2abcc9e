package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/weft-run/weft/pkg/node"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// target is how callers reach the nodes; calls go round.
type target interface {
	start(ctx context.Context, s start) (workflow.Status, error)
	// send tells whether the event resumed an instance, and is durable at least.
	send(ctx context.Context, event, correlation string) (resumed bool, err error)
	refresh(ctx context.Context) (done bool, err error)
}

type start struct {
	definition, id, correlation string
	input                       map[string]any
	wait                        time.Duration
}

// inProcess calls the runtimes.
type inProcess struct {
	nodes []*node.Node
	next  atomic.Int64
}

func (t *inProcess) node() *node.Node { return t.nodes[int(t.next.Add(1))%len(t.nodes)] }

func (t *inProcess) start(ctx context.Context, s start) (workflow.Status, error) {
	res, err := t.node().Runtime().Execute(ctx, runtime.StartRequest{DefinitionID: s.definition, InstanceID: s.id, CorrelationID: s.correlation, Input: s.input, Wait: s.wait})
	if err == nil && len(res.Instance.Incidents) > 0 {
		err = fmt.Errorf("incident: %s", res.Instance.Incidents[0].Message)
	}
	return res.Instance.Status, err
}

func (t *inProcess) send(ctx context.Context, event, correlation string) (bool, error) {
	st := workflow.EventStimulus(event, map[string]any{"by": "bench"})
	st.CorrelationID = correlation
	res, err := t.node().Runtime().Send(ctx, st, nil)
	return len(res.Outcomes) == 1 && res.Outcomes[0].Outcome == runtime.Resumed, err
}

// refresh has no way in without HTTP.
func (t *inProcess) refresh(ctx context.Context) (bool, error) {
	return refreshOver(ctx, http.DefaultClient, t.node().URL())
}

// overHTTP calls the API.
type overHTTP struct {
	nodes  []*node.Node
	client *http.Client
	next   atomic.Int64
}

func (t *overHTTP) base() string { return t.nodes[int(t.next.Add(1))%len(t.nodes)].URL() }

func (t *overHTTP) start(ctx context.Context, s start) (workflow.Status, error) {
	body := map[string]any{"input": s.input}
	if s.id != "" {
		body["instanceId"] = s.id
	}
	if s.correlation != "" {
		body["correlationId"] = s.correlation
	}
	var header http.Header
	if s.wait > 0 {
		header = http.Header{"Prefer": {fmt.Sprintf("wait=%d", int(s.wait.Seconds()))}}
	}
	var in struct{ Status workflow.Status }
	err := post(ctx, t.client, t.base()+"/api/v1/definitions/"+s.definition+"/execute", body, header, &in)
	return in.Status, err
}

func (t *overHTTP) send(ctx context.Context, event, correlation string) (bool, error) {
	var res struct{ Outcomes []struct{ Outcome string } }
	err := post(ctx, t.client, t.base()+"/api/v1/events/"+url.PathEscape(event),
		map[string]any{"correlationId": correlation, "payload": map[string]any{"by": "bench"}}, nil, &res)
	return len(res.Outcomes) == 1 && res.Outcomes[0].Outcome == "resumed", err
}

func (t *overHTTP) refresh(ctx context.Context) (bool, error) {
	return refreshOver(ctx, t.client, t.base())
}

func refreshOver(ctx context.Context, c *http.Client, base string) (bool, error) {
	var res struct{ Status string }
	err := post(ctx, c, base+"/api/v1/definitions/refresh", map[string]any{}, nil, &res)
	return res.Status == "Completed", err
}

func post(ctx context.Context, c *http.Client, to string, body any, header http.Header, answer any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(b))
	if err != nil {
		return err
	}
	for k, v := range header {
		req.Header[k] = v
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode >= 300 {
		return fmt.Errorf("%s: %s: %.300s", to, resp.Status, raw)
	}
	return json.Unmarshal(raw, answer)
}
