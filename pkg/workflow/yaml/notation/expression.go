package notation

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
)

// Kinds are the keys that begin an expression of another kind than ${{ }}.
var Kinds = map[string]string{
	"javascript": workflow.JavaScript, "js": workflow.JavaScript, "liquid": workflow.Liquid,
	"variable": workflow.VariableOf, "input": workflow.InputOf,
	"literal": workflow.Literal, "object": workflow.Object, "expr": workflow.Expr,
	"csharp": workflow.CSharp, "python": workflow.Python,
}

// KindKeys is the way back from [Kinds].
var KindKeys = map[string]string{
	workflow.JavaScript: "javascript", workflow.Liquid: "liquid", workflow.VariableOf: "variable", workflow.InputOf: "input",
	workflow.Literal: "literal", workflow.Object: "object", workflow.Expr: "expr",
	workflow.CSharp: "csharp", workflow.Python: "python",
}

// AnyKind is the key of an expression of a kind that has no key of its own.
const AnyKind = "expression"

// IsSpelled tells the types whose values are texts.
func IsSpelled(typ string) bool {
	return slices.Contains([]string{"String", "TimeSpan", "DateTimeOffset", "DateTime"}, typ)
}

// IsKind tells whether a mapping is an expression such as {javascript: …}.
func IsKind(n *yaml.Node) bool {
	if n.Kind != yaml.MappingNode || len(n.Content) != 2 {
		return false
	}
	key := n.Content[0].Value
	return Kinds[key] != "" || key == AnyKind
}

// HasTemplate tells whether any text in a tree holds ${{.
func HasTemplate(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, "${{")
	case []any:
		return slices.ContainsFunc(v, HasTemplate)
	case map[string]any:
		for _, e := range v {
			if HasTemplate(e) {
				return true
			}
		}
	}
	return false
}
