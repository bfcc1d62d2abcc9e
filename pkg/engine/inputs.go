package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// inputError is an input that could not be evaluated; it becomes an incident
// that names the expression.
type inputError struct {
	name, label string // label is the name with the kind of expression
	err         error
}

func (e *inputError) Error() string { return fmt.Sprintf("%s: %v", e.name, e.err) }
func (e *inputError) Unwrap() error { return e.err }

// Given reports whether the author gave the input.
func (x *Execution) Given(name string) bool { return x.node.Given(name) }

// Computed reports whether the author gave the input as an expression, of which nobody knew the value before.
func (x *Execution) Computed(name string) bool {
	in := x.node.input(name)
	return in != nil && !in.constant && x.node.Given(name)
}

// Value is the input's value, of the Go type that its descriptor's type has
// (see [Convert]); nil if it was not given and has no default. Inputs are
// evaluated before Execute; in later calls at the first use. It must not be
// changed. An input that cannot be evaluated ends the call as an incident.
func (x *Execution) Value(name string) any {
	for i := range x.node.inputs {
		if x.node.inputs[i].desc.Name == name {
			return x.valueAt(i)
		}
	}
	panic(fmt.Errorf("activity type %s reads the input %q, which its descriptor does not have", x.node.desc.Type, name))
}

func (x *Execution) valueAt(i int) any {
	in := &x.node.inputs[i]
	if in.constant {
		return in.value
	}
	if x.values == nil {
		n := len(x.node.inputs)
		x.values, x.evaluated, x.masked = make([]any, n), make([]bool, n), make([]bool, n)
	}
	if !x.evaluated[i] {
		v, err := x.evaluateInput(i)
		if err != nil {
			panic(err)
		}
		x.values[i], x.evaluated[i] = v, true
	}
	return x.values[i]
}

// evaluateInput evaluates the input in the scope of its author: for a
// definition used as an activity that is the one around it.
func (x *Execution) evaluateInput(i int) (any, error) {
	from := x
	if x.node.inner != nil && x.parent != nil {
		from = x.parent
	}
	before := x.b.secrets
	v, err := x.evaluateIn(from, &x.node.inputs[i])
	if x.masked != nil {
		x.masked[i] = x.b.secrets != before
	}
	return v, err
}

// evaluateIn evaluates in as seen from an execution and converts the result.
func (x *Execution) evaluateIn(from *Execution, in *input) (any, error) {
	if in.constant || in.compiled == nil {
		return in.value, nil
	}
	v, err := x.b.eval(from, in.compiled, x)
	if err == nil {
		v, err = convert(v, in.desc)
	}
	if err != nil {
		if x.b.ctx.Err() != nil {
			return nil, context.Cause(x.b.ctx)
		}
		return nil, &inputError{in.desc.Name, in.label(), err}
	}
	return v, nil
}

// evaluateAll evaluates what Execute will read.
func (x *Execution) evaluateAll() error {
	for i := range x.node.inputs {
		in := &x.node.inputs[i]
		if in.constant || in.desc.Raw {
			continue
		}
		if x.values == nil {
			n := len(x.node.inputs)
			x.values, x.evaluated, x.masked = make([]any, n), make([]bool, n), make([]bool, n)
		}
		v, err := x.evaluateInput(i)
		if err != nil {
			return err
		}
		if v == nil && in.desc.Required && !in.desc.Null {
			return &inputError{in.desc.Name, in.label(), fmt.Errorf("it is required, and has no value")}
		}
		x.values[i], x.evaluated[i] = v, true
	}
	return nil
}

// Evaluate evaluates an input afresh: a loop's condition, for example.
func (x *Execution) Evaluate(name string) (any, error) {
	in := x.node.input(name)
	if in == nil {
		return nil, fmt.Errorf("activity type %s has no input %q", x.node.desc.Type, name)
	}
	return x.evaluateIn(x, in)
}

// EvaluateWith is like Evaluate with further variables in scope.
func (x *Execution) EvaluateWith(name string, vars map[string]any) (any, error) {
	in := x.node.input(name)
	if in == nil {
		return nil, fmt.Errorf("activity type %s has no input %q", x.node.desc.Type, name)
	}
	from := &Execution{b: x.b, id: x.id, node: x.node, parent: x, vars: mustNormalizeMap(vars)}
	return x.evaluateIn(from, in)
}

