package httpapi

import (
	"net/http"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/pkg/workflow"
)

type healthView struct {
	Status string `json:"status"`
	NodeID string `json:"nodeId"`
	// A node that sheds stays ready: what it refuses would meet the next one.
	Shedding bool `json:"shedding,omitempty" doc:"Whether requests were refused in the last 10 seconds for want of places, memory or connections; see weft_shed_total."`
}

func healthRoutes() []serve.Route {
	return []serve.Route{
		{Method: "GET", Path: "/livez", Bare: true, Name: "live", Role: auth.Anyone, Tag: "health", Kind: serve.Open,
			Summary: "The process answers; never asks etcd", Answers: map[int]any{200: healthView{}},
			Serve: func(c *serve.Call) (serve.Reply, error) {
				return serve.Reply{Body: healthView{Status: "live", NodeID: c.API.Config.NodeID}}, nil
			}},
		{Method: "GET", Path: "/readyz", Bare: true, Name: "ready", Role: auth.Anyone, Tag: "health", Kind: serve.Open,
			Summary: "The node takes work; else 503 says why not", Answers: map[int]any{200: healthView{}, 404: healthView{}, 503: serve.Problem{}},
			Query: []serve.Param{{Name: "unready", Type: "string", Values: []string{"404"}, Doc: "The status in the place of 503, for load balancers that tell by it who is not ready, and keeps what it has, from who does not answer."}},
			Serve: readiness},
		{Method: "GET", Path: "/metrics", Bare: true, Name: "metrics", Role: auth.Anyone, Tag: "health", Kind: serve.Open,
			Summary: "Prometheus metrics", Answers: map[int]any{200: serve.TextOf{"text/plain"}},
			Serve: func(c *serve.Call) (serve.Reply, error) { return serve.Reply{Handler: c.API.Scrape}, nil }},
		{Method: "GET", Path: "/openapi.json", Bare: true, Name: "openapi", Role: auth.Viewer, Tag: "health", Kind: serve.Open,
			Summary: "This document", Answers: map[int]any{200: serve.TextOf{"application/json"}},
			Serve: func(c *serve.Call) (serve.Reply, error) {
				return serve.Reply{Raw: c.API.Document, RawType: "application/json"}, nil
			}},
	}
}

func readiness(c *serve.Call) (serve.Reply, error) {
	if err := c.API.Config.Ready(); err != nil {
		if c.Query.Get("unready") == "404" {
			return serve.Reply{Status: http.StatusNotFound, Body: healthView{Status: "not ready: " + err.Error(), NodeID: c.API.Config.NodeID}}, nil
		}
		return serve.Reply{}, &workflow.Error{Code: workflow.CodeUnavailable, Detail: "not ready: " + err.Error()}
	}
	return serve.Reply{Body: healthView{Status: "ready", NodeID: c.API.Config.NodeID, Shedding: c.API.Shedding()}}, nil
}
