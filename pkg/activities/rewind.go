package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/weft-run/weft/pkg/engine"
)

func everyNode(*engine.Node) bool { return true }

// Rewind goes on from one of the activities of the sequence.
func (sequenceActivity) Rewind(_ context.Context, x *engine.Execution, child *engine.Node) error {
	at := slices.Index(x.Node().List(), child)
	x.Retract(everyNode)
	*engine.Scratch[sequenceState](x) = sequenceState{Next: at + 1}
	x.Schedule(child, engine.Child{})
	return nil
}

// Rewind runs one of the branches again, beside the others.
func (parallelActivity) Rewind(_ context.Context, x *engine.Execution, child *engine.Node) error {
	x.Schedule(child, engine.Child{})
	return nil
}

// oneBranch is what activities share that run one branch of several.
type oneBranch struct{}

// Rewind takes a branch in the place of the one that was taken.
func (oneBranch) Rewind(_ context.Context, x *engine.Execution, child *engine.Node) error {
	x.Retract(everyNode)
	x.Schedule(child, engine.Child{})
	return nil
}

// Rewind goes on from one of the activities of the flowchart: what came after it is
// cancelled, and counts as not done.
func (flowchartActivity) Rewind(_ context.Context, x *engine.Execution, child *engine.Node) error {
	plan := x.Node().Data().(*flowPlan)
	s := engine.Scratch[flowState](x)
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
			if e := r.g.edges[i]; !after[e.source] && !slices.Contains(r.s.Marks, flowToken{Edge: i}) {
				return fmt.Errorf("%s comes after it and may have taken the token of %s, which does not run again: run that again too, or what is around both",
					r.g.nodes[at].LocalID(), r.g.nodes[e.source].LocalID())
			}
		}
	}
	r.s.Marks = slices.DeleteFunc(r.s.Marks, func(t flowToken) bool { return after[r.g.edges[t.Edge].source] })
	return nil
}

// Rewind goes on from the entry of a state, or an action of the current one.
func (stateMachineActivity) Rewind(_ context.Context, x *engine.Execution, child *engine.Node) error {
	s := engine.Scratch[machineState](x)
	taken, tag := -1, ""
	state := slices.IndexFunc(x.Node().States(), func(st engine.NodeState) bool {
		if st.Entry == child {
			tag = "entry"
			return true
		}
		for i, t := range st.Transitions {
			if t.Action == child {
				taken, tag = i, "action"
				return true
			}
		}
		return false
	})
	switch {
	case tag == "":
		return errors.New("a state machine goes back to the entry of a state, or to the action of a transition")
	case tag == "action" && state != s.State:
		return fmt.Errorf("it leads out of the state %s, and the machine is in %s", x.Node().States()[state].Name, x.Node().States()[s.State].Name)
	}
	x.Retract(everyNode)
	s.State, s.Taken = state, taken
	x.SetOutput("currentState", x.Node().States()[state].Name)
	x.Schedule(child, engine.Child{Tag: tag})
	return nil
}
