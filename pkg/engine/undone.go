package engine

import "slices"

// What runs since a call has failed, in a branch of it (onGiveUp, onTimeout, an outcome), may undo
// what the call did: refund what was paid, free what was reserved. If a Fault activity ends that branch,
// a retry would make the call again all the same. So it is refused unless it says so, and what was
// done is named. Known is what the branch holds, not what of it has run. A Fault that is final says so by itself:
// the author knows that a retry is wrong.

// problemUndone is the code of what a retry is refused for.
const problemUndone = "undone"

// undone notes the calls that a retry below top makes again although a branch may have undone them. named: top
// itself is run again; else what led to a failure is.
func (a *altering) undone(top *Execution, named bool) (found bool) {
	found = a.forGood()
	for _, x := range broken(top) {
		if x.broken == nil || x.broken.Final {
			continue
		}
		from := top
		if !named {
			from, _ = origin(x)
		}
		if _, by := origin(x); from == x && by == nil || !x.broken.Raised {
			continue
		}
		did := effectsBetween(from, x)
		if len(did) == 0 {
			continue
		}
		found = true
		call := from.node.shownID()
		if main := from.node.ports[from.node.desc.MainPort]; from.node.wraps() && main != nil {
			call = main.shownID()
		}
		a.problem(problemUndone, "again", "%s would run again, and %s, which may have run since it failed, may have undone it: look at what they did, then retry with again (--again), skip activities, or delete the instance",
			call, listed(did))
	}
	return found
}

// forGood notes that the instance has failed for good: wherever a retry begins, all of it would go on.
func (a *altering) forGood() (found bool) {
	for _, x := range broken(a.b.root) {
		steps := undoers{x}.undone()
		switch {
		case x.broken == nil:
		case len(steps) > 0:
			found = true
			a.problem(problemUndone, "again", "what it did was undone (%s), and would be done again, with other keys, as %s begins again: look at what is there, then retry with again (--again), or delete the instance", listed(steps), x.node.shownID())
		case x.broken.Final:
			found = true
			a.problem(problemUndone, "again", "%s said that the instance has failed for good: look at what it did before, then retry with again (--again), or delete the instance", x.node.shownID())
		}
	}
	return found
}

// effectsBetween are the ids of the activities with an effect outside in the branch of from that x is in,
// or in from itself, if what led to it runs again.
func effectsBetween(from, x *Execution) (ids []string) {
	branch := from
	if _, by := origin(x); by == nil {
		for branch = x; branch.parent != nil && branch.parent != from; {
			branch = branch.parent
		}
	}
	var nodes []*Node
	for _, n := range x.b.prog.nodes {
		for p := n; p != nil; p = p.parent {
			if p == branch.node && n.inner == nil && !n.desc.NoEffect && !n.desc.Container && !n.wraps() {
				nodes = append(nodes, n)
			}
		}
	}
	slices.SortFunc(nodes, func(a, b *Node) int { return int(a.index - b.index) })
	for _, n := range nodes {
		ids = append(ids, n.shownID())
	}
	return ids
}
