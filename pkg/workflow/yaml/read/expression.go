package read

import (
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml/notation"
	"github.com/weft-run/weft/pkg/workflow/yaml/tree"
)

// expression reads the value of an input: a text with ${{ }}, a literal, an
// object, or {javascript: …} and its like. The zero Expression means that
// nothing was given.
func (r *reader) expression(n *yaml.Node, want workflow.InputDescriptor) workflow.Expression {
	e := workflow.Expression{Place: r.Place(n)}
	switch {
	case tree.IsNull(n):
		return workflow.Expression{}
	case n.Kind == yaml.ScalarNode:
		r.plain(n, want, &e)
	case notation.IsKind(n):
		p := r.Pairs(n)[0]
		if p.Name == notation.AnyKind {
			r.general(p.Value, &e)
		} else {
			r.kind(notation.Kinds[p.Name], p.Value, &e)
		}
		if e.Kind == "" {
			return workflow.Expression{}
		}
	default:
		e.Kind, e.Value = workflow.Object, r.Value(n)
		if notation.HasTemplate(e.Value) {
			e.Kind = workflow.Expr
		}
	}
	return e
}

// plain reads a scalar. Where a text is wanted, 007 and 1.10 stay as written.
func (r *reader) plain(n *yaml.Node, want workflow.InputDescriptor, e *workflow.Expression) {
	switch {
	case strings.Contains(n.Value, "${{"):
		e.Kind, e.Value = workflow.Expr, n.Value
	case want.Type == "Variable":
		e.Kind, e.Value = workflow.VariableOf, n.Value
	case notation.IsSpelled(want.Type):
		e.Kind, e.Value = workflow.Literal, n.Value
	default:
		e.Kind, e.Value = workflow.Literal, r.Scalar(n)
	}
}

// kind reads what stands behind a key such as javascript.
func (r *reader) kind(kind string, n *yaml.Node, e *workflow.Expression) {
	e.Kind = kind
	switch kind {
	case workflow.Literal, workflow.Object, workflow.Expr:
		e.Value = r.Value(n)
		if e.Value == nil {
			e.Kind = ""
		}
	default:
		e.Value = r.Text(n, "the source of a "+kind+" expression")
	}
}

// general reads {type, value}, as Elsa's JSON has it.
func (r *reader) general(n *yaml.Node, e *workflow.Expression) {
	if n.Kind != yaml.MappingNode {
		r.Shape(n, notation.AnyKind, "a mapping with type and value")
		return
	}
	for _, p := range r.Pairs(n) {
		switch p.Name {
		case "type":
			e.Kind = r.Text(p.Value, p.Name)
		case "value":
			e.Value = r.Value(p.Value)
		case "as":
			e.Type = r.Text(p.Value, p.Name)
		default:
			r.Unknown(p, notation.AnyKind, []string{"type", "value", "as"})
		}
	}
	if e.Kind == "" {
		r.Problem("wrong-shape", n, "an expression needs a type, such as JavaScript")
	}
}
