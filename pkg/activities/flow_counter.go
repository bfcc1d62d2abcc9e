package activities

import (
	"fmt"
	"slices"

	"github.com/weft-run/weft/pkg/engine"
)

// counterRun is the counter-based engine, Elsa's default. It counts visits of
// activities and connections: an activity runs when each of its forward inbound
// connections was visited once more than itself, and one of them was followed.
// A dead path is visited without being followed, so that no join waits for it.
type counterRun struct {
	x    *engine.Execution
	plan *flowPlan
	g    *flowGraph
	s    *flowState
}

// frame is an activity whose outbound connections are being looked at.
type frame struct {
	at       int
	outcomes []string // none for a dead path
	next     int
}

// completed follows the connections of an activity, depth first through dead
// paths.
func (r counterRun) completed(done engine.Completed) error {
	at := r.plan.index[done.Node]
	if done.Tag != backTag {
		r.s.Seen.add(at, 1)
	}
	stack := []frame{{at: at, outcomes: done.Outcomes}}
	for len(stack) > 0 {
		f := &stack[len(stack)-1]
		if f.next == len(r.g.outbound[f.at]) {
			stack = stack[:len(stack)-1]
			continue
		}
		i := r.g.outbound[f.at][f.next]
		f.next++
		e := &r.g.edges[i]
		followed := slices.Contains(f.outcomes, e.port)
		r.visit(i, followed)
		if e.backward {
			if err := r.back(e, followed); err != nil {
				return err
			}
			continue
		}
		dead, err := r.arrive(i, e)
		if err != nil {
			return err
		}
		if dead {
			r.s.Seen.add(e.target, 1)
			stack = append(stack, frame{at: e.target})
		}
	}
	return nil
}

func (r counterRun) visit(edge int, followed bool) {
	n := r.s.Paths.get(edge)/2 + 1
	v := n * 2
	if followed {
		v++
	}
	r.s.Paths.set(edge, v)
}

// back runs the target of a backward connection again.
func (r counterRun) back(e *flowEdge, followed bool) error {
	if !followed {
		return nil
	}
	if !e.proper {
		return fmt.Errorf("the connection from %s back to %s enters a loop from its side: every way to %s must lead through %s",
			r.g.nodes[e.source].LocalID(), r.g.nodes[e.target].LocalID(), r.g.nodes[e.source].LocalID(), r.g.nodes[e.target].LocalID())
	}
	r.x.Schedule(r.g.nodes[e.target], engine.Child{Tag: backTag})
	return nil
}

// arrive decides what a visited connection means for its target: it runs, it
// waits, or (dead) it is passed over.
func (r counterRun) arrive(edge int, e *flowEdge) (dead bool, err error) {
	mode, err := r.joinMode(r.g.nodes[e.target])
	if err != nil {
		return false, err
	}
	all, some, every := r.inbound(e.target)
	run := some
	switch mode {
	case joinAny:
		if r.s.Paths.get(edge)/2 <= r.s.Seen.get(e.target) || slices.Contains(r.x.Scheduled(), r.g.nodes[e.target]) {
			return false, nil // decided already
		}
		if some {
			r.decide(e.target)
			return false, nil
		}
	case joinAll:
		run = every
	}
	switch {
	case !all:
	case run:
		r.x.Schedule(r.g.nodes[e.target], engine.Child{})
	default:
		return true, nil
	}
	return false, nil
}

// decide runs a join that waits for any: what else leads to it is cancelled,
// and counts as visited, so that the next round of a loop begins even.
func (r counterRun) decide(target int) {
	cancelInbound(r.x, r.g.ancestors(target))
	round := r.s.Seen.get(target) + 1
	for _, i := range r.g.forward[target] {
		if r.s.Paths.get(i)/2 < round {
			r.s.Paths.set(i, round*2)
		}
	}
	r.x.Schedule(r.g.nodes[target], engine.Child{})
}

// inbound looks at the forward connections to an activity: were all visited in
// this round, was any of these followed, was every one?
func (r counterRun) inbound(target int) (all, some, every bool) {
	all, every = true, true
	round := r.s.Seen.get(target)
	for _, i := range r.g.forward[target] {
		v := r.s.Paths.get(i)
		visited := v/2 > round
		all = all && visited
		some = some || visited && v%2 == 1
		every = every && visited && v%2 == 1
	}
	return all, some, every
}

func (r counterRun) joinMode(n *engine.Node) (string, error) {
	if n.Type() != flowJoinType {
		return joinAllActive, nil
	}
	v, err := r.x.EvaluateChild(n, "mode")
	return engine.Text(v), err
}

// counts are numbers by position; positions beyond its end count 0. Its JSON is
// the plain list without the zeros at its end.
type counts []int

func (c counts) get(i int) int {
	if i < len(c) {
		return c[i]
	}
	return 0
}

func (c *counts) set(i, v int) {
	for len(*c) <= i {
		*c = append(*c, 0)
	}
	(*c)[i] = v
}

func (c *counts) add(i, v int) { c.set(i, c.get(i)+v) }
