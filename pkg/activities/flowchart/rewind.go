package flowchart

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/weft-run/weft/pkg/engine"
)

// Rewind goes on from one of the activities of the flowchart: what came after it is
// cancelled, and counts as not done.
func (flowchartActivity) Rewind(_ context.Context, x *engine.Execution, child *engine.Node) error {
	plan := x.Node().Data().(*flowPlan)
	s := engine.Scratch[State](x)
	g := plan.graph(s.Start)
	at := plan.index[child]
	untold := x.Untold()
	if slices.Contains(untold, child) {
		return errors.New("it has just ended, and nothing came after it yet: leave out its skip, or retry what faulted first")
	}
	live := map[int]bool{}
	for _, n := range append(untold, x.Scheduled()...) {
		live[plan.index[n]] = true
	}
	for _, k := range x.Children() {
		live[plan.index[k.Node()]] = true
	}
	for _, before := range g.ancestors(at) {
		if live[before] && before != at {
			return fmt.Errorf("it comes after %s, which runs or has just ended: skip that, or run it again", plan.nodes[before].LocalID())
		}
	}
	after := g.after(at)
	if s.Token {
		if err := (tokenRun{x, plan, g, s}).takeBack(at, after, live); err != nil {
			return err
		}
	} else if !(&counterRun{x: x, plan: plan, g: g, s: s}).takeBack(at, after) {
		return errors.New("it has not run yet")
	}
	drop := func(n *engine.Node) bool { return after[plan.index[n]] }
	x.Retract(drop)
	x.Schedule(child, engine.Child{})
	return nil
}

// after is an activity and all that forward edges lead to from there.
func (g *flowGraph) after(at int) map[int]bool {
	out := map[int]bool{at: true}
	stack := []int{at}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, i := range g.outbound[n] {
			if e := g.edges[i]; !e.backward && !out[e.target] {
				out[e.target] = true
				stack = append(stack, e.target)
			}
		}
	}
	return out
}

// takeBack lets an activity, and what came after it in the same round, count as not
// done. False: it has not run.
func (r *counterRun) takeBack(target int, after map[int]bool) bool {
	if r.s.Seen.get(target) == 0 {
		return false
	}
	for _, at := range r.g.order {
		if !after[at] {
			continue
		}
		seen := r.s.Seen.get(at)
		undone := at == target || seen > 0 && slices.ContainsFunc(r.g.forward[at], func(i int) bool { return r.s.Paths.get(i)/2 < seen })
		if !undone {
			continue
		}
		r.s.Seen.set(at, seen-1)
		for _, i := range r.g.outbound[at] {
			r.s.Paths.set(i, max(0, r.s.Paths.get(i)/2-1)*2)
		}
	}
	return true
}

// takeBack takes the tokens away that an activity and what came after it have put.
func (r tokenRun) takeBack(target int, after, live map[int]bool) error {
	for at := range after {
		mode, err := r.mode(at)
		if err != nil {
			return err
		}
		if at == target || live[at] || mode != mergeMerge && mode != mergeConverge {
			continue
		}
		for _, i := range r.g.inbound[at] {
			if e := r.g.edges[i]; !after[e.source] && !slices.Contains(r.s.Marks, Token{Edge: i}) {
				return fmt.Errorf("%s comes after it and may have taken the token of %s, which does not run again: run that again too, or what is around both",
					r.g.nodes[at].LocalID(), r.g.nodes[e.source].LocalID())
			}
		}
	}
	r.s.Marks = slices.DeleteFunc(r.s.Marks, func(t Token) bool { return after[r.g.edges[t.Edge].source] })
	return nil
}
