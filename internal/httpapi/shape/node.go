package shape

import (
	"time"

	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/pkg/cluster"
)

// Node is a live node.
type Node struct {
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

// ViewNode shows a node as the one that answers sees it.
func ViewNode(a *serve.API, n cluster.Node) Node { return ViewNodes(a, []cluster.Node{n})[0] }

// ViewNodes shows nodes as the one that answers sees them.
func ViewNodes(a *serve.API, nodes []cluster.Node) []Node {
	var skews map[string]time.Duration
	if a.Config.Session.ClockCompared() { // else nobody was compared with anybody
		skews = a.Config.Session.ClockSkews()
	}
	late := a.Config.Session.Late()
	return Each(nodes, func(n cluster.Node) Node {
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

func viewRecord(a *serve.API, n cluster.Node) Node {
	return Node{
		NodeID: n.ID, Address: n.Address, Version: n.Version, Coordination: n.Mode, Epoch: n.Epoch, StartedAt: n.StartedAt.UTC(),
		Draining: n.Draining, Paused: n.Paused, CatalogRevision: n.CatalogRevision, Self: n.ID == a.Config.NodeID,
		SeenAt: KnownTime(n.Clock),
	}
}
