package flow

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// A record is a struct whose exported fields are Values and records. Its fields are
// called as encoding/json calls them, in camelCase where they have no name.

// anyValue is a field of a record.
type anyValue interface {
	Operand
	written() any
	typ() reflect.Type
	Given() bool
}

var (
	valueType = reflect.TypeFor[anyValue]()
	standType = reflect.TypeFor[interface{ stand(code string) }]()
)

// field is one of a record.
type field struct {
	name, doc string
	required  bool
	value     reflect.Value
}

// fieldsOf gives the fields of a record. It panics if v is none: that is a slip of the
// program, as a wrong pattern is in regexp.MustCompile.
func fieldsOf(v reflect.Value) []field {
	if v.Kind() != reflect.Struct || v.Type().Implements(valueType) {
		panic(fmt.Sprintf("flow: %s is no struct of flow.Value fields", v.Type()))
	}
	var out []field
	for f, at := range v.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" {
			continue
		}
		if name == "" {
			name = camel(f.Name)
		}
		if !f.Type.Implements(valueType) && f.Type.Kind() != reflect.Struct {
			panic(fmt.Sprintf("flow: the field %s of %s is a %s; make it a flow.Value[%s]", f.Name, v.Type(), f.Type, f.Type))
		}
		out = append(out, field{name, f.Tag.Get("doc"), f.Tag.Get("required") == "true", at})
	}
	return out
}

// camel is a name of Go in camelCase: orderID is orderID, ID is id, URLPath is urlPath.
func camel(name string) string {
	n := 0
	for n < len(name) && name[n] >= 'A' && name[n] <= 'Z' {
		n++
	}
	if n > 1 && n < len(name) {
		n--
	}
	return strings.ToLower(name[:n]) + name[n:]
}

// standing makes a T, a record or a Value, whose values stand at code as the workflow
// runs. What is not there gives nothing.
func standing[T any](code string) T {
	var out T
	place(reflect.ValueOf(&out).Elem(), code)
	return out
}

// place is standing for a field.
func place(v reflect.Value, code string) {
	if v.Addr().Type().Implements(standType) {
		v.Addr().Interface().(interface{ stand(code string) }).stand(code)
		return
	}
	for _, f := range fieldsOf(v) {
		place(f.value, code+"?."+f.name)
	}
}

// writtenOf is a record as it stands in a definition; what is not given is left out.
func writtenOf(v reflect.Value) map[string]any {
	out := map[string]any{}
	for _, f := range fieldsOf(v) {
		if w := writtenField(f.value); w != nil {
			out[f.name] = w
		}
	}
	return out
}

func writtenField(v reflect.Value) any {
	if one, ok := v.Interface().(anyValue); ok {
		return one.written()
	}
	if inner, _ := plainOf(v).(map[string]any); len(inner) > 0 {
		return inner
	}
	return nil
}

// plainOf is like writtenOf where no {literal: …} may stand: within an object.
func plainOf(v reflect.Value) any {
	if one, ok := v.Interface().(anyValue); ok {
		w := one.written()
		if m, ok := w.(map[string]any); ok {
			return escaped(jsonOf(m["literal"]))
		}
		return w
	}
	out := map[string]any{}
	for _, f := range fieldsOf(v) {
		if w := plainOf(f.value); w != nil {
			out[f.name] = w
		}
	}
	return out
}

// jsonOf is a value as JSON has it: of texts, lists, maps and the like.
func jsonOf(v any) (out any) {
	raw, err := json.Marshal(v)
	if err == nil {
		err = workflow.Unmarshal(raw, &out)
	}
	if err != nil {
		panic(fmt.Sprintf("flow: %T has no JSON form: %v", v, err))
	}
	return out
}

// escaped is a literal within an object with expressions: its texts are none.
func escaped(v any) any {
	switch v := v.(type) {
	case string:
		return strings.ReplaceAll(v, "${{", "$${{")
	case []any:
		for i := range v {
			v[i] = escaped(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = escaped(v[name])
		}
	}
	return v
}

// aliasOf is the type alias of a field.
func aliasOf(v reflect.Value) string {
	if one, ok := v.Interface().(anyValue); ok {
		return engine.AliasFor(one.typ())
	}
	return "Object"
}

func describe(v reflect.Value) (ins []workflow.InputDescriptor, outs []workflow.OutputDescriptor) {
	for _, f := range fieldsOf(v) {
		ins = append(ins, workflow.InputDescriptor{Name: f.name, Type: aliasOf(f.value), Description: f.doc, Required: f.required})
		outs = append(outs, workflow.OutputDescriptor{Name: f.name, Type: aliasOf(f.value), Description: f.doc})
	}
	return ins, outs
}
