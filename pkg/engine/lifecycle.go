package engine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/weft-run/weft/pkg/workflow"
)

// DoneOutcome is the outcome of an activity that names no other.
const DoneOutcome = "Done"

// begin makes the execution of scheduled work; nil if it may not begin, which
// is then an incident.
func (b *Burst) begin(w *work) *Execution {
	x := &Execution{b: b, node: w.node, parent: w.owner, tag: w.tag, born: b.cmd.ID, key: w.key, inner: w.inner, led: w.led, times: w.times, fresh: true, hidden: w.hidden}
	x.ord = b.cmd.Ords[w.node.id]
	x.id = b.deriveID(w.node, "execution")
	if x.key == "" {
		x.key = w.owner.childKey(w.node, w.vars)
	}
	if x.key == "" && w.node.wraps() { // what is in it keeps its key if it runs again
		x.key = x.id
	}
	if w.owner == nil {
		b.root = x
	} else {
		w.owner.kids = append(w.owner.kids, x)
		x.attempt = w.owner.attempt
	}
	b.open(x, w.vars)
	if w.owner != nil && depth(x, b.limits.Depth) {
		b.fault(x, errDepth(b.limits.Depth), brokenCall{Kind: workExecute})
		return nil
	}
	return x
}

// open gives x the scope that its node declares, and the variables its parent
// hands it.
func (b *Burst) open(x *Execution, vars map[string]any) {
	if len(x.node.vars) > 0 || vars != nil {
		x.vars = make(map[string]any, len(x.node.vars)+len(vars))
		for _, v := range x.node.vars {
			x.vars[v.name] = v.value
		}
		maps.Copy(x.vars, vars)
	}
	if x.node.inner != nil {
		x.scope = &scopeState{}
	}
}

// forget drops what x has until the end of a burst: what its inputs were, and its
// variables that are not kept, which are as they are at first.
func (x *Execution) forget() {
	x.values, x.evaluated, x.masked = nil, nil, nil
	if x.told = 0; x.node.desc.NoEffect {
		x.first = 0
	}
	for _, v := range x.node.vars {
		if v.memory {
			x.vars[v.name] = v.value
		}
	}
}

// depth reports whether x is nested deeper than limit.
func depth(x *Execution, limit int) bool {
	n := 0
	for p := x; p != nil; p = p.parent {
		if n++; n > limit+1 {
			return true
		}
	}
	return false
}

// complete ends x with outcomes: what is below it is cancelled, its parent is
// told next.
func (b *Burst) complete(x *Execution, outcomes []string) {
	if !x.Idle() {
		b.clear(x)
	}
	tellMet(b, x)
	x.status = completed
	if len(outcomes) == 0 {
		if outcomes = x.outcomes; len(outcomes) == 0 {
			outcomes = doneOutcomes
		}
	}
	outcomes = b.env.redactTexts(outcomes)
	b.remember(x)
	undoers{x}.note()
	b.journalCompleted(x, outcomes)
	b.count(x, "completed")
	if x.parent == nil {
		b.rootDone = true
		return
	}
	if b.unwinding && x.parent == b.root {
		b.finishing, b.unwound = true, true
	}
	x.parent.drop(x)
	b.completions = append(b.completions, completion{x.parent, x.completed(outcomes), b.cmd})
}

// completed is what the parent of x is told about its end.
func (x *Execution) completed(outcomes []string) Completed {
	return Completed{Node: x.node, ID: x.id, Tag: x.tag, Outcomes: outcomes, key: cmp.Or(x.key, x.id), told: x.told, led: x.led}
}

var doneOutcomes = []string{DoneOutcome}

// remember keeps the outputs of x for expressions that ask for them later.
func (b *Burst) remember(x *Execution) {
	home := x.boundary(x.parent)
	if home == nil || len(x.results) == 0 || !x.node.unit.keepOutputs {
		return
	}
	if home.scope.results == nil {
		home.scope.results = map[string]map[string]any{}
	}
	home.scope.results[x.node.local] = x.results
	if len(x.node.desc.Outputs) > 0 {
		if v, ok := x.results[x.node.desc.Outputs[0].Name]; ok {
			home.scope.last = v
		}
	}
}

// drop takes a child out of the list of live ones.
func (x *Execution) drop(kid *Execution) {
	if i := slices.Index(x.kids, kid); i >= 0 {
		x.kids = slices.Delete(x.kids, i, i+1)
	}
}

// clear cancels everything below x and removes its bookmarks.
func (b *Burst) clear(x *Execution) {
	for len(x.kids) > 0 {
		b.cancelTree(x.kids[len(x.kids)-1])
	}
	b.unmark(func(m *mark) bool { return m.x == x })
	x.deferred = nil
}

