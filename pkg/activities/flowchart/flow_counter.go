package flowchart

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
	s    *State

	// What this completion led to:
	decided []int          // joins that wait for any
	again   []*engine.Node // beginnings of loops
}

// frame is the connections that are left to be looked at, of one activity.
type frame struct {
	edges    []int
	outcomes []string // none for a dead path
}

// completed follows the connections of an activity. What a decided join puts an
// end to comes last, when none of them is half looked at.
func (r *counterRun) completed(done engine.Completed) error {
	at := r.plan.index[done.Node]
	if done.Tag != backTag {
		r.s.Seen.add(at, 1)
	}
	if err := r.follow(r.g.outbound[at], done.Outcomes); err != nil {
		return err
	}
	for len(r.decided) > 0 {
		target := r.decided[0]
		r.decided = r.decided[1:]
		if err := r.follow(r.decide(target), nil); err != nil {
			return err
		}
	}
	return nil
}

// follow visits connections, depth first through dead paths.
func (r *counterRun) follow(edges []int, outcomes []string) error {
	stack := []frame{{edges, outcomes}}
	for len(stack) > 0 {
		f := &stack[len(stack)-1]
		if len(f.edges) == 0 {
			stack = stack[:len(stack)-1]
			continue
		}
		i := f.edges[0]
		f.edges = f.edges[1:]
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
			stack = append(stack, frame{edges: r.g.outbound[e.target]})
		}
	}
	return nil
}

func (r *counterRun) visit(edge int, followed bool) {
	n := r.s.Paths.get(edge)/2 + 1
	v := n * 2
	if followed {
		v++
	}
	r.s.Paths.set(edge, v)
}

// back runs the target of a backward connection again.
func (r *counterRun) back(e *flowEdge, followed bool) error {
	if !followed {
		return nil
	}
	if !e.proper {
		return fmt.Errorf("the connection from %s back to %s enters a loop from its side: every way to %s must lead through %s",
			r.g.nodes[e.source].LocalID(), r.g.nodes[e.target].LocalID(), r.g.nodes[e.source].LocalID(), r.g.nodes[e.target].LocalID())
	}
	r.x.Schedule(r.g.nodes[e.target], engine.Child{Tag: backTag})
	r.again = append(r.again, r.g.nodes[e.target])
	return nil
}

// arrive decides what a visited connection means for its target: it runs, it
// waits, or (dead) it is passed over.
func (r *counterRun) arrive(edge int, e *flowEdge) (dead bool, err error) {
	mode, err := r.joinMode(r.g.nodes[e.target])
	if err != nil {
		return false, err
	}
	all, some, every := r.inbound(e.target)
	run := some
	switch mode {
	case JoinAny:
		if r.s.Paths.get(edge)/2 <= r.s.Seen.get(e.target) || slices.Contains(r.x.Scheduled(), r.g.nodes[e.target]) {
			return false, nil // decided already
		}
		if some {
			r.x.Schedule(r.g.nodes[e.target], engine.Child{})
			r.decided = append(r.decided, e.target)
			return false, nil
		}
	case JoinAll:
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

// decide ends the round of what leads to a join that waits for any: all that
// still runs is cancelled and counts as seen, with what would have come after
// it, so that the next round of a loop begins even. It gives the connections
// that lead from there to elsewhere; they are dead paths.
func (r *counterRun) decide(target int) (dead []int) {
	if !slices.Contains(r.x.Scheduled(), r.g.nodes[target]) {
		return nil // a join further on was decided too, and took it back
	}
	ancestors := r.g.ancestors(target)
	for _, n := range r.again {
		delete(ancestors, n) // a new round, which the decision of the join began
	}
	gone := cancelInbound(r.x, ancestors)
	for _, at := range r.g.order {
		if !gone[r.g.nodes[at]] {
			continue
		}
		round := r.s.Seen.get(at)
		for _, i := range r.g.forward[at] {
			round = max(round, r.s.Paths.get(i)/2)
		}
		if round == r.s.Seen.get(at) {
			continue // run again by a backward connection: nothing waits for this round
		}
		r.level(at, round)
		r.s.Seen.set(at, round)
		for _, i := range r.g.outbound[at] {
			next := r.g.edges[i].target
			if _, ok := ancestors[r.g.nodes[next]]; ok {
				r.visit(i, false)
				gone[r.g.nodes[next]] = true
			} else if next != target {
				dead = append(dead, i)
			}
		}
	}
	r.level(target, r.s.Seen.get(target)+1)
	return dead
}

// level lets the forward connections to an activity count as visited up to a
// round.
func (r *counterRun) level(target, round int) {
	for _, i := range r.g.forward[target] {
		if r.s.Paths.get(i)/2 < round {
			r.s.Paths.set(i, round*2)
		}
	}
}

// inbound looks at the forward connections to an activity: were all visited in
// this round, was any of these followed, was every one?
func (r *counterRun) inbound(target int) (all, some, every bool) {
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

func (r *counterRun) joinMode(n *engine.Node) (string, error) {
	if n.Type() != flowJoinType {
		return joinAllActive, nil
	}
	v, err := r.x.EvaluateChild(n, "mode")
	return engine.Text(v), err
}

// Counts are numbers by position; positions beyond its end count 0. Its JSON is
// the plain list without the zeros at its end.
type Counts []int

func (c Counts) get(i int) int {
	if i < len(c) {
		return c[i]
	}
	return 0
}

func (c *Counts) set(i, v int) {
	for len(*c) <= i {
		*c = append(*c, 0)
	}
	(*c)[i] = v
}

func (c *Counts) add(i, v int) { c.set(i, c.get(i)+v) }
