package httpapi

import (
	"fmt"
	"net/http"
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

	LateSeconds *float64 `json:"lateSeconds" doc:"For how long it has not renewed its record, as the node that answers sees it: it hangs, or etcd takes no writes. null: it has, within three heartbeats."`

	ClockSkewSeconds *float64 `json:"clockSkewSeconds" doc:"Its clock less the median of the clocks of all live nodes, as the node that answers sees it; null: not known yet."`
}

func (a *API) nodeRoutes() []route {
	return append([]route{
		{method: "GET", path: "/nodes", name: "listNodes", role: auth.Viewer, tag: "cluster", kind: reads, summary: "Live nodes of the cluster",
			answers: map[int]any{200: listView[nodeView]{}}, serve: (*call).nodes},
		{method: "POST", path: "/nodes/{id}/drain", name: "drainNode", role: auth.Admin, tag: "cluster", kind: changes, reserved: true,
			summary: "Drain a node and end it, as SIGTERM does",
			answers: map[int]any{202: nodeView{}}, problems: []workflow.Code{workflow.CodeNodeNotFound}, serve: (*call).drainNode},
	}, a.peerRoutes()...)
}

func viewNode(a *API, n cluster.Node) nodeView { return viewNodes(a, []cluster.Node{n})[0] }

func viewNodes(a *API, nodes []cluster.Node) []nodeView {
	var skews map[string]time.Duration
	if a.cfg.Session.ClockCompared() { // else nobody was compared with anybody
		skews = a.cfg.Session.ClockSkews()
	}
	late := a.cfg.Session.Late()
	return each(nodes, func(n cluster.Node) nodeView {
		v := viewRecord(a, n)
		if since, is := late[n.ID]; is {
			v.LateSeconds = new(since.Seconds())
		}
		if skew, known := skews[n.ID]; known {
			v.ClockSkewSeconds = new(skew.Seconds())
		}
		return v
	})
}

func viewRecord(a *API, n cluster.Node) nodeView {
	return nodeView{
		NodeID: n.ID, Address: n.Address, Version: n.Version, Coordination: n.Mode, Epoch: n.Epoch, StartedAt: n.StartedAt.UTC(),
		Draining: n.Draining, Paused: n.Paused, CatalogRevision: n.CatalogRevision, Self: n.ID == a.cfg.NodeID,
		SeenAt: knownTime(n.Clock),
	}
}

// nodes has no pages: a cluster has few nodes.
func (c *call) nodes() (reply, error) {
	nodes, revision := c.api.cfg.Session.MembersAt()
	return reply{body: listView[nodeView]{Items: viewNodes(c.api, nodes), Revision: revision}}, nil
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
		} else if err := ask(c, n, http.MethodPost, c.r.URL.EscapedPath(), drainTime, nil); err != nil {
			return reply{}, err
		}
		n.Draining = true
		return reply{status: http.StatusAccepted, body: viewNode(c.api, n), location: prefix + "/nodes"}, nil
	}
	return reply{}, workflow.Fail(workflow.CodeNodeNotFound, fmt.Sprintf("there is no live node %q", id))
}
