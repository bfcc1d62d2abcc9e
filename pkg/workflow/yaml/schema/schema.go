package schema

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml/notation"
)

// object is a JSON Schema in the making.
type object = map[string]any

func ref(name string) object { return object{"$ref": "#/$defs/" + name} }

func anyOf(schemas ...any) object { return object{"anyOf": schemas} }

// For gives the JSON Schema (draft 2020-12) of the notation with these types,
// for editors. It is more lenient than reading about values, since expressions
// may stand almost anywhere, and as strict about keys and about inputs that are required.
func For(types workflow.Types) []byte {
	if types == nil {
		types = workflow.Descriptors{}
	}
	text := object{"type": "string"}
	defs := object{
		"dynamic":         dynamicSchema(),
		"activity":        anyOf(object{"type": "array", "items": ref("activity"), "description": "A Sequence."}, ref("one"), object{"type": "string", "enum": bareNames(types)}, object{"type": "null"}),
		"one":             oneSchema(types),
		"type":            typeSchema(),
		"case":            caseSchema(),
		"state":           stateSchema(),
		"connection":      connectionSchema(),
		"variables":       object{"type": []string{"object", "null"}, "additionalProperties": variableSchema()},
		"storage":         object{"type": "string", "description": "instance (kept, the default) or memory (lost at the end of a burst)"},
		"definitions":     definitionsSchema(),
		notation.RetryKey: retrySchema(types),
	}
	root := object{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"title":   "Weft workflow definition",
		"type":    "object",
		"properties": object{
			"$schema":          text,
			"id":               object{"type": "string", "pattern": "^[A-Za-z0-9._:-]{1,128}$"},
			"name":             text,
			"description":      text,
			"inputs":           object{"type": []string{"object", "null"}, "additionalProperties": inputSchema()},
			"variables":        ref("variables"),
			"outputs":          object{"type": []string{"object", "null"}},
			"outcomes":         object{"type": []string{"array", "null"}, "items": text},
			"labels":           labelsSchema(),
			"options":          optionsSchema(),
			"customProperties": object{"type": []string{"object", "null"}},
			"root":             ref("activity"),
		},
		"required":             []string{"root"},
		"additionalProperties": false,
		"$defs":                defs,
	}
	for _, d := range types.All() {
		defs["type:"+d.Type] = valueSchema(d)
	}
	out, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return nil // not reached: the schema is made of plain data
	}
	return append(out, '\n')
}

// bareNames are the types that need nothing beside their name.
func bareNames(types workflow.Types) []string {
	names := []string{}
	for _, d := range types.All() {
		if len(needs(d, d.ShortName())) == 0 {
			names = append(names, d.ShortName())
		}
	}
	return names
}

// needs has a schema of the whole activity for each required input of a type that is spelled as name: it stands in the
// value or beside it, or is the value, and is not empty.
func needs(d *workflow.Descriptor, name string) []any {
	var out []any
	given := object{"not": object{"enum": []any{nil, ""}}}
	for _, in := range d.Inputs {
		if !in.Required {
			continue
		}
		forms := []any{object{"properties": object{name: object{"type": "object", "required": []string{in.Name}, "properties": object{in.Name: given}}}}}
		if i := slices.Index(notation.CommonNames, in.Name); i < 0 || notation.Common[i].Yields {
			forms = append(forms, object{"required": []string{in.Name}, "properties": object{in.Name: given}})
		}
		if in.Name == d.Main {
			var keys []string // of expressions; another one is an input
			for _, key := range append(slices.Collect(maps.Keys(notation.Kinds)), notation.AnyKind) {
				if !notation.Owns(d, key) {
					keys = append(keys, key)
				}
			}
			slices.Sort(keys)
			forms = append(forms, object{"properties": object{name: anyOf(
				object{"type": []string{"string", "number", "boolean", "array"}, "not": object{"enum": []any{""}}},
				object{"type": "object", "minProperties": 1, "maxProperties": 1, "propertyNames": object{"enum": keys}},
			)}})
		}
		out = append(out, anyOf(forms...))
	}
	return out
}

// dynamicSchema is an expression in place of a value.
func dynamicSchema() object {
	props := object{}
	for key := range notation.Kinds {
		props[key] = object{}
	}
	for _, key := range []string{"javascript", "js", "liquid", "variable", "input"} {
		props[key] = object{"type": "string"}
	}
	props[notation.AnyKind] = object{"type": "object"}
	return anyOf(
		object{"type": "string", "pattern": `\$\{\{`},
		object{"type": "object", "properties": props, "additionalProperties": false, "minProperties": 1, "maxProperties": 1},
	)
}

