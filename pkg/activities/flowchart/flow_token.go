package flowchart

import (
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/engine"
)

// The merge modes of the token engine.
const (
	mergeStream   = "Stream"
	mergeMerge    = "Merge"
	mergeConverge = "Converge"
	mergeCascade  = "Cascade"
	mergeRace     = "Race"
)

// Token lies on a connection that was followed, until its target has run.
type Token struct {
	Edge int `json:"edge"`
}

// tokenRun is the token-based engine. An activity that completes takes the
// tokens that led to it and puts one on each connection that its outcomes
// follow; the target's merge mode decides whether it runs:
//
//	Stream    when no source of its inbound connections has a token before it
//	Merge     when every forward inbound connection has a token
//	Converge  when every inbound connection has one, backward ones included
//	Cascade   once for every token
//	Race      for the first; what else leads to it is cancelled
type tokenRun struct {
	x    *engine.Execution
	plan *flowPlan
	g    *flowGraph
	s    *State
}

func (r tokenRun) completed(done engine.Completed) error {
	at := r.plan.index[done.Node]
	r.removeTokens(at)
	var followed []int
	for _, i := range r.g.outbound[at] {
		if slices.Contains(done.Outcomes, r.g.edges[i].port) {
			followed = append(followed, i)
			r.s.Marks = append(r.s.Marks, Token{Edge: i})
		}
	}
	seen := map[int]bool{}
	for _, i := range followed {
		target := r.g.edges[i].target
		mode, err := r.mode(target)
		if err != nil {
			return err
		}
		if mode == mergeCascade || !seen[target] {
			seen[target] = true
			r.arrive(target, mode)
		}
	}
	return nil
}

// removeTokens removes the tokens that led to an activity; of a cascading one, whose
// tokens each have a run of their own, only the oldest.
func (r tokenRun) removeTokens(at int) {
	if r.plan.merge[at] == mergeCascade {
		if i := slices.IndexFunc(r.s.Marks, func(t Token) bool { return r.g.edges[t.Edge].target == at }); i >= 0 {
			r.s.Marks = slices.Delete(r.s.Marks, i, i+1)
		}
		return
	}
	r.s.Marks = slices.DeleteFunc(r.s.Marks, func(t Token) bool { return r.g.edges[t.Edge].target == at })
}

func (r tokenRun) arrive(target int, mode string) {
	n := r.g.nodes[target]
	switch mode {
	case mergeRace:
		ancestors := r.g.ancestors(target)
		delete(ancestors, n)
		cancelInbound(r.x, ancestors)
		r.s.Marks = slices.DeleteFunc(r.s.Marks, func(t Token) bool {
			_, gone := ancestors[r.g.nodes[r.g.edges[t.Edge].target]]
			return gone
		})
	case mergeCascade:
	case mergeMerge:
		if !r.covered(r.g.forward[target]) {
			return
		}
	case mergeConverge:
		if !r.covered(r.g.inbound[target]) {
			return
		}
	default:
		for _, i := range r.g.forward[target] {
			if r.awaited(r.g.edges[i].source) {
				return
			}
		}
	}
	r.x.Schedule(n, engine.Child{})
}

// covered reports whether each of the connections has a token; a single one
// just got it.
func (r tokenRun) covered(edges []int) bool {
	if len(edges) <= 1 {
		return true
	}
	for _, i := range edges {
		if !slices.Contains(r.s.Marks, Token{Edge: i}) {
			return false
		}
	}
	return true
}

// awaited reports whether a token leads to the activity, so that it is still to
// run.
func (r tokenRun) awaited(at int) bool {
	return slices.ContainsFunc(r.s.Marks, func(t Token) bool { return r.g.edges[t.Edge].target == at })
}

// mode is the merge mode of an activity; joins have one by their own mode.
func (r tokenRun) mode(at int) (string, error) {
	if m := r.plan.merge[at]; m != "" {
		return m, nil
	}
	if n := r.g.nodes[at]; n.Type() == flowJoinType {
		v, err := r.x.EvaluateChild(n, "mode")
		if err != nil {
			return "", err
		}
		if engine.Text(v) == JoinAny {
			return mergeRace, nil
		}
		return mergeMerge, nil
	}
	return mergeStream, nil
}

// mergeModeOf reads what the author says of a flowchart activity: mergeMode, or
// the older joinMode; "" if nothing.
func mergeModeOf(p *engine.Preparation, n *engine.Node) string {
	a := n.Activity()
	mode := a.MergeMode
	if mode == "" {
		mode = engine.Text(a.CustomProperties["mergeMode"])
	}
	if mode == "" {
		mode = engine.Text(a.CustomProperties["joinMode"])
	}
	switch strings.ToLower(mode) {
	case "", "none":
		return ""
	case "stream":
		return mergeStream
	case "merge", "waitall", "waitallactive":
		return mergeMerge
	case "converge":
		return mergeConverge
	case "cascade":
		return mergeCascade
	case "race", "waitany":
		return mergeRace
	}
	p.Problem("bad-literal", a.Place, "merge mode %q of activity %s is not one of None, Stream, Merge, Converge, Cascade, Race", mode, n.LocalID())
	return ""
}
