package engine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/near"
	"github.com/weft-run/weft/pkg/workflow/resumelink"
)

// goType is the type of inputs that hold Go values, for activities that exist in Go only.
const goType = "Go"

// prepareAll compiles what the nodes hold, once the whole tree is there.
func (c *compiler) prepareAll() {
	for _, n := range c.order {
		c.via = nil
		if n.unit != c.prog.root.inner {
			c.via = outermostUse(n)
		}
		c.at = n
		c.connections(n)
		if n.impl == nil { // an unknown type: look at its expressions only
			for _, name := range sortedKeys(n.activity.Inputs) {
				c.expression(n.activity.Inputs[name], fmt.Sprintf("input %s of %s %s", name, n.desc.ShortName(), n.local))
			}
			continue
		}
		c.inputs(n)
		c.targets(n)
		c.conditions(n)
		n.commit = c.commitPoints(n)
		n.logs = c.logging(n)
		if n.logs.inputs && !slices.ContainsFunc(n.inputs, func(in input) bool { return !in.constant && !in.desc.Raw }) {
			// What is cut is laid out when it is journalled: which secrets there are is known then.
			if shown, cut := n.shownInputs(resumelink.HideIn, nil); !cut {
				n.logs.started = shown
			}
		}
		if n.inner != nil {
			c.outputs(n)
		}
		if n == c.prog.root {
			c.labels(n)
		}
		c.at = n
		p := &Preparation{c: c, Node: n}
		if pr, ok := n.impl.(Preparer); ok {
			pr.Prepare(p)
		}
		if _, ok := n.impl.(Triggerer); ok && n.activity.CanStart && n.unit == c.prog.root.inner && n.unit.node != n {
			c.triggers(p)
		}
	}
	c.via = nil
	c.gives()
}

func outermostUse(n *Node) *Node {
	via := n
	for p := n; p != nil; p = p.parent {
		if p.inner != nil && p.parent != nil {
			via = p
		}
	}
	return via
}

// inputs compiles the inputs of n in the order of its descriptor.
func (c *compiler) inputs(n *Node) {
	given := n.activity.Inputs
	byLower := make(map[string]string, len(given))
	for name := range given {
		byLower[strings.ToLower(name)] = name
	}
	n.inputs = make([]input, 0, len(n.desc.Inputs))
	known := make([]string, 0, len(n.desc.Inputs))
	for _, d := range n.desc.Inputs {
		known = append(known, d.Name)
		name, ok := byLower[strings.ToLower(d.Name)]
		in := input{desc: d}
		if ok {
			delete(byLower, strings.ToLower(d.Name))
			in = c.input(n, d, given[name])
		}
		if !in.given {
			in.constant = true
			if d.Default != nil {
				in.value, _ = convertDefault(d) // checked by Register
			}
			if d.Required && !(d.Null && n.activity.Place.Pointer != "") { // Elsa's JSON writes null, or nothing
				c.problem("missing-input", n.activity.Place, "%s %s needs the input %s", n.desc.ShortName(), n.local, d.Name)
			}
		}
		n.inputs = append(n.inputs, in)
	}
	for _, lower := range slices.Sorted(maps.Keys(byLower)) {
		name := byLower[lower]
		e := given[name]
		if e.Place.Pointer != "" || n.activity.Place.Pointer != "" {
			// Elsa's JSON has fields of versions that we do not know; keep to refusing what can not run anywhere.
			if e.Kind == workflow.CSharp || e.Kind == workflow.Python {
				c.expression(e, fmt.Sprintf("input %s of %s %s", name, n.desc.ShortName(), n.local))
			}
			continue
		}
		c.problem("unknown-input", cmp.Or(e.Place, n.activity.Place), "%s has no input %q%s", n.desc.ShortName(), name, suggest(name, known))
	}
}

func convertDefault(d workflow.InputDescriptor) (any, error) {
	v, err := Normalize(d.Default)
	if err != nil {
		return nil, err
	}
	return convert(v, d)
}

// input compiles one given input. A literal is converted here: a bad one is a problem with its place, a good one costs no run.
func (c *compiler) input(n *Node, d workflow.InputDescriptor, e workflow.Expression) input {
	c.at = n
	in := input{desc: d, expr: e}
	in.expr.Place = cmp.Or(e.Place, n.activity.Place)
	switch {
	case e.IsZero() || e.Kind == workflow.Literal && (e.Value == nil || d.Required && e.Value == ""):
		return in
	case d.Type == goType:
		in.given, in.constant, in.value = true, true, e.Value
	case d.Type == "Variable":
		c.variableInput(n, &in)
	case e.Kind == workflow.Literal:
		in.given, in.constant = true, true
		v, err := Normalize(e.Value)
		if err == nil {
			if (d.Type == "" || strings.EqualFold(d.Type, "Object")) && e.Type != "" {
				d.Type = e.Type // the author's declared type decides
			}
			v, err = convert(v, d)
		}
		if err != nil {
			c.problem("bad-literal", in.expr.Place, "input %s of %s %s: %v%s", d.Name, n.desc.ShortName(), n.local, err, bare(e.Value))
			v = nil
		}
		in.value = v
	default:
		in.given = true
		in.compiled = c.expression(in.expr, fmt.Sprintf("input %s of %s %s", d.Name, n.desc.ShortName(), n.local))
		if in.compiled != nil && e.Kind == workflow.Object && !d.Raw {
			c.foldObject(n, &in)
		}
	}
	return in
}

