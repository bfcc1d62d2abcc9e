package flowchart

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/engine"
)

// Visits are what a flowchart of Elsa remembers: how often it came by its activities, by their ids within the
// definition, and by its connections, and which of these it followed the last time. A connection is called
// source:port->target, without a port that it has not; one of its target is not looked at.
type Visits struct {
	Activities, Connections map[string]int
	Followed                map[string]bool
}

// Counted is the memory of a flowchart that has come by these. live are the activities in it that run. An error names what the flowchart has not.
func Counted(n *engine.Node, v Visits, live []string) (State, error) {
	plan := n.Data().(*flowPlan)
	s := State{Start: plan.begun(v.Activities, live)}
	for _, id := range slices.Sorted(maps.Keys(v.Activities)) {
		at := plan.position(id)
		if at < 0 {
			return s, fmt.Errorf("it came by the activity %q, which the flowchart %s does not have", id, n.LocalID())
		}
		s.Seen.set(at, v.Activities[id])
	}
	for _, name := range slices.Sorted(maps.Keys(v.Connections)) {
		i := slices.IndexFunc(plan.edges, func(e flowEdge) bool { return plan.called(e, name) })
		if i < 0 {
			return s, fmt.Errorf("it came by the connection %q, which the flowchart %s does not have", name, n.LocalID())
		}
		visits := v.Connections[name] * 2
		if v.Followed[name] {
			visits++
		}
		s.Paths.set(i, visits)
	}
	return s, nil
}

// Mark is a token of Elsa's: it lies on the connection that leaves an activity by a port to another one.
type Mark struct{ From, Port, To string }

// Marked is the memory of a flowchart that runs by tokens. live are the activities in it that run. An error names a connection that the flowchart has not.
func Marked(n *engine.Node, marks []Mark, live []string) (State, error) {
	plan := n.Data().(*flowPlan)
	s := State{Token: true, Start: plan.begun(nil, live)}
	for _, mark := range marks {
		port := mark.Port
		if port == "" {
			port = engine.DoneOutcome
		}
		i := slices.IndexFunc(plan.edges, func(e flowEdge) bool {
			return plan.nodes[e.source].LocalID() == mark.From && e.port == port && plan.nodes[e.target].LocalID() == mark.To
		})
		if i < 0 {
			return s, fmt.Errorf("a token lies between %q and %q, and no connection of the flowchart %s does, by the port %s", mark.From, mark.To, n.LocalID(), port)
		}
		s.Marks = append(s.Marks, Token{Edge: i})
	}
	return s, nil
}

// called tells whether a connection has this name. The port Done may be left out.
func (p *flowPlan) called(e flowEdge, name string) bool {
	source, target := p.nodes[e.source].LocalID(), "->"+p.nodes[e.target].LocalID()
	way, ok := strings.CutPrefix(name, source+":"+e.port+target)
	if !ok && e.port == engine.DoneOutcome {
		way, ok = strings.CutPrefix(name, source+target)
	}
	return ok && (way == "" || way[0] == ':')
}

func (p *flowPlan) position(id string) int {
	return slices.IndexFunc(p.nodes, func(n *engine.Node) bool { return n.LocalID() == id })
}

// begun is where the flowchart began: at its start, or, if it was never there, at another activity that starts instances.
func (p *flowPlan) begun(visits map[string]int, live []string) int {
	was := func(n *engine.Node) bool { return visits[n.LocalID()] > 0 || slices.Contains(live, n.LocalID()) }
	if len(p.nodes) == 0 || was(p.nodes[p.start]) {
		return p.start
	}
	if i := slices.IndexFunc(p.nodes, func(n *engine.Node) bool { return n.Activity().CanStart && was(n) }); i >= 0 {
		return i
	}
	return p.start
}
