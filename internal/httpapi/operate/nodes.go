package operate

import (
	"fmt"
	"net/http"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/httpapi/peers"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/httpapi/shape"
	"github.com/weft-run/weft/pkg/workflow"
)

func nodeRoutes() []serve.Route {
	return append([]serve.Route{
		{Method: "GET", Path: "/nodes", Name: "listNodes", Role: auth.Viewer, Tag: "cluster", Kind: serve.Reads, Summary: "Live nodes of the cluster",
			Answers: map[int]any{200: shape.List[shape.Node]{}}, Serve: listNodes},
		{Method: "POST", Path: "/nodes/{id}/drain", Name: "drainNode", Role: auth.Admin, Tag: "cluster", Kind: serve.Changes, Reserved: true, Idempotent: true, // needs no record: draining twice is draining once, also without etcd
			Summary: "Drain a node and end it, as SIGTERM does",
			Answers: map[int]any{202: shape.Node{}}, Problems: []workflow.Code{workflow.CodeNodeNotFound}, Serve: drainNode},
	}, meterRoutes()...)
}

// listNodes has no pages: a cluster has few nodes.
func listNodes(c *serve.Call) (serve.Reply, error) {
	nodes, revision := c.API.Config.Session.MembersAt()
	return serve.Reply{Body: shape.List[shape.Node]{Items: shape.ViewNodes(c.API, nodes), Revision: revision}}, nil
}

func drainNode(c *serve.Call) (serve.Reply, error) {
	id, err := c.ID()
	if err != nil {
		return serve.Reply{}, err
	}
	if err := c.Decode(&struct{}{}); err != nil {
		return serve.Reply{}, err
	}
	for _, n := range c.API.Config.Session.Members() {
		if n.ID != id {
			continue
		}
		if id == c.API.Config.NodeID {
			c.API.Config.Drain()
		} else if err := peers.Ask(c, n, http.MethodPost, c.Request.URL.EscapedPath(), peers.DrainTime, nil); err != nil {
			return serve.Reply{}, err
		}
		n.Draining = true
		return serve.Reply{Status: http.StatusAccepted, Body: shape.ViewNode(c.API, n), Location: serve.Prefix + "/nodes"}, nil
	}
	return serve.Reply{}, workflow.Fail(workflow.CodeNodeNotFound, fmt.Sprintf("there is no live node %q", id))
}
