package read

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml/notation"
	"github.com/weft-run/weft/pkg/workflow/yaml/tree"
)

func (r *reader) typeName(n *yaml.Node) (string, bool) {
	s := r.Text(n, "type")
	name, isArray, ok := notation.TypeName(s)
	if !ok && s != "" {
		known := append(slices.Collect(maps.Keys(notation.TypeNames)), "list")
		slices.Sort(known)
		meant := workflow.DidYouMean(s, known)
		if ours := notation.OtherTypes[strings.ToLower(strings.TrimSuffix(s, "[]"))]; ours != "" {
			meant = " (did you mean " + ours + s[len(strings.TrimSuffix(s, "[]")):] + "?)"
		}
		r.Problem("unknown-type", n, "there is no type %s%s; known are %s, with [] for lists of them", workflow.Shorten(s), meant, strings.Join(known, ", "))
	}
	return name, isArray
}

func (r *reader) inputs(n *yaml.Node) []workflow.Input {
	out := []workflow.Input{}
	for _, p := range r.Entries(n, "inputs") {
		in := workflow.Input{Name: p.Name, Place: r.Place(p.Value)}
		switch {
		case tree.IsNull(p.Value):
		case p.Value.Kind == yaml.ScalarNode:
			in.Type, in.IsArray = r.typeName(p.Value)
		case p.Value.Kind == yaml.MappingNode:
			for _, f := range r.Pairs(p.Value) {
				switch f.Name {
				case "type":
					in.Type, in.IsArray = r.typeName(f.Value)
				case "default":
					in.Default = r.Value(f.Value)
				case "required":
					in.Required = r.Truth(f.Value, f.Name)
				case "description":
					in.Description = r.Text(f.Value, f.Name)
				case "storage":
					in.StorageDriver = r.storage(f.Value)
				default:
					r.Unknown(f, "an input", []string{"type", "default", "required", "description", "storage"})
				}
			}
		default:
			r.Shape(p.Value, "the input "+p.Name, "a type, or a mapping with a type")
		}
		out = append(out, in)
	}
	return out
}

func (r *reader) storage(n *yaml.Node) string {
	switch s := r.Text(n, "storage"); strings.ToLower(s) {
	case "instance", "":
		return ""
	case "memory":
		return "Memory"
	default: // Elsa's own have other names, and stay what they are
		return s
	}
}

func (r *reader) variables(n *yaml.Node) []workflow.Variable {
	out := []workflow.Variable{}
	for _, p := range r.Entries(n, "variables") {
		v := workflow.Variable{Name: p.Name, Place: r.Place(p.Value)}
		switch {
		case tree.IsNull(p.Value):
		case tree.IsText(p.Value):
			v.Type, v.IsArray = r.typeName(p.Value)
		case p.Value.Kind == yaml.ScalarNode: // 0 or true: the initial value tells the type
			v.Value = r.Scalar(p.Value)
			switch v.Value.(type) {
			case bool:
				v.Type = "Boolean"
			case float64, int64:
				v.Type = "Double"
			}
		case p.Value.Kind == yaml.MappingNode:
			for _, f := range r.Pairs(p.Value) {
				switch f.Name {
				case "type":
					v.Type, v.IsArray = r.typeName(f.Value)
				case "value", "default":
					v.Value = r.Value(f.Value)
				case "storage":
					v.StorageDriver = r.storage(f.Value)
				case "id":
					v.ID = r.Text(f.Value, f.Name)
				default:
					r.Unknown(f, "a variable", []string{"type", "value", "storage", "id"})
				}
			}
		default:
			r.Shape(p.Value, "the variable "+p.Name, "a type, or a mapping with a type and a value")
		}
		out = append(out, v)
	}
	return out
}

// outputs reads declared results. A text that is a type's name declares the type;
// anything else is the expression of the output's value at the end.
func (r *reader) outputs(n *yaml.Node) []workflow.Output {
	out := []workflow.Output{}
	for _, p := range r.Entries(n, "outputs") {
		o := workflow.Output{Name: p.Name}
		switch {
		case tree.IsNull(p.Value):
		case tree.IsText(p.Value) && notation.IsTypeName(p.Value.Value):
			o.Type, o.IsArray = r.typeName(p.Value)
		case p.Value.Kind == yaml.MappingNode && notation.Declares(p.Value):
			for _, f := range r.Pairs(p.Value) {
				switch f.Name {
				case "type":
					o.Type, o.IsArray = r.typeName(f.Value)
				case "description":
					o.Description = r.Text(f.Value, f.Name)
				case "value":
					if e := r.expression(f.Value, workflow.InputDescriptor{}); !e.IsZero() {
						o.Value = &e
					}
				default:
					r.Unknown(f, "an output", []string{"type", "value", "description"})
				}
			}
		default:
			if e := r.expression(p.Value, workflow.InputDescriptor{}); !e.IsZero() {
				o.Value = &e
			}
		}
		out = append(out, o)
	}
	return out
}

func (r *reader) labels(n *yaml.Node) map[string]workflow.Expression {
	var out map[string]workflow.Expression
	for _, p := range r.Entries(n, "labels") {
		if e := r.expression(p.Value, notation.Label); !e.IsZero() {
			if out == nil {
				out = map[string]workflow.Expression{}
			}
			out[p.Name] = e
		}
	}
	return out
}
