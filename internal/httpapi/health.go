package httpapi

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflowtest"
)

type healthView struct {
	Status string `json:"status"`
	NodeID string `json:"nodeId"`
	// A node that sheds stays ready: what it refuses would meet the next one.
	Shedding bool `json:"shedding,omitempty" doc:"Whether requests were refused in the last 10 seconds for want of places, memory or connections; see weft_shed_total."`
}

func (a *API) healthRoutes() []route {
	scrape := promhttp.HandlerFor(a.cfg.Gatherer, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: maxScrapes, EnableOpenMetrics: true})
	return []route{
		{method: "GET", path: "/livez", bare: true, name: "live", role: auth.Anyone, tag: "health", kind: open,
			summary: "The process answers; never asks etcd", answers: map[int]any{200: healthView{}},
			serve: func(*call) (reply, error) { return reply{body: healthView{Status: "live", NodeID: a.cfg.NodeID}}, nil }},
		{method: "GET", path: "/readyz", bare: true, name: "ready", role: auth.Anyone, tag: "health", kind: open,
			summary: "The node takes work; else 503 says why not", answers: map[int]any{200: healthView{}, 404: healthView{}, 503: problemView{}},
			query: []param{{name: "unready", typ: "string", values: []string{"404"}, doc: "The status in the place of 503, for load balancers that tell by it who is not ready, and keeps what it has, from who does not answer."}},
			serve: (*call).ready},
		{method: "GET", path: "/metrics", bare: true, name: "metrics", role: auth.Anyone, tag: "health", kind: open,
			summary: "Prometheus metrics", answers: map[int]any{200: textOf{"text/plain"}},
			serve: func(c *call) (reply, error) { return reply{handler: scrape}, nil }},
		{method: "GET", path: "/openapi.json", bare: true, name: "openapi", role: auth.Viewer, tag: "health", kind: open,
			summary: "This document", answers: map[int]any{200: textOf{"application/json"}},
			serve: func(*call) (reply, error) { return reply{raw: a.document, rawType: "application/json"}, nil }},
		{method: "GET", path: "/schema/v1.json", bare: true, name: "schema", role: auth.Viewer, tag: "health", kind: open,
			summary: "The JSON Schema of definitions in YAML, for editors; it knows the activities of this node", answers: map[int]any{200: textOf{"application/schema+json"}},
			serve: func(*call) (reply, error) { return reply{raw: a.notation, rawType: "application/schema+json"}, nil }},
		{method: "GET", path: "/schema/test-v1.json", bare: true, name: "schemaOfTests", role: auth.Viewer, tag: "health", kind: open,
			summary: "The JSON Schema of test files, for editors", answers: map[int]any{200: textOf{"application/schema+json"}},
			serve: func(*call) (reply, error) {
				return reply{raw: workflowtest.Schema(), rawType: "application/schema+json"}, nil
			}},
	}
}

// maxScrapes bounds what anyone can have shown at once.
const maxScrapes = 8

// shedding tells whether requests or connections were refused a moment ago.
func (a *API) shedding() bool {
	return a.places.shedding() || a.cfg.Shedding != nil && a.cfg.Shedding()
}

func (c *call) ready() (reply, error) {
	if err := c.api.cfg.Ready(); err != nil {
		if c.query.Get("unready") == "404" {
			return reply{status: http.StatusNotFound, body: healthView{Status: "not ready: " + err.Error(), NodeID: c.api.cfg.NodeID}}, nil
		}
		return reply{}, &workflow.Error{Code: workflow.CodeUnavailable, Detail: "not ready: " + err.Error()}
	}
	return reply{body: healthView{Status: "ready", NodeID: c.api.cfg.NodeID, Shedding: c.api.shedding()}}, nil
}

var _ http.Handler = (*API)(nil)
