package httpapi

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// schema is a JSON Schema (2020-12, as OpenAPI 3.1 has it).
type schema map[string]any

// oneOf stands for a body that has one of several shapes.
type oneOf []any

// schemas makes schemas from Go types. Structs become components, so that each
// is written once.
type schemas struct {
	components map[string]schema
	types      map[string]reflect.Type // of the components: two with one name would be one
}

var (
	timeType = reflect.TypeFor[time.Time]()
	rawType  = reflect.TypeFor[json.RawMessage]()
)

// of is the schema of v's type. In a request nothing is required and nothing
// unknown is allowed; in an answer every field without omitempty is there.
func (s *schemas) of(v any, request bool) schema {
	if several, ok := v.(oneOf); ok {
		var each []schema
		for _, one := range several {
			each = append(each, s.of(one, request))
		}
		return schema{"anyOf": each}
	}
	return s.ofType(reflect.TypeOf(v), request)
}

func (s *schemas) ofType(t reflect.Type, request bool) schema {
	switch {
	case t == timeType:
		return schema{"type": "string", "format": "date-time"}
	case t == rawType, t.Kind() == reflect.Interface:
		return schema{} // anything
	}
	switch t.Kind() {
	case reflect.Pointer:
		return nullable(s.ofType(t.Elem(), request))
	case reflect.String:
		return schema{"type": "string"}
	case reflect.Bool:
		return schema{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return schema{"type": "integer"}
	case reflect.Float64:
		return schema{"type": "number"}
	case reflect.Slice:
		return schema{"type": "array", "items": s.ofType(t.Elem(), request)}
	case reflect.Map:
		return schema{"type": "object", "additionalProperties": s.ofType(t.Elem(), request)}
	case reflect.Struct:
		return s.component(t, request)
	default:
		panic("httpapi: no schema for " + t.String()) // a bug in the table of routes; every test meets it
	}
}

func nullable(s schema) schema {
	if typ, ok := s["type"].(string); ok {
		s["type"] = []string{typ, "null"}
		return s
	}
	return schema{"anyOf": []schema{s, {"type": "null"}}}
}

func (s *schemas) component(t reflect.Type, request bool) schema {
	name := componentName(t)
	if request {
		name += "Request"
	}
	ref := schema{"$ref": "#/components/schemas/" + name}
	if s.components[name] != nil {
		if s.types[name] != t {
			panic(fmt.Sprintf("httpapi: %v and %v are both the component %s", s.types[name], t, name)) // every test meets it
		}
		return ref
	}
	object := schema{"type": "object"}
	s.components[name], s.types[name] = object, t // before the fields, which may refer back to it
	properties := schema{}
	required := []string{}
	for i := range t.NumField() {
		f := t.Field(i)
		field := jsonName(f)
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