// bare tells those who forgot it how an expression is written.
func bare(v any) string {
	text, _ := v.(string)
	if !near.IsBareCode(text) {
		return ""
	}
	return "; an expression is written ${{ " + workflow.Shorten(strings.Trim(strings.TrimSpace(text), "{} ")) + " }}"
}

// foldObject evaluates an Object expression now: it is constant.
func (c *compiler) foldObject(n *Node, in *input) {
	v, constant, err := constantOf(in.compiled, n)
	if !constant {
		return
	}
	if err == nil {
		v, err = convert(v, in.desc)
	}
	if err != nil {
		c.problem("bad-literal", in.expr.Place, "input %s of %s %s: %v", in.desc.Name, n.desc.ShortName(), n.local, err)
		return
	}
	in.constant, in.value = true, v
}

// variableInput resolves an input that names a variable.
func (c *compiler) variableInput(n *Node, in *input) {
	in.given, in.constant = true, true
	name, _ := in.expr.Value.(string)
	if m, ok := in.expr.Value.(map[string]any); ok { // Elsa's variable object
		for _, key := range []string{"id", "name"} {
			if s, ok := m[key].(string); ok && s != "" && name == "" {
				if v := findVariable(n, s); v != nil || key == "name" {
					name = s
				}
			}
		}
	}
	v := findVariable(n, name)
	if v == nil {
		c.unknownVariable(n, in.desc.Name, name, in.expr.Place)
		return
	}
	in.value = v.name
}

func (c *compiler) unknownVariable(n *Node, what, name string, place workflow.Place) {
	if slices.ContainsFunc(n.unit.inputs, func(in declaredInput) bool { return in.Name == name }) {
		c.problem("unknown-variable", place, "%s of %s %s names %q, which is an input and stays what it is; declare a variable of another name", what, n.desc.ShortName(), n.local, name)
		return
	}
	var names []string
	for p := n; p != nil; p = p.parent {
		for _, v := range p.vars {
			names = append(names, v.name)
		}
		if p.inner != nil && p != n {
			break
		}
	}
	if short := strings.TrimSuffix(strings.TrimPrefix(strings.Trim(name, "${ }"), "variables."), " }"); short != name && slices.Contains(names, short) {
		c.problem("unknown-variable", place, "%s of %s %s takes the name of a variable: write %s, and not %s", what, n.desc.ShortName(), n.local, short, name)
		return
	}
	c.problem("unknown-variable", place, "%s of %s %s names the variable %q, which is not in scope here; declare it%s", what, n.desc.ShortName(), n.local, name, suggest(name, names))
}

// findVariable looks for a declared variable by id, then by name, from n
// outwards to the boundary of its definition.
func findVariable(n *Node, name string) *variable {
	for p := n; p != nil; p = p.parent {
		if p != n || p.inner == nil { // a used definition's own variables are not its user's
			for i := range p.vars {
				if v := &p.vars[i]; v.id != "" && v.id == name || v.name == name {
					return v
				}
			}
		}
		if p == n.unit.node {
			break
		}
	}
	return nil
}

// targets resolves where the outputs of n go.
func (c *compiler) targets(n *Node) {
	for _, name := range sortedKeys(n.activity.Outputs) {
		to := n.activity.Outputs[name]
		if to == "" {
			continue
		}
		desc := ""
		var known []string
		for _, o := range n.desc.Outputs {
			known = append(known, o.Name)
			if strings.EqualFold(o.Name, name) {
				desc = o.Name
			}
		}
		if desc == "" {
			if n.activity.Place.Pointer == "" {
				c.problem("unknown-output", n.activity.Place, "%s has no output %q%s", n.desc.ShortName(), name, suggest(name, known))
			}
			continue
		}
		t := target{}
		if v := findVariable(n, to); v != nil {
			t.variable = v.name
		} else if i := slices.IndexFunc(n.unit.def.Outputs, func(o workflow.Output) bool { return o.Name == to }); i >= 0 {
			t.output = to
		} else if n.activity.Place.Pointer != "" && !n.unit.declared()[to] {
			continue // Elsa's designer leaves references such as "WriteLine1:output-0", or to a variable that was deleted
		} else {
			c.unknownVariable(n, "output "+desc, to, n.activity.Place)
			continue
		}
		if n.targets == nil {
			n.targets = map[string]target{}
		}
		n.targets[desc] = t
	}
}
