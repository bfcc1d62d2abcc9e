package engine

import (
	"cmp"

	"github.com/weft-run/weft/pkg/workflow"
)

// Preparation is one node at compile time, for [Preparer] and [Triggerer].
type Preparation struct {
	Node *Node
	c    *compiler
}

// Problem reports that something is wrong at place; a zero place means the activity's.
func (p *Preparation) Problem(code string, place workflow.Place, format string, args ...any) {
	p.c.problem(code, cmp.Or(place, p.Node.activity.Place), format, args...)
}

// SetData stores what [Node.Data] gives at run time. It must not be changed later.
func (p *Preparation) SetData(v any) { p.Node.data = v }

// Constant is the converted value of an input that is known at compile time:
// a literal, a default or nil. It is false if the value is known only at run
// time, or bad (which was reported).
func (p *Preparation) Constant(name string) (any, bool) {
	in := p.Node.input(name)
	if in == nil {
		return nil, false
	}
	return in.value, in.constant
}

// Place is where an input was written; the activity's place if it was not.
func (p *Preparation) Place(name string) workflow.Place {
	if in := p.Node.input(name); in != nil && in.expr.Place != (workflow.Place{}) {
		return in.expr.Place
	}
	return p.Node.activity.Place
}

// Compile compiles an expression that is not an input of its own, such as a
// script; problems are reported under the name what. nil if it is bad.
func (p *Preparation) Compile(what string, e workflow.Expression) Compiled {
	e.Place = cmp.Or(e.Place, p.Node.activity.Place)
	return p.c.expression(e, what)
}

// Evaluates says that the activity evaluates expressions of a kind which are known
// only at run time ([Execution.RunExpression]); it is a problem at place if nothing
// here does. what names them.
func (p *Preparation) Evaluates(kind, what string, place workflow.Place) {
	p.c.evaluator(workflow.Expression{Kind: kind, Place: place}, what)
}

// TriggerValue is like Constant for inputs of triggers: it also evaluates
// expressions that depend on nothing but the initial values of variables, and
// reports all others as problems.
func (p *Preparation) TriggerValue(name string) (any, bool) {
	in := p.Node.input(name)
	if in == nil || in.constant {
		return p.Constant(name)
	}
	if in.compiled == nil {
		return nil, false
	}
	v, constant, err := constantOf(in.compiled, p.Node)
	if !constant {
		p.Problem("trigger-not-constant", p.Place(name), "input %s of the trigger %s must be known when the definition is published; it may not read inputs, outputs, secrets or the time", name, p.Node.local)
		return nil, false
	}
	if err == nil {
		v, err = convert(v, in.desc)
	}
	if err != nil {
		p.Problem("bad-expression", p.Place(name), "input %s of the trigger %s: %v", name, p.Node.local, err)
		return nil, false
	}
	return v, true
}

// triggers collects the triggers of a node that may start instances.
func (c *compiler) triggers(p *Preparation) {
	for _, t := range p.Node.impl.(Triggerer).Triggers(p) {
		t.ActivityID, t.ActivityType = p.Node.id, p.Node.desc.Type
		if t.Hash == "" {
			hash, err := workflow.Hash(t.ActivityType, t.Payload)
			if err != nil {
				p.Problem("bad-trigger", workflow.Place{}, "trigger %s: %v", p.Node.local, err)
				continue
			}
			t.Hash = hash
		}
		c.prog.triggers = append(c.prog.triggers, t)
	}
}
