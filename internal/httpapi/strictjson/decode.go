package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/pkg/workflow"
)

// maxDepth bounds the nesting of a JSON body.
const maxDepth = 200

// Decode reads a JSON object into the struct that into points to. It
// refuses, all at once and each with its place: fields that into does not have
// (names are compared exactly), wrong types. What is no JSON, names given twice,
// nesting beyond [maxDepth] and anything after the object are refused at the
// first. Numbers in free-form parts (any, map[string]any) are as [workflow.Number]
// has them. A null field counts as not given.
//
// It reads the body once, since it runs for every request: encoding/json needs a
// pass of its own for each of these checks.
func Decode(body []byte, into any) workflow.Problems {
	dec := NewDecoder(body)
	problems, err := decodeObject(dec, reflect.ValueOf(into).Elem())
	if err == nil {
		err = Ended(dec)
	}
	if err != nil {
		return workflow.Problems{Unreadable(body, dec, err)}
	}
	slices.SortFunc(problems, func(a, b workflow.Problem) int { return strings.Compare(a.Place.Pointer, b.Place.Pointer) })
	return problems
}

// NewDecoder reads a body token by token, within the same bounds.
func NewDecoder(body []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(body))
}

// Ended is nil when nothing follows.
func Ended(dec *jsontext.Decoder) error {
	switch _, err := dec.ReadToken(); {
	case err == nil:
		return errTrailing
	case !errors.Is(err, io.EOF):
		return err
	}
	return nil
}

var errTrailing = errors.New("there is more after the first value")

// decodeObject sets the fields of target. What is wrong with one of them is a
// problem; the error is that the body cannot be read any further.
func decodeObject(dec *jsontext.Decoder, target reflect.Value) (workflow.Problems, error) {
	if dec.PeekKind() != '{' {
		_, err := ReadAny(dec)
		return workflow.Problems{{Code: "wrong-type", Detail: "the body must be a JSON object"}}, err
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	known := jsonFields(target.Type())
	var problems workflow.Problems
	for {
		tok, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		if tok.Kind() == '}' {
			return problems, nil
		}
		name := tok.String()
		at := workflow.Place{Pointer: string(jsontext.Pointer("").AppendToken(short(name)))}
		index, ok := known[name]
		if !ok {
			if _, err := ReadAny(dec); err != nil {
				return nil, err
			}
			there := "none is taken"
			if len(known) > 0 {
				there = "there are: " + strings.Join(slices.Sorted(maps.Keys(known)), ", ")
			}
			problems = append(problems, workflow.Problem{Code: "unknown-field", Place: at, Detail: fmt.Sprintf("there is no field %q here; %s", short(name), there)})
			continue
		}
		if read := nested(target.Field(index), dec.PeekKind()); read != nil {
			inside, err := read(dec, target.Field(index))
			if err != nil {
				return nil, err
			}
			for _, p := range inside {
				p.Place.Pointer = at.Pointer + p.Place.Pointer
				problems = append(problems, p)
			}
			continue
		}
		wrong, err := setField(dec, target.Field(index))
		if err != nil {
			return nil, err
		}
		if wrong != nil {
			problems = append(problems, workflow.Problem{Code: "wrong-type", Place: at, Detail: fmt.Sprintf("%s: %v", name, wrong)})
		}
	}
}

// timeOf is a struct whose fields nobody gives.
var timeOf = reflect.TypeFor[time.Time]()

// nested reads what has fields of its own, as strictly as the body; nil: it has none.
func nested(field reflect.Value, kind jsontext.Kind) func(*jsontext.Decoder, reflect.Value) (workflow.Problems, error) {
	switch t := field.Type(); {
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct && t.Elem() != timeOf && kind == '[':
		return decodeList
	case t.Kind() == reflect.Struct && t != timeOf && kind == '{':
		return decodeObject
	}
	return nil
}

// decodeList reads an array of objects, each as strictly as the body.
func decodeList(dec *jsontext.Decoder, list reflect.Value) (workflow.Problems, error) {
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	var problems workflow.Problems
	for i := 0; dec.PeekKind() != ']'; i++ {
		item := reflect.New(list.Type().Elem()).Elem()
		inside, err := decodeObject(dec, item)
		if err != nil {
			return nil, err
		}
		for _, p := range inside {
			p.Place.Pointer = "/" + strconv.Itoa(i) + p.Place.Pointer
			problems = append(problems, p)
		}
		list.Set(reflect.Append(list, item))
	}
	_, err := dec.ReadToken()
	return problems, err
}

// setField reads one value; wrong says that it is not of the field's type.
func setField(dec *jsontext.Decoder, field reflect.Value) (wrong, err error) {
	switch p := field.Addr().Interface().(type) {
	case *any:
		*p, err = ReadAny(dec)
		return nil, err
	case *map[string]any:
		v, err := ReadAny(dec)
		m, ok := v.(map[string]any)
		if !ok && v != nil {
			return fmt.Errorf("it must be an object, it is %s", kindOf(v)), err
		}
		*p = m
		return nil, err
	default:
		raw, err := dec.ReadValue()
		if err != nil || raw.Kind() == 'n' {
			return nil, err
		}
		std := json.NewDecoder(bytes.NewReader(raw))
		std.DisallowUnknownFields() // of nested objects
		return wantedType(std.Decode(p), field.Type()), nil
	}
}

// ReadAny reads any value.
func ReadAny(dec *jsontext.Decoder) (any, error) { return workflow.ReadValue(dec, maxDepth) }

func kindOf(v any) string {
	switch v.(type) {
	case string:
		return "string"
	case bool:
		return "bool"
	case []any:
		return "array"
	}
	return "number"
}

// wantedType says in words of JSON what was expected.
func wantedType(err error, t reflect.Type) error {
	if err != nil && (t == timeOf || t == reflect.PointerTo(timeOf)) {
		return errors.New("it must be a time with its zone, such as 2026-11-22T10:00:00Z")
	}
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

// Unreadable says where and why the body cannot be read.
func Unreadable(body []byte, dec *jsontext.Decoder, err error) workflow.Problem {
	offset := dec.InputOffset()
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		offset = syntax.ByteOffset + 1
	}
	at := placeAt(body, offset)
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return workflow.Problem{Code: "duplicate-field", Place: at, Detail: fmt.Sprintf("the field %q is given twice", short(syntax.JSONPointer.LastToken()))}
	case errors.Is(err, workflow.ErrTooDeep):
		return workflow.Problem{Code: "too-deep", Place: at, Detail: fmt.Sprintf("the body is nested deeper than %d levels", maxDepth)}
	case errors.Is(err, io.ErrUnexpectedEOF):
		at, err = placeAt(body, int64(len(body))), errors.New("it ends too early")
	case syntax != nil:
		err = syntax.Err
	}
	return workflow.Problem{Code: "malformed-json", Detail: "the body is not valid JSON: " + err.Error(), Place: at}
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
		if name := FieldName(t.Field(i)); name != "" {
			fields[name] = i
		}
	}
	return fields
}

// FieldName is the name of a field in JSON, "" if it has none.
func FieldName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "-" || !f.IsExported() {
		return ""
	}
	if name == "" {
		return f.Name
	}
	return name
}

func short(s string) string { return workflow.CutChars(s, 80) }
