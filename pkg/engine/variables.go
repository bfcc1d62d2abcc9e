package engine

import (
	"slices"

	"github.com/weft-run/weft/pkg/workflow"
)

// How much one entry of the journal tells about variables.
const (
	maxVariables     = 100 // that were set
	maxVariableName  = 256 // bytes
	maxVariableValue = 256 // bytes of JSON, about
)

// keepsInputs reports whether some of the inputs of x are kept out of the journal, or
// the call into its activity read a secret: then what it makes of them is kept out, too.
func (x *Execution) keepsInputs() bool {
	return !x.node.logs.inputs || x.secretUsed() || x.b.calling == x && x.b.secrets != x.b.secretsBefore ||
		slices.ContainsFunc(x.node.inputs, func(in input) bool { return in.given && in.hidden })
}

// keepsOutputs reports whether some of the outputs of x are kept out of the journal: a
// variable that its activity sets may have the same value.
func (x *Execution) keepsOutputs() bool {
	return !x.node.logs.outputs || len(x.node.logs.hiddenOutputs) > 0
}

func (x *Execution) keepsOutput(name string) bool {
	return !x.node.logs.outputs || x.node.logs.hiddenOutputs[name] || x.secretUsed()
}

// noteSet remembers who set a variable of x, and whether the journal may tell its
// value.
func (x *Execution) noteSet(name string, by *Execution, hidden bool) {
	if x.set == nil {
		x.set = make(map[string]*Execution, 1)
	}
	x.set[name] = by
	if !hidden {
		delete(x.hidden, name)
		return
	}
	if x.hidden == nil {
		x.hidden = map[string]bool{}
	}
	x.hidden[name] = true
}

// variableLog is what the journal has been told of the variables.
type variableLog struct {
	told     []*Execution // those with variables at the last commit
	left     []int64      // and the numbers of those that were not read
	replaced bool         // an import put the state in the place of another, and no commit has it
}

// committed says that a commit has all variables as they are.
func (l *variableLog) committed(root *Execution) {
	l.told, l.left, l.replaced = nil, nil, false
	for x := range tree(root) {
		x.fresh, x.set = false, nil
		if x.vars != nil {
			l.told = append(l.told, x)
		}
	}
}

// replace says that the state is an import.
func (l *variableLog) replace(root *Execution) {
	l.replaced = true
	for x := range tree(root) {
		x.fresh = true
	}
}

// hideVariables keeps the values of all variables out of the journal until they are set again.
func hideVariables(b *Burst) {
	all := func(vars map[string]any) map[string]bool {
		hidden := make(map[string]bool, len(vars))
		for name := range vars {
			hidden[name] = true
		}
		return hidden
	}
	for x := range tree(b.root) {
		x.hidden = all(x.vars)
	}
	left := b.schedule.left()
	for i := range left {
		left[i].hidden = all(left[i].vars)
	}
}

// changes is what happened to the variables since the last commit.
func (l *variableLog) changes(root *Execution) workflow.VariableChanges {
	out := workflow.VariableChanges{Reset: l.replaced, Gone: l.left[:len(l.left):len(l.left)]}
	var open map[*Execution]bool
	if len(l.told) > 0 {
		open = make(map[*Execution]bool, len(l.told))
	}
	for x := range tree(root) {
		if open != nil && x.vars != nil {
			open[x] = true
		}
		switch {
		case x.fresh && len(x.vars) > 0:
			x.tell(sortedKeys(x.vars), &out)
		case len(x.set) > 0:
			x.tell(sortedKeys(x.set), &out)
		}
	}
	for _, x := range l.told {
		if !open[x] {
			out.Gone = append(out.Gone, x.number)
		}
	}
	return out
}

// tell adds variables of the scope of x to what the journal says.
func (x *Execution) tell(names []string, out *workflow.VariableChanges) {
	for _, name := range names {
		d := x.node.variable(name)
		if d != nil && d.memory || x.fresh && x.vars[name] == nil {
			continue
		}
		if len(out.Set) == maxVariables || len(name) > maxVariableName {
			out.Left++
			continue
		}
		by := x.set[name]
		if by == nil && d == nil && !x.b.variables.replaced {
			by = x.parent // gave it
		}
		c := workflow.VariableChange{Execution: x.number, Name: x.b.env.hideText(name), Hidden: x.hidden[name]}
		if by != nil {
			c.By = by.number
		}
		if !c.Hidden {
			c.Value, c.Clipped = x.b.env.shown(x.vars[name])
		}
		out.Set = append(out.Set, c)
	}
}

func (n *Node) variable(name string) *variable {
	for i := range n.vars {
		if n.vars[i].name == name {
			return &n.vars[i]
		}
	}
	return nil
}

// shown is a variable's value as the journal has it, and whether that is only the
// beginning of its text.
func (e *Env) shown(v any) (any, bool) {
	left := maxVariableValue
	if !weigh(v, &left) {
		return workflow.CutBytes(e.hideText(Text(v)), maxVariableValue), true
	}
	return e.hide(v), false
}
