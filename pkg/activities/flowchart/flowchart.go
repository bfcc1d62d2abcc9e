package flowchart

import (
	"context"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// Flowchart runs activities along its connections.
func Flowchart() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type:      "Elsa.Flowchart",
		NoEffect:  true,
		Container: true,
		Description: "Runs activities along connections. An activity with several inbound connections waits for all of them; " +
			"connections that are not taken count as done. A connection back to an earlier activity makes a loop. " +
			"End, Finish, Complete and Break end the flowchart.",
		List: "activities",
	}, flowchartActivity{}
}

type flowchartActivity struct{}

// executionMode is the property that chooses the token-based engine.
const executionMode = "Flowchart:ExecutionMode"

// State is what a running flowchart remembers.
type State struct {
	Start int     `json:"start"`
	Token bool    `json:"token,omitempty"`
	Seen  Counts  `json:"seen,omitempty"`  // visits by activity
	Paths Counts  `json:"paths,omitempty"` // visits by connection, ×2, +1 if the last one was followed
	Marks []Token `json:"marks,omitempty"` // of the token engine
}

// backTag marks a child that was scheduled by a backward connection.
const backTag = "back"

func (flowchartActivity) Prepare(p *engine.Preparation) {
	plan := &flowPlan{nodes: p.Node.List(), index: map[*engine.Node]int{}}
	local := map[string]int{}
	for i, n := range plan.nodes {
		plan.index[n] = i
		local[n.LocalID()] = i
	}
	src := p.Node.Activity()
	for _, c := range src.Connections {
		from, ok := local[c.Source]
		to, ok2 := local[c.Target]
		if ok && ok2 { // others are reported by the compiler
			port := c.SourcePort
			if port == "" {
				port = engine.DoneOutcome
			}
			plan.edges = append(plan.edges, flowEdge{source: from, target: to, port: port})
		}
	}
	plan.start = plan.first()
	if src.Start != "" {
		i, ok := local[src.Start]
		if !ok {
			p.Problem("unknown-start", src.Place, "flowchart %s starts at %q, which is none of its activities", p.Node.LocalID(), src.Start)
		}
		plan.start = i
	}
	plan.token = wantsTokens(src.CustomProperties[executionMode]) || wantsTokens(p.Node.Definition().CustomProperties[executionMode])
	for _, n := range plan.nodes {
		plan.merge = append(plan.merge, mergeModeOf(p, n))
	}
	p.SetData(plan)
}

// first chooses where to start when nothing says so: a Start, a trigger, what
// no connection leads to, the first.
func (p *flowPlan) first() int {
	if i := slices.IndexFunc(p.nodes, func(n *engine.Node) bool { return strings.EqualFold(n.Type(), "Elsa.Start") }); i >= 0 {
		return i
	}
	if i := slices.IndexFunc(p.nodes, func(n *engine.Node) bool { return n.Activity().CanStart }); i >= 0 {
		return i
	}
	entered := map[int]bool{}
	for _, e := range p.edges {
		entered[e.target] = true
	}
	for i := range p.nodes {
		if !entered[i] {
			return i
		}
	}
	return 0
}

func wantsTokens(v any) bool {
	s, _ := v.(string)
	return strings.HasPrefix(strings.ToLower(s), "token")
}

func (flowchartActivity) Execute(_ context.Context, x *engine.Execution) error {
	plan := x.Node().Data().(*flowPlan)
	if len(plan.nodes) == 0 {
		return nil
	}
	s := engine.Scratch[State](x)
	s.Start, s.Token = plan.start, plan.token
	if v, ok := x.Property(executionMode); ok {
		s.Token = wantsTokens(v)
	}
	if at := x.StartedAt(); at != nil {
		if i := slices.IndexFunc(plan.nodes, func(n *engine.Node) bool { return n.Contains(at) }); i >= 0 {
			s.Start = i
		}
	}
	x.Schedule(plan.nodes[s.Start], engine.Child{})
	return nil
}

func (flowchartActivity) ChildCompleted(_ context.Context, x *engine.Execution, done engine.Completed) error {
	plan := x.Node().Data().(*flowPlan)
	s := engine.Scratch[State](x)
	if done.Node.Descriptor().Terminal {
		x.Complete()
		return nil
	}
	if s.Token {
		return tokenRun{x, plan, plan.graph(s.Start), s}.completed(done)
	}
	return (&counterRun{x: x, plan: plan, g: plan.graph(s.Start), s: s}).completed(done)
}

// cancelInbound stops everything that could still lead to the activity: it has
// been decided. It tells what it stopped.
func cancelInbound(x *engine.Execution, ancestors map[*engine.Node]int) map[*engine.Node]bool {
	gone := map[*engine.Node]bool{}
	drop := func(n *engine.Node) bool {
		_, ok := ancestors[n]
		if ok {
			gone[n] = true
		}
		return ok
	}
	x.Withdraw(drop)
	x.CancelChildren(func(c *engine.Execution) bool { return drop(c.Node()) })
	return gone
}