// cancelTree cancels x and everything below it, deepest first.
func (b *Burst) cancelTree(x *Execution) {
	if x.status != running && x.status != faulted {
		return
	}
	var order []*Execution
	for stack := []*Execution{x}; len(stack) > 0; {
		e := stack[len(stack)-1]
		stack = append(stack[:len(stack)-1], e.kids...)
		order = append(order, e)
	}
	waiting, told := false, 0
	for _, e := range slices.Backward(order) {
		undoers{e}.left()
		was := e.status
		e.status = canceled
		e.kids, e.deferred = nil, nil
		waiting = waiting || e.waits > 0
		if was == running {
			tellMet(b, e)
			if told++; told < mostCanceled {
				b.journal(e, EventCanceled, aside{b}.cut(e), nil)
			} else if told == mostCanceled {
				b.journal(e, EventCanceled, fmt.Sprintf("%d that were canceled with it have no line of their own", runningOf(order)+b.brief.running), nil)
			}
			b.count(e, "canceled")
		}
	}
	if waiting {
		b.unmark(func(m *mark) bool { return m.x.status == canceled })
	}
	if x.parent != nil {
		x.parent.drop(x)
	}
}

// mostCanceled is how many lines a journal has at most of what is canceled at once: one commit carries them all.
const mostCanceled = 10_000

// runningOf counts those that run.
func runningOf(xs []*Execution) (n int) {
	for _, x := range xs {
		if x.status == running {
			n++
		}
	}
	return n
}

// tellMet tells the journal of the resumes that x does not come to any more: who sent them was told that they
// met the instance, and their bookmarks are burned.
func tellMet(b *Burst, x *Execution) {
	if x.pending == 0 {
		return
	}
	for _, w := range b.schedule.left() {
		if w.kind == workResume && w.x == x && w.resume.Bookmark.ID != "" && !w.again {
			b.journal(x, EventResumed, w.resume.Bookmark.Name, nil)
		}
	}
}

// end ends the instance for a command. A cancel undoes first what was done; one that comes while that goes on changes
// nothing.
func (b *Burst) end(kind workflow.CommandKind) {
	if kind == workflow.CommandDelete || !b.unwinding && !(undoers{b.root}).unwind() {
		b.cancelAll()
	}
}

// cancelAll ends the instance as Cancelled; children that it waits for are
// cancelled with it, in slices.
func (b *Burst) cancelAll() {
	if b.root != nil && b.root.status == running {
		b.cancelTree(b.root)
	}
	b.unmark(func(*mark) bool { return true })
	b.brief.cancel(b)
	b.cancelling, b.cancels = append(b.cancels, b.cancelling...), nil
	b.schedule, b.completions, b.late = schedule{}, nil, nil
	b.halted, b.rootDone, b.unwinding, b.unwound = false, false, false, false
	b.root = nil
	b.ending = workflow.Cancelled
}

// childSlice is how many children one commit starts or cancels.
const childSlice = 100

// sliceCancel moves the next slice of children into the result and reports
// whether there are more.
func (b *Burst) sliceCancel() bool {
	n := min(childSlice-len(b.cancels), len(b.cancelling))
	b.cancels = append(b.cancels, b.cancelling[:max(n, 0)]...)
	b.cancelling = b.cancelling[max(n, 0):]
	if len(b.cancelling) == 0 {
		b.cancelling = nil
	}
	return len(b.cancelling) > 0
}

// finishAll ends the instance for a Finish activity, or as all is undone of one that is to be cancelled: what still
// runs or waits is cancelled.
func (b *Burst) finishAll() {
	b.finishing = false
	if b.unwound {
		b.cancelAll()
		return
	}
	if b.root == nil || b.root.status != running {
		return
	}
	b.completions = nil
	b.clear(b.root)
	b.schedule = schedule{}
	b.root.pending = 0
	if err := b.finishRoot(); err != nil {
		b.fault(b.root, err, brokenCall{Kind: workChild, Done: &Completed{Node: b.root.node.ports["root"]}})
		b.halted = true
		return
	}
	b.complete(b.root, nil)
	b.completions = nil
}

// finishRoot evaluates the workflow's outputs; a panic is an error.
func (b *Burst) finishRoot() (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = b.recovered(b.root, r)
		}
	}()
	return finishUnit(b.root, nil)
}

// setStatus gives the header the status in which the burst leaves the
// instance.
func (b *Burst) setStatus() {
	h := &b.header
	switch {
	case b.ending != "":
		h.SubStatus = b.ending
	case b.halted:
		h.SubStatus = workflow.Faulted
	case b.rootDone:
		h.SubStatus = workflow.Finished
		b.schedule = schedule{}
	case !b.started:
		h.SubStatus = workflow.Pending
	default:
		h.SubStatus = workflow.Suspended
	}
	h.Status = h.SubStatus.Status()
	switch {
	case h.Status == workflow.StatusRunning:
		h.FinishedAt = nil
	case h.FinishedAt == nil:
		now := b.env.Now()
		h.FinishedAt = &now
	}
}

func (b *Burst) count(x *Execution, outcome string) {
	if b.env.Metrics == nil || x.node.parent == nil {
		return
	}
	b.env.Metrics.Activity(x.node.countedType(), outcome)
}

// countedType is the type under which a node's executions are counted and traced.
func (n *Node) countedType() string {
	if n.inner != nil || n.impl == nil {
		return "Elsa.WorkflowDefinitionActivity" // its name is text from a definition
	}
	return n.desc.Type
}
