package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/httpapi/strictjson"
)

// Schema is a JSON Schema (2020-12, as OpenAPI 3.1 has it).
type Schema map[string]any

// OneOf stands for a body that has one of several shapes.
type OneOf []any

// Set makes schemas from Go types. Structs become components, so that each
// is written once.
type Set struct {
	Components map[string]Schema
	types      map[string]reflect.Type // of the components: two with one name would be one
}

// New makes a set that has no components yet.
func New() *Set {
	return &Set{Components: map[string]Schema{}, types: map[string]reflect.Type{}}
}

var (
	timeType = reflect.TypeFor[time.Time]()
	rawType  = reflect.TypeFor[json.RawMessage]()
)

// Of is the schema of v's type. In a request nothing is required and nothing
// unknown is allowed; in an answer every field without omitempty is there.
func (s *Set) Of(v any, request bool) Schema {
	if several, ok := v.(OneOf); ok {
		var each []Schema
		for _, one := range several {
			each = append(each, s.Of(one, request))
		}
		return Schema{"anyOf": each}
	}
	return s.ofType(reflect.TypeOf(v), request)
}

func (s *Set) ofType(t reflect.Type, request bool) Schema {
	switch {
	case t == timeType:
		return Schema{"type": "string", "format": "date-time"}
	case t == rawType, t.Kind() == reflect.Interface:
		return Schema{} // anything
	}
	switch t.Kind() {
	case reflect.Pointer:
		return nullable(s.ofType(t.Elem(), request))
	case reflect.String:
		return Schema{"type": "string"}
	case reflect.Bool:
		return Schema{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return Schema{"type": "integer"}
	case reflect.Float64:
		return Schema{"type": "number"}
	case reflect.Slice:
		return Schema{"type": "array", "items": s.ofType(t.Elem(), request)}
	case reflect.Map:
		return Schema{"type": "object", "additionalProperties": s.ofType(t.Elem(), request)}
	case reflect.Struct:
		return s.component(t, request)
	default:
		panic("httpapi: no schema for " + t.String()) // a bug in the table of routes; every test meets it
	}
}

func nullable(s Schema) Schema {
	if typ, ok := s["type"].(string); ok {
		s["type"] = []string{typ, "null"}
		return s
	}
	return Schema{"anyOf": []Schema{s, {"type": "null"}}}
}

func (s *Set) component(t reflect.Type, request bool) Schema {
	name := componentName(t)
	if request {
		name += "Request"
	}
	ref := Schema{"$ref": "#/components/schemas/" + name}
	if s.Components[name] != nil {
		if s.types[name] != t {
			panic(fmt.Sprintf("httpapi: %v and %v are both the component %s", s.types[name], t, name)) // every test meets it
		}
		return ref
	}
	object := Schema{"type": "object"}
	s.Components[name], s.types[name] = object, t // before the fields, which may refer back to it
	properties := Schema{}
	required := []string{}
	for i := range t.NumField() {
		f := t.Field(i)
		field := strictjson.FieldName(f)
		if field == "" {
			continue
		}
		p := s.ofType(f.Type, request)
		if doc := f.Tag.Get("doc"); doc != "" {
			p["description"] = doc
		}
		if values := f.Tag.Get("enum"); values != "" {
			p["enum"] = strings.Split(values, ",")
		}
		properties[field] = p
		if !request && !strings.Contains(f.Tag.Get("json"), ",omit") {
			required = append(required, field)
		}
	}
	object["properties"] = properties
	if request {
		object["additionalProperties"] = false
	} else if len(required) > 0 {
		object["required"] = required
	}
	return ref
}

// componentName is the type's name without view and body; a generic type has
// its argument's name in front.
func componentName(t reflect.Type) string {
	name, argument, generic := strings.Cut(t.Name(), "[")
	name = strings.TrimSuffix(strings.TrimSuffix(name, "View"), "Body")
	if generic {
		argument = strings.TrimSuffix(argument, "]")
		argument = argument[strings.LastIndexByte(argument, '.')+1:]
		argument = strings.TrimSuffix(argument, "View")
		name = upperFirst(argument) + upperFirst(name)
	}
	return upperFirst(name)
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
