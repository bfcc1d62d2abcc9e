package yaml

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
)

// typeNames are YAML's names of types and what they are called in the domain.
// Other aliases of the domain, which begin with a capital, pass unchanged.
var typeNames = map[string]string{
	"string": "String", "text": "String", "number": "Double", "integer": "Int64", "boolean": "Boolean",
	"object": "Object", "any": "Object", "datetime": "DateTimeOffset", "duration": "TimeSpan",
}

// writtenTypes is the way back.
var writtenTypes = map[string]string{
	"String": "string", "Double": "number", "Int64": "integer", "Boolean": "boolean",
	"Object": "object", "DateTimeOffset": "datetime", "TimeSpan": "duration",
}

// typeName reads a type such as string, number[] or list.
func typeName(s string) (name string, isArray, ok bool) {
	if s == "list" || s == "array" {
		return "Object", true, true
	}
	base, isArray := strings.CutSuffix(s, "[]")
	if name, ok := typeNames[base]; ok {
		return name, isArray, true
	}
	if c, _ := utf8.DecodeRuneInString(base); unicode.IsUpper(c) {
		return base, isArray, true
	}
	return "", false, false
}

func writeType(name string, isArray bool) string {
	if w, ok := writtenTypes[name]; ok {
		name = w
	}
	if isArray {
		if name == "object" {
			return "list"
		}
		name += "[]"
	}
	return name
}

func (r *reader) typeName(n *yaml.Node) (string, bool) {
	s := r.text(n, "type")
	name, isArray, ok := typeName(s)
	if !ok && s != "" {
		known := append(slices.Collect(maps.Keys(typeNames)), "list")
		slices.Sort(known)
		meant := workflow.DidYouMean(s, known)
		if ours := otherTypes[strings.ToLower(strings.TrimSuffix(s, "[]"))]; ours != "" {
			meant = " (did you mean " + ours + s[len(strings.TrimSuffix(s, "[]")):] + "?)"
		}
		r.problem("unknown-type", n, "there is no type %s%s; known are %s, with [] for lists of them", workflow.Shorten(s), meant, strings.Join(known, ", "))
	}
	return name, isArray
}

func (r *reader) inputs(n *yaml.Node) []workflow.Input {
	out := []workflow.Input{}
	for _, p := range r.entries(n, "inputs") {
		in := workflow.Input{Name: p.name, Place: r.place(p.val)}
		switch {
		case isNull(p.val):
		case p.val.Kind == yaml.ScalarNode:
			in.Type, in.IsArray = r.typeName(p.val)
		case p.val.Kind == yaml.MappingNode:
			for _, f := range r.pairs(p.val) {
				switch f.name {
				case "type":
					in.Type, in.IsArray = r.typeName(f.val)
				case "default":
					in.Default = r.value(f.val)
				case "required":
					in.Required = r.truth(f.val, f.name)
				case "description":
					in.Description = r.text(f.val, f.name)
				case "storage":
					in.StorageDriver = r.storage(f.val)
				default:
					r.unknown(f, "an input", []string{"type", "default", "required", "description", "storage"})
				}
			}
		default:
			r.shape(p.val, "the input "+p.name, "a type, or a mapping with a type")
		}
		out = append(out, in)
	}
	return out
}

func (r *reader) storage(n *yaml.Node) string {
	switch s := r.text(n, "storage"); strings.ToLower(s) {
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
	for _, p := range r.entries(n, "variables") {
		v := workflow.Variable{Name: p.name, Place: r.place(p.val)}
		switch {
		case isNull(p.val):
		case isText(p.val):
			v.Type, v.IsArray = r.typeName(p.val)
		case p.val.Kind == yaml.ScalarNode: // 0 or true: the initial value tells the type
			v.Value = r.scalar(p.val)
			switch v.Value.(type) {
			case bool:
				v.Type = "Boolean"
			case float64, int64:
				v.Type = "Double"
			}
		case p.val.Kind == yaml.MappingNode:
			for _, f := range r.pairs(p.val) {
				switch f.name {
				case "type":
					v.Type, v.IsArray = r.typeName(f.val)
				case "value", "default":
					v.Value = r.value(f.val)
				case "storage":
					v.StorageDriver = r.storage(f.val)
				case "id":
					v.ID = r.text(f.val, f.name)
				default:
					r.unknown(f, "a variable", []string{"type", "value", "storage", "id"})
				}
			}
		default:
			r.shape(p.val, "the variable "+p.name, "a type, or a mapping with a type and a value")
		}
		out = append(out, v)
	}
	return out
}

// outputs reads declared results. A text that is a type's name declares the type;
// anything else is the expression of the output's value at the end.
func (r *reader) outputs(n *yaml.Node) []workflow.Output {
	out := []workflow.Output{}
	for _, p := range r.entries(n, "outputs") {
		o := workflow.Output{Name: p.name}
		switch {
		case isNull(p.val):
		case isText(p.val) && isTypeName(p.val.Value):
			o.Type, o.IsArray = r.typeName(p.val)
		case p.val.Kind == yaml.MappingNode && declares(p.val):
			for _, f := range r.pairs(p.val) {
				switch f.name {
				case "type":
					o.Type, o.IsArray = r.typeName(f.val)
				case "description":
					o.Description = r.text(f.val, f.name)
				case "value":
					if e := r.expression(f.val, workflow.InputDescriptor{}); !e.IsZero() {
						o.Value = &e
					}
				default:
					r.unknown(f, "an output", []string{"type", "value", "description"})
				}
			}
		default:
			if e := r.expression(p.val, workflow.InputDescriptor{}); !e.IsZero() {
				o.Value = &e
			}
		}
		out = append(out, o)
	}
	return out
}

// label is what the value of a label is.
var label = workflow.InputDescriptor{Type: "String"}

func (r *reader) labels(n *yaml.Node) map[string]workflow.Expression {
	var out map[string]workflow.Expression
	for _, p := range r.entries(n, "labels") {
		if e := r.expression(p.val, label); !e.IsZero() {
			if out == nil {
				out = map[string]workflow.Expression{}
			}
			out[p.name] = e
		}
	}
	return out
}

// isTypeName tells whether a text is one of YAML's own names of types.
func isTypeName(s string) bool {
	if s == "list" || s == "array" {
		return true
	}
	return typeNames[strings.TrimSuffix(s, "[]")] != ""
}

// declares tells a declaration of an output from a value that is a mapping.
func declares(n *yaml.Node) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if k := n.Content[i].Value; k == "type" || k == "value" {
			return true
		}
	}
	return false
}
