package write

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml/notation"
)

// expression writes the value of an input, in the shortest form that is read
// back as the same.
func (w *writer) expression(e workflow.Expression, want workflow.InputDescriptor) *yaml.Node {
	if e.IsZero() {
		return empty()
	}
	if typ := keptType(e, want); typ != "" || notation.KindKeys[e.Kind] == "" {
		m := mapping()
		put(m, "type", text(e.Kind))
		put(m, "value", data(e.Value))
		putText(m, "as", typ)
		return flow(single(notation.AnyKind, m))
	}
	key := notation.KindKeys[e.Kind]
	switch e.Kind {
	case workflow.Literal:
		if n := literal(e.Value, want); n != nil {
			return n
		}
	case workflow.Expr:
		if n := data(e.Value); isTemplate(e.Value) || isTree(e.Value) && notation.HasTemplate(e.Value) && !notation.IsKind(n) {
			return n
		}
	case workflow.Object:
		v := treeOf(e.Value)
		if n := data(v); isTree(v) && !notation.HasTemplate(v) && !notation.IsKind(n) {
			return n
		}
		return small(key, data(v))
	case workflow.VariableOf:
		ref, _ := e.Value.(string)
		ref = w.variable(ref)
		if want.Type == "Variable" && ref != "" && !strings.Contains(ref, "${{") {
			return text(ref)
		}
		return small(key, text(ref))
	}
	return small(key, data(e.Value))
}

func isTemplate(v any) bool {
	s, ok := v.(string)
	return ok && strings.Contains(s, "${{")
}

// treeOf gives the list or object that a text is the JSON of, and else the value
// itself.
func treeOf(v any) any {
	s, ok := v.(string)
	if !ok {
		return v
	}
	var tree any
	if err := workflow.Unmarshal([]byte(s), &tree); err != nil || !isTree(tree) {
		return v
	}
	return tree
}

// literal writes a literal as a bare scalar, nil where that would be read as
// something else.
func literal(v any, want workflow.InputDescriptor) *yaml.Node {
	if s, ok := v.(string); ok {
		if strings.Contains(s, "${{") || want.Type == "Variable" {
			return nil
		}
		return text(s)
	}
	if isTree(v) || notation.IsSpelled(want.Type) || want.Type == "Variable" {
		return nil
	}
	return data(v)
}

// keptType gives the declared type where it means something: Elsa's inputs of
// type Object are converted to it.
func keptType(e workflow.Expression, want workflow.InputDescriptor) string {
	if e.Kind != workflow.Literal || !slices.Contains([]string{"", "Object"}, want.Type) || strings.ContainsAny(e.Type, ",.<`") {
		return ""
	}
	return e.Type
}

func isTree(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

func small(key string, v *yaml.Node) *yaml.Node {
	m := single(key, v)
	if isSmall(m) {
		flow(m)
	}
	return m
}
