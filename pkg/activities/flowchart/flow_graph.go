package flowchart

import (
	"slices"
	"sync"

	"github.com/weft-run/weft/pkg/engine"
)

// flowGraph is a flowchart's connections as they look from one start. Activities
// and connections are known by their position.
type flowGraph struct {
	nodes    []*engine.Node
	edges    []flowEdge
	outbound [][]int // edges by source
	forward  [][]int // forward edges by target, from sources that the start reaches
	inbound  [][]int // all edges by target
	order    []int   // what the start reaches, each after all that leads to it by forward edges
}

// flowEdge is one connection. A backward one leads to an activity that it came
// from; it is proper if there is no other way into that loop.
type flowEdge struct {
	source, target   int
	port             string
	backward, proper bool
}

// flowPlan is what the compiler keeps for a flowchart.
type flowPlan struct {
	nodes  []*engine.Node
	index  map[*engine.Node]int
	edges  []flowEdge
	start  int
	token  bool
	merge  []string // token merge modes by activity; "" means by type
	graphs sync.Map // start → *flowGraph
}

// graph gives the graph from a start; it is worked out once for each.
func (p *flowPlan) graph(start int) *flowGraph {
	if g, ok := p.graphs.Load(start); ok {
		return g.(*flowGraph)
	}
	g, _ := p.graphs.LoadOrStore(start, newFlowGraph(p, start))
	return g.(*flowGraph)
}

func newFlowGraph(p *flowPlan, start int) *flowGraph {
	n := len(p.nodes)
	g := &flowGraph{nodes: p.nodes, edges: slices.Clone(p.edges), outbound: make([][]int, n), forward: make([][]int, n), inbound: make([][]int, n)}
	for i, e := range g.edges {
		g.outbound[e.source] = append(g.outbound[e.source], i)
		g.inbound[e.target] = append(g.inbound[e.target], i)
	}
	reached := g.markBackward(start)
	for i, e := range g.edges {
		if reached[e.source] && !e.backward {
			g.forward[e.target] = append(g.forward[e.target], i)
		}
	}
	for i := range g.edges {
		if e := &g.edges[i]; e.backward {
			e.proper = e.source == e.target || !g.reaches(start, e.source, e.target)
		}
	}
	return g
}

// markBackward walks depth first from start: an edge to an activity on the
// current path is backward.
func (g *flowGraph) markBackward(start int) []bool {
	const onPath, left = 1, 2
	state := make([]byte, len(g.nodes))
	next := make([]int, len(g.nodes))
	stack := []int{start}
	state[start] = onPath
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		if next[at] == len(g.outbound[at]) {
			state[at] = left
			g.order = append(g.order, at)
			stack = stack[:len(stack)-1]
			continue
		}
		e := &g.edges[g.outbound[at][next[at]]]
		next[at]++
		switch state[e.target] {
		case onPath:
			e.backward = true
		case 0:
			state[e.target] = onPath
			stack = append(stack, e.target)
		}
	}
	slices.Reverse(g.order)
	reached := make([]bool, len(state))
	for i, s := range state {
		reached[i] = s != 0
	}
	return reached
}

// reaches reports whether forward edges lead from one activity to another
// without passing a third.
func (g *flowGraph) reaches(from, to, without int) bool {
	if from == without {
		return false
	}
	seen := make([]bool, len(g.nodes))
	stack := []int{from}
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if at == to {
			return true
		}
		for _, i := range g.outbound[at] {
			if e := g.edges[i]; !e.backward && e.target != without && !seen[e.target] {
				seen[e.target] = true
				stack = append(stack, e.target)
			}
		}
	}
	return false
}

// ancestors gives the activities from which forward edges lead to at.
func (g *flowGraph) ancestors(at int) map[*engine.Node]int {
	out := map[*engine.Node]int{}
	stack := []int{at}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, i := range g.forward[n] {
			src := g.edges[i].source
			if _, ok := out[g.nodes[src]]; !ok {
				out[g.nodes[src]] = src
				stack = append(stack, src)
			}
		}
	}
	return out
}