// RunInput evaluates the expression of an input and gives its value as it is:
// it is not converted to the input's type.
func (x *Execution) RunInput(name string) (any, error) {
	in := x.node.input(name)
	if in == nil || in.compiled == nil {
		return nil, fmt.Errorf("activity %s has no expression for the input %q", x.node.id, name)
	}
	v, err := x.b.eval(x, in.compiled, x)
	if err != nil {
		return nil, &inputError{in.desc.Name, in.label(), err}
	}
	return v, nil
}

// EvaluateChild evaluates an input of a child node as x sees it, before the
// child runs: the mode of a FlowJoin, for example.
func (x *Execution) EvaluateChild(n *Node, name string) (any, error) {
	in := n.input(name)
	if in == nil || n.parent != x.node {
		return nil, fmt.Errorf("activity %s has no child %s with an input %q", x.node.id, n.id, name)
	}
	return x.evaluateIn(x, in)
}

// Condition evaluates the condition of a case; nil is false.
func (x *Execution) Condition(c *NodeCase) (bool, error) { return x.truth(&c.cond) }

// Guard evaluates the condition of a transition; a transition without one is
// open.
func (x *Execution) Guard(t *NodeTransition) (bool, error) {
	if !t.cond.given {
		return true, nil
	}
	return x.truth(&t.cond)
}

func (x *Execution) truth(in *input) (bool, error) {
	v, err := x.evaluateIn(x, in)
	if err != nil {
		return false, err
	}
	b, _ := v.(bool)
	return b, nil
}

// Run evaluates a compiled expression, as [Preparation.Compile] gives it, in
// the scope of x.
func (x *Execution) Run(c Compiled) (any, error) { return x.b.eval(x, c, x) }

// RunExpression compiles and evaluates an expression that is known only now.
func (x *Execution) RunExpression(e workflow.Expression) (any, error) {
	ev := x.b.prog.evals[e.Kind]
	if ev == nil {
		return nil, fmt.Errorf("expressions of kind %q cannot be evaluated here", e.Kind)
	}
	c, err := ev.Compile(e)
	if err != nil {
		return nil, err
	}
	return x.b.eval(x, c, x)
}

// Text is the input as text; "" if it has no value.
func (x *Execution) Text(name string) string { return Text(x.Value(name)) }

// Bool is the input as a truth value; false if it has no value.
func (x *Execution) Bool(name string) bool { b, _ := x.Value(name).(bool); return b }

// Int is the input as a whole number; 0 if it has no value.
func (x *Execution) Int(name string) int64 { i, _ := x.Value(name).(int64); return i }

// Float is the input as a number; 0 if it has no value.
func (x *Execution) Float(name string) float64 {
	switch v := x.Value(name).(type) {
	case float64:
		return v
	case int64:
		return float64(v)
	}
	return 0
}

// Duration is the input as a duration; 0 if it has no value.
func (x *Execution) Duration(name string) time.Duration {
	d, _ := x.Value(name).(time.Duration)
	return d
}

// Time is the input as a time; the zero time if it has no value.
func (x *Execution) Time(name string) time.Time { t, _ := x.Value(name).(time.Time); return t }

// List is the input as a list; nil if it has no value.
func (x *Execution) List(name string) []any { l, _ := x.Value(name).([]any); return l }

// Texts is the input as a list of texts; nil if it has no value.
func (x *Execution) Texts(name string) []string {
	var out []string
	for _, v := range x.List(name) {
		out = append(out, Text(v))
	}
	return out
}

// Object is the input as an object; nil if it has no value or is none. A text
// that holds a JSON object is read.
func (x *Execution) Object(name string) map[string]any {
	v := x.Value(name)
	if s, ok := v.(string); ok && s != "" {
		if parsed, err := decodeValue([]byte(s)); err == nil {
			v = parsed
		}
	}
	m, _ := v.(map[string]any)
	return m
}

func (x *Execution) secretUsed() bool { return slices.Contains(x.masked, true) }

func (x *Execution) hides(name string) bool {
	in := x.node.input(name)
	return in != nil && in.hidden
}
