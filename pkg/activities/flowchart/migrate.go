package flowchart

import (
	"slices"

	"github.com/weft-run/weft/pkg/engine"
)

// Migrate finds activities and connections again. A connection that is new counts as
// not taken where its source has run, and a new activity behind such connections only
// as passed over.
func (flowchartActivity) Migrate(x *engine.Execution, m engine.Migration) error {
	old, plan := m.Old.Data().(*flowPlan), x.Node().Data().(*flowPlan)
	s := engine.Scratch[State](x)
	is := make([]int, len(old.nodes)) // positions in the new version; -1: gone
	known := map[int]bool{}
	for i, n := range old.nodes {
		is[i] = -1
		if to := m.To(n); to != nil {
			if at, ok := plan.index[to]; ok {
				is[i], known[at] = at, true
			}
		}
	}
	now := State{Start: plan.start, Token: s.Token}
	if s.Start < len(is) && is[s.Start] >= 0 {
		now.Start = is[s.Start]
	}
	for i, at := range is {
		if at >= 0 && s.Seen.get(i) > 0 {
			now.Seen.set(at, s.Seen.get(i))
		}
	}
	was := make([]int, len(old.edges)) // their positions in the new version; -1: gone
	carried := map[int]bool{}
	for i, e := range old.edges {
		was[i] = slices.IndexFunc(plan.edges, func(n flowEdge) bool {
			return n.source == is[e.source] && n.target == is[e.target] && n.port == e.port
		})
		if at := was[i]; at >= 0 {
			carried[at] = true
			if v := s.Paths.get(i); v > 0 {
				now.Paths.set(at, v)
			}
		}
	}
	for _, t := range s.Marks {
		if at := was[t.Edge]; at >= 0 {
			now.Marks = append(now.Marks, Token{Edge: at})
		}
	}
	if !now.Token {
		plan.graph(now.Start).passOver(&now, known, carried)
	}
	*s = now
	if now.Token {
		return nil
	}
	return (&counterRun{x: x, plan: plan, g: plan.graph(s.Start), s: s}).freed()
}

// freed runs what waited only for connections that are gone.
func (r *counterRun) freed() error {
	live := r.x.Scheduled()
	for _, k := range r.x.Children() {
		live = append(live, k.Node())
	}
	for _, at := range r.g.order {
		n := r.g.nodes[at]
		if len(r.g.forward[at]) == 0 || slices.Contains(live, n) {
			continue
		}
		mode, err := r.joinMode(n)
		if err != nil {
			return err
		}
		all, some, every := r.inbound(at)
		if mode != JoinAny && all && some && (mode != JoinAll || every) {
			r.x.Schedule(n, engine.Child{})
		}
	}
	return nil
}

// passOver counts what is new and lies behind what has run.
func (g *flowGraph) passOver(s *State, known, carried map[int]bool) {
	for _, at := range g.order {
		if in := g.forward[at]; !known[at] && len(in) > 0 {
			round := s.Paths.get(in[0]) / 2
			for _, i := range in[1:] {
				round = min(round, s.Paths.get(i)/2)
			}
			if round > 0 {
				s.Seen.set(at, round)
			}
		}
		for _, i := range g.outbound[at] {
			if seen := s.Seen.get(at); seen > 0 && !carried[i] {
				s.Paths.set(i, seen*2)
			}
		}
	}
}
