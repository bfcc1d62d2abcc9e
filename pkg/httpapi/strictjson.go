package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
)

// maxDepth bounds the nesting of a JSON body.
const maxDepth = 200

// decodeStrict reads a JSON object into the struct that into points to. It
// refuses, all at once and each with its place: fields that into does not have
// (names are compared exactly), fields given twice, wrong types. Then it
// refuses nesting beyond [maxDepth] and anything after the object. Free-form
// parts (any, map[string]any) keep whole numbers as int64 where they fit. A null
// field counts as not given.
func decodeStrict(body []byte, into any) workflow.Problems {
	if problems := scanJSON(body); problems != nil {
		return problems
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil || fields == nil {
		return workflow.Problems{{Code: "wrong-type", Detail: "the body must be a JSON object"}}
	}
	target := reflect.ValueOf(into).Elem()
	known := jsonFields(target.Type())
	var problems workflow.Problems
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		at := workflow.Place{Pointer: "/" + escapePointer(name)}
		index, ok := known[name]
		if !ok {
			problems = append(problems, workflow.Problem{Code: "unknown-field", Place: at, Detail: fmt.Sprintf(
				"there is no field %q here; there are: %s", shorten(name), strings.Join(slices.Sorted(maps.Keys(known)), ", "))})
			continue
		}
		if err := setField(target.Field(index), fields[name]); err != nil {
			problems = append(problems, workflow.Problem{Code: "wrong-type", Place: at, Detail: fmt.Sprintf("%s: %v", name, err)})
		}
	}
	return problems
}

// setField decodes one value.
func setField(field reflect.Value, raw json.RawMessage) error {
	if string(raw) == "null" {
		return nil
	}
	switch p := field.Addr().Interface().(type) {
	case *any, *map[string]any:
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		if err := dec.Decode(p); err != nil {
			return wantedType(err, field.Type())
		}
		plainNumbers(p)
		return nil
	default:
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.DisallowUnknownFields() // of nested objects
		return wantedType(dec.Decode(p), field.Type())
	}
}

// wantedType says in words of JSON what was expected.
func wantedType(err error, t reflect.Type) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	if wrong.Field != "" {
		return fmt.Errorf("%s has the wrong type: %s", wrong.Field, wrong.Value)
	}
	return fmt.Errorf("it must be %s, it is %s", jsonKind(t), wrong.Value)
}

func jsonKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64, reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "an array of the right type"
	default:
		return "an object"
	}
}

// plainNumbers turns json.Number into int64 or float64, in place.
func plainNumbers(p any) {
	switch p := p.(type) {
	case *any:
		*p = plainNumber(*p)
	case *map[string]any:
		for k, v := range *p {
			(*p)[k] = plainNumber(v)
		}
	}
}

func plainNumber(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, err := v.Float64()
		if err != nil { // beyond float64: keep what was written
			return v.String()
		}
		return f
	case map[string]any:
		plainNumbers(&v)
		return v
	case []any:
		for i := range v {
			v[i] = plainNumber(v[i])
		}
		return v
	}
	return v
}

// scanJSON checks the syntax, and what encoding/json lets pass: depth and names
// given twice. It returns nil if all is well.
func scanJSON(body []byte) workflow.Problems {
	var whole json.RawMessage
	if err := json.Unmarshal(body, &whole); err != nil {
		return workflow.Problems{malformed(body, err)}
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber() // so that no number is out of range
	var open []level
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return workflow.Problems{malformed(body, err)}
		}
		if n := len(open); n > 0 && open[n-1].nameNext && tok != json.Delim('}') {
			name, _ := tok.(string)
			if open[n-1].names[name] {
				return workflow.Problems{{Code: "duplicate-field", Place: placeAt(body, dec.InputOffset()), Detail: fmt.Sprintf("the field %q is given twice", shorten(name))}}
			}
			open[n-1].names[name], open[n-1].nameNext = true, false
			continue
		}
		switch tok {
		case json.Delim('{'):
			open = append(open, level{names: map[string]bool{}, nameNext: true})
		case json.Delim('['):
			open = append(open, level{})
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
			afterValue(open)
		default:
			afterValue(open)
		}
		if len(open) > maxDepth {
			return workflow.Problems{{Code: "too-deep", Place: placeAt(body, dec.InputOffset()), Detail: fmt.Sprintf("the body is nested deeper than %d levels", maxDepth)}}
		}
	}
}

// level is one open object or array.
type level struct {
	names    map[string]bool // seen so far; nil in an array
	nameNext bool
}

func afterValue(open []level) {
	if n := len(open); n > 0 && open[n-1].names != nil {
		open[n-1].nameNext = true
	}
}

func malformed(body []byte, err error) workflow.Problem {
	offset := int64(len(body))
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		offset = syntax.Offset
	}
	return workflow.Problem{Code: "malformed-json", Detail: "the body is not valid JSON: " + err.Error(), Place: placeAt(body, offset)}
}

// placeAt gives the line and column of a byte.
func placeAt(body []byte, offset int64) workflow.Place {
	before := body[:min(max(offset-1, 0), int64(len(body)))]
	return workflow.Place{
		Line:   bytes.Count(before, []byte("\n")) + 1,
		Column: len([]rune(string(before[bytes.LastIndexByte(before, '\n')+1:]))) + 1,
	}
}

// jsonFields maps the JSON names of a struct to field indexes.
func jsonFields(t reflect.Type) map[string]int {
	fields := map[string]int{}
	for i := range t.NumField() {
		if name := jsonName(t.Field(i)); name != "" {
			fields[name] = i
		}
	}
	return fields
}

// jsonName is the name of a field in JSON, "" if it has none.
func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "-" || !f.IsExported() {
		return ""
	}
	if name == "" {
		return f.Name
	}
	return name
}

func escapePointer(s string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(shorten(s))
}

// shorten keeps what a client sent from filling the answer.
func shorten(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
