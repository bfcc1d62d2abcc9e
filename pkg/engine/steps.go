package engine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/weft-run/weft/pkg/workflow"
)

// An activity that has an undo and is done is a step. The scope around it keeps its steps, and undoes them, the last
// one first, when it fails or the instance is cancelled: see pkg/activities/undo. The engine tells it of steps, has the
// undo of one run below who undoes it, and lets what was done outlive what is around it.

// Undoer is implemented by the activity that is a scope, and by the one that undoes by hand.
type Undoer interface {
	// Done gives x a step that was done somewhere in it.
	Done(x *Execution, s Step)
	// Left is called before x is cancelled, by what is around it, with all that it has not undone.
	Left(x *Execution)
	// Unwind is called as the instance is cancelled, on the outermost one: false if there is nothing to undo. Else it
	// undoes it, and completes, with which the instance is cancelled.
	Unwind(x *Execution) bool
	// Undone are the ids of the activities that were undone in x, in order.
	Undone(x *Execution) []string
}

// Step is an activity that is done and has an undo.
type Step struct {
	ID       string          `json:"id"`  // its execution
	Number   int64           `json:"n"`   // as the journal has it
	Seq      int64           `json:"seq"` // steps that were done later have larger ones
	Activity string          `json:"activity"`
	Key      string          `json:"key"`              // its calls: when they were made again with the same keys, that is the same step
	Within   []string        `json:"within,omitempty"` // executions around it that have an undo, which stands for its own when they are done
	Vars     map[string]any  `json:"vars,omitempty"`   // its results, and the variables that end with what is around it, as they were
	Hidden   map[string]bool `json:"hidden,omitempty"` // those of them that the journal does not tell
}

// undoers are x and those around it that are an [Undoer].
type undoers struct{ x *Execution }

// each calls do with them, the innermost first, until it is true. If their memory cannot be read, the burst is to be dropped.
func (us undoers) each(do func(p *Execution, u Undoer) bool) {
	defer func() {
		if r := recover(); r != nil {
			err := us.x.b.recovered(us.x, r)
			us.x.b.fatal = cmp.Or(misfit(err), err)
		}
	}()
	for p := us.x; p != nil; p = p.parent {
		if u := p.node.undoer; u != nil && do(p, u) {
			return
		}
	}
}

// note tells the scope around x that x is done, if x has an undo.
func (us undoers) note() {
	x := us.x
	if x.node.ports[workflow.UndoPort] == nil {
		return
	}
	s := Step{ID: x.id, Number: x.number, Seq: x.b.seq, Activity: x.node.id, Key: cmp.Or(x.key, x.id), Vars: map[string]any{}, Hidden: map[string]bool{}}
	take := func(e *Execution, name string) {
		if d := e.node.variable(name); s.Vars[name] == nil && (d == nil || !d.memory) {
			s.Vars[name], s.Hidden[name] = e.vars[name], e.hidden[name]
		}
	}
	for e := x; e.parent != nil; e = e.parent {
		if e.scope == nil { // the variables of a definition that is used are not those of its user
			for name := range e.vars {
				take(e, name)
			}
		}
		if e != x && e.node.ports[workflow.UndoPort] != nil {
			s.Within = append(s.Within, e.id)
		}
	}
	for _, name := range x.node.gives {
		if e, name := holder(x.parent, name); e != nil {
			take(e, name)
		}
	}
	maps.DeleteFunc(s.Hidden, func(_ string, hidden bool) bool { return !hidden })
	x.b.growth.added += workBytes + Weigh(s.Vars)
	undoers{x.parent}.each(func(p *Execution, u Undoer) bool { u.Done(p, s); return p.node.desc.Type == workflow.ScopeType })
}

// left lets what x has not undone outlive it.
func (us undoers) left() {
	if us.x.node.undoer != nil {
		us.each(func(p *Execution, u Undoer) bool { u.Left(p); return true })
	}
}

// unwind begins to undo what was done, as the instance is to be cancelled; false if nothing is to be undone. x is the
// execution of the workflow; nil: it has none.
func (us undoers) unwind() (does bool) {
	if us.x != nil && us.x.status == running && len(us.x.kids) > 0 && us.x.kids[0].node.undoer != nil {
		undoers{us.x.kids[0]}.each(func(p *Execution, u Undoer) bool { does = u.Unwind(p); return true })
		us.x.b.unwinding = does
	}
	return does
}

