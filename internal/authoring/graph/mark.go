package graph

import (
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// Status is what became of an activity in an instance.
type Status string

// The statuses. An activity that ran several times has the last one.
const (
	NotRun    Status = ""
	Done      Status = "done"
	Running   Status = "running"
	Waiting   Status = "waiting"
	Faulted   Status = "faulted"
	Cancelled Status = "cancelled"
	Undone    Status = "undone"
)

// Mark is what an instance did with an activity.
type Mark struct {
	Status   Status    `json:"status,omitempty"`
	Count    int       `json:"count,omitempty"`    // how often it was started
	Since    time.Time `json:"since,omitzero"`     // of one that runs or waits; zero: not known
	Outcomes []string  `json:"outcomes,omitempty"` // of the last time; none is not known
}

// Apply marks the activities by their ids, and the ways that were taken: those
// between activities that ran, by the outcome where it is known.
func (g *Graph) Apply(marks map[string]Mark) {
	for i := range g.Nodes {
		n := &g.Nodes[i]
		n.Mark, n.Clocked = Mark{}, Mark{}
		if n.ID != "" && n.Kind != Folded {
			n.Mark = marks[n.ID]
		}
		if n.ClockID != "" {
			n.Clocked = marks[n.ClockID]
		}
	}
	g.markWays()
}

// markWays finds the ways that were taken. A join is passed if a way into it was.
func (g *Graph) markWays() {
	out := make([][]int, len(g.Nodes))
	for i := range g.Edges {
		g.Edges[i].Taken = false
		out[g.Edges[i].From] = append(out[g.Edges[i].From], i)
	}
	var ready []int // nodes whose ways out are to be looked at
	for i := range g.Nodes {
		if n := &g.Nodes[i]; n.Kind == Start || n.Mark.Status != NotRun {
			ready = append(ready, i)
		}
	}
	passed := make([]bool, len(g.Nodes))
	for len(ready) > 0 {
		at := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		for _, i := range out[at] {
			e := &g.Edges[i]
			to := &g.Nodes[e.To]
			if !g.left(e, out[at]) || (!to.bare() && to.Mark.Status == NotRun) {
				continue
			}
			e.Taken = true
			if to.bare() && !passed[e.To] {
				passed[e.To] = true
				ready = append(ready, e.To)
			}
		}
	}
}

// bare nodes have no mark: they are passed.
func (n *Node) bare() bool {
	return n.Kind == Join || n.Kind == End || n.Kind == Start || n.Kind == State || n.Kind == Folded
}

// left tells whether an instance that was at the beginning of an edge may have
// gone along it. beside are the positions of all edges from there.
func (g *Graph) left(e *Edge, beside []int) bool {
	from, to := &g.Nodes[e.From], &g.Nodes[e.To]
	switch {
	case from.bare():
		return true
	case e.Back:
		return to.Mark.Count > 1
	case e.Port == workflow.UndoPort:
		return true // it ran
	case e.Port == clockPort:
		return from.Clocked.Status == Done
	case from.Kind != Box && !to.bare() && to.Kind != Folded:
		return from.Mark.Status != NotRun // it runs what it holds while it runs itself
	case from.Mark.Status != Done:
		return false
	case e.Port == "" || len(from.Mark.Outcomes) > 0:
		return e.Port == "" || slices.ContainsFunc(from.Mark.Outcomes, func(o string) bool { return samePort(o, e.Port) })
	}
	// Its outcome is not known: the way is the one that is left if no other was taken.
	return !slices.ContainsFunc(beside, func(i int) bool {
		other := &g.Nodes[g.Edges[i].To]
		return &g.Edges[i] != e && !other.bare() && other.Mark.Status != NotRun
	}) || (!to.bare() && to.Mark.Status != NotRun)
}

// samePort compares an outcome with the name of a branch or a port.
func samePort(outcome, port string) bool {
	switch {
	case strings.EqualFold(outcome, port):
		return true
	case strings.EqualFold(outcome, "True"):
		return port == thenPort
	case strings.EqualFold(outcome, "False"):
		return port == elsePort
	}
	return false
}
