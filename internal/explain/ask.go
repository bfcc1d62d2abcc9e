package explain

import (
	"context"
	"slices"
	"sync"

	"github.com/weft-run/weft/internal/recent"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
)

// Question is what a node is asked for that only it knows.
type Question struct {
	Instance string   // "": nothing of any
	Names    []string // of events; none: nothing of any
}

// Known is what a node knows.
type Known struct {
	Running  *client.Running  // what it does with the instance; nil: nothing
	Refusals []client.Refusal // its commits of it that a fence refused, the newest first
	Events   []recent.Event   // that it sent lately, with one of the names or nearly so, the newest first
}

// Peers ask another node.
type Peers func(ctx context.Context, n cluster.Node, q Question) (Known, error)

// Known is what this node knows.
func (x *Explainer) Known(q Question) Known {
	var k Known
	if q.Instance != "" {
		if r, ok := x.cfg.Node.Running(q.Instance); ok {
			k.Running = &r
		}
		k.Refusals = x.Refusals(q.Instance)
	}
	if len(q.Names) > 0 {
		k.Events = x.Recent(q.Names)
	}
	return k
}

// told is what a node answered.
type told struct {
	node string
	Known
	err error // it could not be asked
}

// ask asks nodes, all at the same time and each once, and gives their answers in the order of
// the nodes. Nothing is asked of anybody where nothing is to be known.
func ask(ctx context.Context, nodes []cluster.Node, q Question, peers Peers) []told {
	if q.Instance == "" && len(q.Names) == 0 {
		return nil
	}
	out := make([]told, len(nodes))
	var all sync.WaitGroup
	for i, n := range nodes {
		all.Go(func() {
			known, err := peers(ctx, n, q)
			out[i] = told{n.ID, known, err}
		})
	}
	all.Wait()
	return out
}

// others are the live nodes but this one.
func (x *Explainer) others() []cluster.Node {
	self := x.cfg.Session.NodeID()
	return slices.DeleteFunc(slices.Clone(x.cfg.Session.Members()), func(n cluster.Node) bool { return n.ID == self })
}
