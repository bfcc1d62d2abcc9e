package yaml

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
)

// kinds are the keys that begin an expression of another kind than ${{ }}.
var kinds = map[string]string{
	"javascript": workflow.JavaScript, "js": workflow.JavaScript, "liquid": workflow.Liquid,
	"variable": workflow.VariableOf, "input": workflow.InputOf,
	"literal": workflow.Literal, "object": workflow.Object, "expr": workflow.Expr,
	"csharp": workflow.CSharp, "python": workflow.Python,
}

// anyKind is the key of an expression of a kind that has no key of its own.
const anyKind = "expression"

// expression reads the value of an input: a text with ${{ }}, a literal, an
// object, or {javascript: …} and its like. The zero Expression means that
// nothing was given.
func (r *reader) expression(n *yaml.Node, want workflow.InputDescriptor) workflow.Expression {
	e := workflow.Expression{Place: r.place(n)}
	switch {
	case isNull(n):
		return workflow.Expression{}
	case n.Kind == yaml.ScalarNode:
		r.plain(n, want, &e)
	case isKind(n):
		p := r.pairs(n)[0]
		if p.name == anyKind {
			r.general(p.val, &e)
		} else {
			r.kind(kinds[p.name], p.val, &e)
		}
		if e.Kind == "" {
			return workflow.Expression{}
		}
	default:
		e.Kind, e.Value = workflow.Object, r.value(n)
		if hasTemplate(e.Value) {
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
	case isSpelled(want.Type):
		e.Kind, e.Value = workflow.Literal, n.Value
	default:
		e.Kind, e.Value = workflow.Literal, r.scalar(n)
	}
}

// isSpelled tells the types whose values are texts.
func isSpelled(typ string) bool {
	return slices.Contains([]string{"String", "TimeSpan", "DateTimeOffset", "DateTime"}, typ)
}

// kind reads what stands behind a key such as javascript.
func (r *reader) kind(kind string, n *yaml.Node, e *workflow.Expression) {
	e.Kind = kind
	switch kind {
	case workflow.Literal, workflow.Object, workflow.Expr:
		e.Value = r.value(n)
		if e.Value == nil {
			e.Kind = ""
		}
	default:
		e.Value = r.text(n, "the source of a "+kind+" expression")
	}
}

// general reads {type, value}, as Elsa's JSON has it.
func (r *reader) general(n *yaml.Node, e *workflow.Expression) {
	if n.Kind != yaml.MappingNode {
		r.shape(n, anyKind, "a mapping with type and value")
		return
	}
	for _, p := range r.pairs(n) {
		switch p.name {
		case "type":
			e.Kind = r.text(p.val, p.name)
		case "value":
			e.Value = r.value(p.val)
		case "as":
			e.Type = r.text(p.val, p.name)
		default:
			r.unknown(p, anyKind, []string{"type", "value", "as"})
		}
	}
	if e.Kind == "" {
		r.problem("wrong-shape", n, "an expression needs a type, such as JavaScript")
	}
}

// isKind tells whether a mapping is an expression such as {javascript: …}.
func isKind(n *yaml.Node) bool {
	if n.Kind != yaml.MappingNode || len(n.Content) != 2 {
		return false
	}
	key := n.Content[0].Value
	return kinds[key] != "" || key == anyKind
}

// hasTemplate tells whether any text in a tree holds ${{.
func hasTemplate(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, "${{")
	case []any:
		return slices.ContainsFunc(v, hasTemplate)
	case map[string]any:
		for _, e := range v {
			if hasTemplate(e) {
				return true
			}
		}
	}
	return false
}