func inputValue(in workflow.InputDescriptor) object {
	s := object{}
	switch {
	case len(in.Options) > 0:
		s = anyOf(object{"enum": in.Options}, ref("dynamic"))
	case in.Type == "Boolean":
		s = anyOf(object{"type": "boolean"}, object{"type": "string", "pattern": "^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])$"}, ref("dynamic"), object{"type": "null"})
	case in.Type == "Int32" || in.Type == "Int64":
		s = anyOf(object{"type": "integer"}, object{"type": "string"}, ref("dynamic"), object{"type": "null"})
	}
	if in.Description != "" {
		s["description"] = in.Description
	}
	if in.Default != nil {
		s["default"] = in.Default
	}
	return s
}

// ownSchemas gives the schema of every key that a type has in or beside its
// value.
func ownSchemas(d *workflow.Descriptor) object {
	props := object{}
	for _, key := range notation.OwnKeys(d) {
		in, isInput := d.Input(key)
		switch {
		case isInput && key != d.Cases:
			props[key] = inputValue(in)
		case key == d.List && d.Type == notation.FlowchartType:
			props[key] = anyOf(object{"type": "object", "additionalProperties": ref("activity")}, object{"type": "array", "items": ref("activity")}, object{"type": "null"})
		case key == d.List:
			props[key] = object{"type": []string{"array", "null"}, "items": ref("activity")}
		case slices.Contains(d.Ports, key):
			props[key] = ref("activity")
		case key == d.Cases:
			props[key] = casesSchema()
		case key == "variables":
			props[key] = ref("variables")
		case key == "connections":
			props[key] = object{"type": []string{"array", "null"}, "items": ref("connection")}
		case key == "states":
			props[key] = anyOf(object{"type": "object", "additionalProperties": ref("state")}, object{"type": "array", "items": ref("state")})
		case key == "mode":
			props[key] = object{"enum": notation.ModeNames}
		default:
			props[key] = object{"type": "string"}
		}
	}
	return props
}

// valueSchema is what stands behind the key that names a type.
func valueSchema(d *workflow.Descriptor) object {
	forms := []any{object{"type": "null"}, object{"type": "object", "properties": ownSchemas(d), "additionalProperties": false}}
	if d.Main != "" {
		in, _ := d.Input(d.Main)
		main := inputValue(in)
		delete(main, "description")
		if len(main) == 0 { // anything but a mapping, which would be inputs
			main = anyOf(object{"type": []string{"string", "number", "boolean", "array"}}, ref("dynamic"))
		}
		forms = append(forms, main)
	}
	if d.List != "" {
		forms = append(forms, object{"type": "array", "items": ref("activity")})
	}
	if d.Cases != "" && d.Main == "" {
		forms = append(forms, object{"type": "array", "items": ref("case")})
	}
	if d.MainPort != "" {
		forms = append(forms, ref("activity"))
	}
	s := anyOf(forms...)
	if d.Description != "" {
		s["description"] = d.Description
	}
	return s
}

// besides are the keys of a type that are another thing beside another type. What all
// may have beside them means the same everywhere.
func besides(d *workflow.Descriptor, shared object) object {
	out := object{}
	for key, s := range ownSchemas(d) {
		if !slices.Contains(notation.CommonNames, key) && len(shared[key].(object)) == 0 {
			out[key] = s
		}
	}
	return out
}

// owners has a schema for each type that may have the key beside its name: there it is no type.
func owners(types []*workflow.Descriptor, key string) (out []any) {
	for _, d := range types {
		if notation.Owns(d, key) {
			out = append(out, object{"required": []string{d.ShortName()}}, object{"required": []string{d.Type}})
		}
	}
	return out
}

// oneSchema is an activity as a mapping. Its type decides which keys it has.
func oneSchema(types workflow.Types) object {
	props, only := object{}, object{}
	all := types.All()
	for _, d := range all { // inputs and branches that stand beside the type
		for key, s := range ownSchemas(d) {
			if _, twice := props[key]; twice {
				s = object{}
			}
			props[key] = s
		}
	}
	beside := maps.Clone(props)
	for _, k := range notation.Common {
		props[k.Name] = commonSchemas[k.Name]
	}
	for _, d := range all {
		for _, name := range []string{d.ShortName(), d.Type} {
			if slices.Contains(notation.CommonNames, name) {
				continue
			}
			if _, clash := beside[name]; clash { // the key may mean another type's input
				if must := needs(d, name); len(must) > 0 {
					only[name] = anyOf(append(owners(all, name), object{"allOf": must})...)
				}
				continue
			}
			props[name] = ref("type:" + d.Type)
			keys := append(append([]string{name}, notation.CommonNames...), notation.OwnKeys(d)...)
			slices.Sort(keys)
			s := object{"propertyNames": object{"enum": slices.Compact(keys)}, "properties": besides(d, props)}
			if must := needs(d, name); len(must) > 0 {
				s["allOf"] = must
			}
			only[name] = s
		}
	}
	return object{"type": "object", "properties": props, "additionalProperties": false, "minProperties": 1,
		"patternProperties": object{"^[A-Z][^.]*$": object{"type": []string{"object", "null"}}}, "dependentSchemas": only}
}
