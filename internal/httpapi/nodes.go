package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/workflow"
)

type nodeView struct {
	NodeID          string     `json:"nodeId"`
	Address         string     `json:"address"`
	Version         string     `json:"version"`
	Coordination    string     `json:"coordination" enum:"distributed,local"`
	Epoch           int64      `json:"epoch" doc:"Counts the sessions of this process."`
	StartedAt       time.Time  `json:"startedAt"`
	SeenAt          *time.Time `json:"seenAt" doc:"Its clock at its last heartbeat."`
	Draining        bool       `json:"draining"`
	Paused          bool       `json:"paused"`
	CatalogRevision int64      `json:"catalogRevision" doc:"Revision of etcd up to which it knows the definitions."`
	Self            bool       `json:"self" doc:"Whether it is the node that answers."`
}

func (a *API) nodeRoutes() []route {
	return []route{
		{method: "GET", path: "/nodes", name: "listNodes", role: auth.Viewer, tag: "cluster", kind: reads, summary: "Live nodes of the cluster",
			answers: map[int]any{200: listView[nodeView]{}}, serve: (*call).nodes},
		{method: "POST", path: "/nodes/{id}/drain", name: "drainNode", role: auth.Admin, tag: "cluster", kind: changes, reserved: true,
			summary: "Drain a node and end it, as SIGTERM does",
			answers: map[int]any{202: nodeView{}}, problems: []workflow.Code{workflow.CodeNodeNotFound}, serve: (*call).drainNode},
	}
}

func (a *API) viewNode(n cluster.Node) nodeView {
	return nodeView{
		NodeID: n.ID, Address: n.Address, Version: n.Version, Coordination: n.Mode, Epoch: n.Epoch, StartedAt: n.StartedAt.UTC(),
		Draining: n.Draining, Paused: n.Paused, CatalogRevision: n.CatalogRevision, Self: n.ID == a.cfg.NodeID,
		SeenAt: knownTime(n.Clock),
	}
}

// nodes has no pages: a cluster has few nodes.
func (c *call) nodes() (reply, error) {
	return reply{body: listView[nodeView]{Items: each(c.api.cfg.Session.Members(), c.api.viewNode)}}, nil
}

func (c *call) drainNode() (reply, error) {
	id, err := c.id()
	if err != nil {
		return reply{}, err
	}
	if err := c.decode(&struct{}{}); err != nil {
		return reply{}, err
	}
	for _, n := range c.api.cfg.Session.Members() {
		if n.ID != id {
			continue
		}
		if id == c.api.cfg.NodeID {
			c.api.cfg.Drain()
		} else if err := c.relay(n); err != nil {
			return reply{}, err
		}
		n.Draining = true
		return reply{status: http.StatusAccepted, body: c.api.viewNode(n), location: prefix + "/nodes"}, nil
	}
	return reply{}, workflow.Fail(workflow.CodeNodeNotFound, fmt.Sprintf("there is no live node %q", id))
}

// relayedBy marks a request that one node sends to another, which then must not
// send it on again.
const relayedBy = "X-Weft-Relayed-By"

// relay sends a request about a node to that node.
func (c *call) relay(n cluster.Node) error {
	if c.r.Header.Get(relayedBy) != "" {
		return workflow.Fail(workflow.CodeNodeNotFound, fmt.Sprintf("node %q was looked for here, and this is another one", n.ID))
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), 5*time.Second)
	defer cancel()
	base := n.Address
	if !strings.Contains(base, "://") {
		base = c.api.cfg.Scheme + "://" + base
	}
	unreachable := func(err error) error {
		return &workflow.Error{Code: workflow.CodeUnavailable, Err: err, RetryAfter: time.Second,
			Detail: fmt.Sprintf("node %s at %s could not be asked; send it SIGTERM, or ask it directly", n.ID, n.Address)}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+c.r.URL.EscapedPath(), nil)
	if err != nil {
		return unreachable(err)
	}
	req.Header.Set(relayedBy, c.api.cfg.NodeID)
	req.Header.Set("Authorization", c.r.Header.Get("Authorization"))
	resp, err := c.api.cfg.Peers.Do(req)
	if err != nil {
		return unreachable(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusAccepted {
		return unreachable(fmt.Errorf("it answered %s", resp.Status))
	}
	return nil
}