// undone are the activities that x has undone, if it is an [Undoer].
func (us undoers) undone() (ids []string) {
	if us.x.node.undoer != nil {
		us.each(func(p *Execution, u Undoer) bool { ids = u.Undone(p); return true })
	}
	return ids
}

// Schedule has the undo of a step run as a child of x, which is an [Undoer], with its id as the tag and these variables
// beside its own. It has the same key whenever it runs. It returns an error if the definition, which is another version
// by now, has none.
func (s Step) Schedule(x *Execution, vars map[string]any) error {
	n := x.b.prog.nodes[s.Activity]
	if n == nil || n.ports[workflow.UndoPort] == nil {
		return fmt.Errorf("version %d of the definition has no undo of %s", x.b.header.Version, s.Activity)
	}
	all := maps.Clone(s.Vars)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, mustNormalizeMap(vars))
	x.pending++
	x.b.growth.added += workBytes + Weigh(all)
	x.b.schedule.push(work{kind: workExecute, node: n.ports[workflow.UndoPort], owner: x, tag: s.ID, vars: all, hidden: s.Hidden, key: workflow.DeriveID(s.Key, workflow.UndoPort), cmd: x.b.cmd})
	return nil
}

// OtherCalls gives all that runs in x from now on other keys, and all that runs with the keys of x: what was undone is
// done again by other calls, also in the next attempt of a retry around x.
func (x *Execution) OtherCalls() {
	for e := x; e != nil && e.node.desc.Type != workflow.RetryType; e = e.parent {
		e.inner = workflow.DeriveID(cmp.Or(e.inner, e.key, e.id), x.id, workflow.UndoPort)
	}
}

// isUndo tells whether n undoes the activity that it stands beside.
func (n *Node) isUndo() bool {
	return n.parent != nil && n.parent.activity.Ports[workflow.UndoPort] == n.activity
}

// runsIn tells whether an execution of n may be a child of one of p.
func (n *Node) runsIn(p *Node) bool { return n.parent == p || n.isUndo() && p.undoer != nil }

// root is what runs below the boundary of a definition: its root, in a scope if something in it has an undo.
func (c *compiler) root(boundary *Node, def *workflow.Definition) *workflow.Activity {
	has := false
	workflow.Walk(def.Root, func(a, _ *workflow.Activity, _ int) bool {
		has = has || a.Ports[workflow.UndoPort] != nil
		return true
	})
	if !has || boundary.parent != nil {
		return def.Root
	}
	scope := &workflow.Activity{Type: workflow.ScopeType, Place: def.Root.Place, Ports: map[string]*workflow.Activity{"body": def.Root}}
	if def.Root.ID != "" {
		scope.ID = def.Root.ID + workflow.ScopeSuffix
	}
	return scope
}

// undo compiles the branch of n that undoes it.
func (c *compiler) undo(u *unit, n *Node, a *workflow.Activity, ids map[*workflow.Activity]string, depth int) {
	undo := a.Ports[workflow.UndoPort]
	if undo == nil {
		return
	}
	if c.via != nil {
		c.problem("undo-in-used", undo.Place, "%s has an undo, and the definition is used as an activity: put the undo beside that activity, or run the definition with executeWorkflow", n.local)
	}
	for p := n; p != nil; p = p.parent {
		if p.isUndo() {
			c.problem("undo-in-undo", undo.Place, "%s has an undo and is itself in that of %s: what undoes is not undone", n.local, p.parent.local)
			break
		}
	}
	if n.ports == nil {
		n.ports = map[string]*Node{}
	}
	n.ports[workflow.UndoPort] = c.node(u, n, undo, ids, depth+1)
}

// gives notes with what has an undo which variables take results of it and of what is in it.
func (c *compiler) gives() {
	for _, n := range c.order {
		for _, t := range n.targets {
			for p := n; p.parent != nil && t.variable != "" && !p.isUndo() && p.unit == n.unit; p = p.parent {
				if p.ports[workflow.UndoPort] != nil && !slices.Contains(p.gives, t.variable) {
					p.gives = append(p.gives, t.variable)
				}
			}
		}
	}
}
