package value

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	jsonx "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Marshal is [json.Marshal] without escapes for HTML, so that a value is as long as
// its JSON, and people can read it. Equal values give equal bytes. What is stored is
// written by it, and read by [Unmarshal]; it takes a third of the time of
// encoding/json, which writes what this does not know: types that write themselves,
// and those with tags or keys that are not stored. [ErrTooDeep]: nobody could read it.
// [ErrSameName]: a map has names that are the same as [ValidText]. JSON that is there
// ([json.RawMessage]) is written as it is.
func Marshal(v any) ([]byte, error) {
	space := spaces.Get().(*[]byte)
	b, err := appendAny((*space)[:0], v, 0)
	if err != nil {
		return nil, err
	}
	if len(b) > maxSpace {
		return b, nil
	}
	*space = b
	out := bytes.Clone(b)
	spaces.Put(space)
	return out, nil
}

// spaces are where values are written before it is known how long they are.
var spaces = sync.Pool{New: func() any { return new([]byte) }}

const (
	maxSpace = 64 << 10 // of one that is kept
	maxDepth = 10_000   // as deep as [Unmarshal] reads
)

// encoder appends the JSON of a value of one type. depth is in how many values it
// lies; pointers count, as they may lead in a circle.
type encoder func(b []byte, v reflect.Value, depth int) ([]byte, error)

var (
	encoders sync.Map // by reflect.Type

	timeType      = reflect.TypeFor[time.Time]()
	rawType       = reflect.TypeFor[json.RawMessage]()
	objectType    = reflect.TypeFor[map[string]any]()
	numberType    = reflect.TypeFor[json.Number]()
	marshalerType = reflect.TypeFor[json.Marshaler]()
	texterType    = reflect.TypeFor[encoding.TextMarshaler]()
)

func encoderOf(t reflect.Type) encoder {
	e, ok := encoders.Load(t)
	if !ok {
		e, _ = encoders.LoadOrStore(t, newEncoder(t))
	}
	return e.(encoder)
}

// newEncoder makes one. Those of what a pointer, a list or a map leads to are looked
// up when they are needed, as a type may lead to itself.
func newEncoder(t reflect.Type) encoder {
	switch {
	case t == timeType:
		return appendTime
	case t == rawType:
		return appendRaw
	case t == objectType:
		return func(b []byte, v reflect.Value, depth int) ([]byte, error) {
			return appendObject(b, v.Interface().(map[string]any), depth)
		}
	case t == numberType, writesItself(t):
		return appendOther
	}
	switch t.Kind() {
	case reflect.Bool:
		return func(b []byte, v reflect.Value, _ int) ([]byte, error) { return strconv.AppendBool(b, v.Bool()), nil }
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(b []byte, v reflect.Value, _ int) ([]byte, error) { return strconv.AppendInt(b, v.Int(), 10), nil }
	case reflect.String:
		return func(b []byte, v reflect.Value, _ int) ([]byte, error) { return appendText(b, v.String()), nil }
	case reflect.Interface:
		return func(b []byte, v reflect.Value, depth int) ([]byte, error) { return appendAny(b, v.Interface(), depth) }
	case reflect.Pointer:
		return appendPointer
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 && !writesItself(t.Elem()) {
			return appendBytes
		}
		return appendSlice
	case reflect.Array:
		return appendSlice
	case reflect.Map:
		if t.Key().Kind() == reflect.String && !writesItself(t.Key()) {
			return appendMap
		}
	case reflect.Struct:
		if members, ok := membersOf(t); ok {
			return members.append
		}
	}
	return appendOther
}

func appendPointer(b []byte, v reflect.Value, depth int) ([]byte, error) {
	switch {
	case v.IsNil():
		return append(b, "null"...), nil
	case depth >= maxDepth:
		return nil, ErrTooDeep
	}
	return encoderOf(v.Type().Elem())(b, v.Elem(), depth+1)
}

// writesItself tells whether encoding/json would ask the type.
func writesItself(t reflect.Type) bool {
	if t.Kind() == reflect.Interface || t.Kind() == reflect.Pointer {
		return false // what it leads to is asked
	}
	p := reflect.PointerTo(t)
	return p.Implements(marshalerType) || p.Implements(texterType)
}

// ErrSameName is the error for an object with two names that are the same in JSON, of
// which a reader finds one.
var ErrSameName = errors.New("an object has two names that are the same in JSON")

func sameName(name string) error { return fmt.Errorf("%w: %q", ErrSameName, name) }

// appendOther is encoding/json's work. It writes names that are the same, and this does not.
func appendOther(b []byte, v reflect.Value, _ int) ([]byte, error) {
	if v.CanAddr() {
		v = v.Addr()
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v.Interface()); err != nil {
		return nil, err
	}
	raw := bytes.TrimRight(out.Bytes(), "\n")
	if bytes.IndexByte(raw, '{') >= 0 {
		if err := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowInvalidUTF8(true)).SkipValue(); errors.Is(err, jsontext.ErrDuplicateName) {
			return nil, fmt.Errorf("%w: %w", ErrSameName, err)
		}
	}
	return append(b, raw...), nil
}

// appendAny is for what has no type, in which values are nearly always one of these.
func appendAny(b []byte, v any, depth int) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...), nil
	case string:
		return appendText(b, v), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case int64:
		return strconv.AppendInt(b, v, 10), nil
	case float64:
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			return appendFloat(b, v), nil
		}
	case map[string]any:
		return appendObject(b, v, depth)
	case []any:
		return appendList(b, v, depth)
	}
	rv := reflect.ValueOf(v)
	return encoderOf(rv.Type())(b, rv, depth)
}

func appendObject(b []byte, m map[string]any, depth int) (_ []byte, err error) {
	switch {
	case m == nil:
		return append(b, "null"...), nil
	case depth >= maxDepth:
		return nil, ErrTooDeep
	}
	var usual [16]string
	names, valid := usual[:0], true
	for name := range m {
		names = append(names, name)
		valid = valid && utf8.ValidString(name)
	}
	if !valid {
		if m, err = validNames(m); err != nil {
			return nil, err
		}
		return appendObject(b, m, depth)
	}
	slices.Sort(names)
	b = append(b, '{')
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendText(b, name), ':')
		if b, err = appendAny(b, m[name], depth+1); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

// validNames is m with names that are UTF-8.
func validNames(m map[string]any) (map[string]any, error) {
	out := make(map[string]any, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		text := ValidText(name)
		if _, same := out[text]; same {
			return nil, sameName(text)
		}
		out[text] = m[name]
	}
	return out, nil
}

func appendList(b []byte, list []any, depth int) (_ []byte, err error) {
	switch {
	case list == nil:
		return append(b, "null"...), nil
	case depth >= maxDepth:
		return nil, ErrTooDeep
	}
	b = append(b, '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = appendAny(b, v, depth+1); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

func appendMap(b []byte, v reflect.Value, depth int) (_ []byte, err error) {
	switch {
	case v.IsNil():
		return append(b, "null"...), nil
	case depth >= maxDepth:
		return nil, ErrTooDeep
	}
	type named struct {
		text string
		key  reflect.Value
	}
	var usual [8]named
	names := usual[:0]
	for _, key := range v.MapKeys() {
		names = append(names, named{ValidText(key.String()), key})
	}
	slices.SortFunc(names, func(x, y named) int { return cmp.Compare(x.text, y.text) })
	value := encoderOf(v.Type().Elem())
	b = append(b, '{')
	for i, name := range names {
		if i > 0 {
			if name.text == names[i-1].text {
				return nil, sameName(name.text)
			}
			b = append(b, ',')
		}
		b = append(appendText(b, name.text), ':')
		if b, err = value(b, v.MapIndex(name.key), depth+1); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func appendSlice(b []byte, v reflect.Value, depth int) (_ []byte, err error) {
	switch {
	case v.Kind() == reflect.Slice && v.IsNil():
		return append(b, "null"...), nil
	case depth >= maxDepth:
		return nil, ErrTooDeep
	}
	element := encoderOf(v.Type().Elem())
	b = append(b, '[')
	for i := range v.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = element(b, v.Index(i), depth+1); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

func appendBytes(b []byte, v reflect.Value, _ int) ([]byte, error) {
	if v.IsNil() {
		return append(b, "null"...), nil
	}
	return append(base64.StdEncoding.AppendEncode(append(b, '"'), v.Bytes()), '"'), nil
}

func appendTime(b []byte, v reflect.Value, _ int) ([]byte, error) {
	var at time.Time
	if v.CanAddr() {
		at = *v.Addr().Interface().(*time.Time)
	} else {
		at = v.Interface().(time.Time)
	}
	b, err := at.AppendText(append(b, '"'))
	return append(b, '"'), err
}

// appendRaw appends JSON that is there, without spaces. It is looked through: what
// is written can be read.
func appendRaw(b []byte, v reflect.Value, _ int) ([]byte, error) {
	if v.IsNil() {
		return append(b, "null"...), nil
	}
	return jsontext.AppendFormat(b, v.Bytes(), asWritten)
}

// asWritten: of a text that is there, nothing is changed.
var asWritten = jsonx.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), jsontext.PreserveRawStrings(true))

// appendFloat writes a number as encoding/json does: the shortest that is the same
// float64, with an exponent where it is very large or small.
func appendFloat(b []byte, f float64) []byte {
	if size := math.Abs(f); size == 0 || size >= 1e-6 && size < 1e21 {
		return strconv.AppendFloat(b, f, 'f', -1, 64)
	}
	b = strconv.AppendFloat(b, f, 'e', -1, 64)
	if n := len(b); n >= 4 && b[n-4] == 'e' && b[n-3] == '-' && b[n-2] == '0' { // e-09
		b[n-2] = b[n-1]
		b = b[:n-1]
	}
	return b
}

// appendText writes a text with no escapes but those that JSON needs and, for
// scripts, of the two line ends that it does not. What is not UTF-8 becomes U+FFFD.
func appendText(b []byte, s string) []byte {
	const hex, short, shorts = "0123456789abcdef", "\"\\\b\f\n\r\t", `"\bfnrt`
	b = append(b, '"')
	from := 0 // of what is not written yet
	for i := 0; i < len(s); {
		if c := s[i]; c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r >= utf8.RuneSelf && r != '\u2028' && r != '\u2029' && (r != utf8.RuneError || size > 1) {
			i += size
			continue
		}
		b = append(b, s[from:i]...)
		i += size
		from = i
		if at := strings.IndexRune(short, r); at >= 0 {
			b = append(b, '\\', shorts[at])
		} else if r == utf8.RuneError {
			b = utf8.AppendRune(b, r)
		} else {
			b = append(b, '\\', 'u', hex[r>>12], hex[r>>8&15], hex[r>>4&15], hex[r&15])
		}
	}
	return append(append(b, s[from:]...), '"')
}

// members are the fields of a struct that are written, in their order.
type members []member

type member struct {
	before string                   // what is written before it: a comma, its name
	index  []int                    // where it is, in structs that are embedded
	empty  func(reflect.Value) bool // it is left out then; nil: never
	encode encoder
}

func (m members) append(b []byte, v reflect.Value, depth int) (_ []byte, err error) {
	if depth >= maxDepth {
		return nil, ErrTooDeep
	}
	b = append(b, '{')
	begin := len(b)
	for i := range m {
		f := &m[i]
		x := f.in(v)
		if !x.IsValid() || f.empty != nil && f.empty(x) {
			continue
		}
		before := f.before
		if len(b) == begin {
			before = before[1:]
		}
		if b, err = f.encode(append(b, before...), x, depth+1); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

// in gives the field; none, if it is in a struct that is not there.
func (f *member) in(v reflect.Value) reflect.Value {
	for i, at := range f.index {
		if i > 0 && v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return reflect.Value{}
			}
			v = v.Elem()
		}
		v = v.Field(at)
	}
	return v
}

// membersOf gives the members that encoding/json writes. False: they have what only
// that knows.
func membersOf(t reflect.Type) (members, bool) {
	var out members
	fields, ok := fieldsOf(t, nil)
	for i, f := range fields {
		hidden := false
		for j, other := range fields {
			if j != i && other.before == f.before { // the outer one counts; which of two beside each other does is not simple
				hidden = hidden || len(other.index) < len(f.index)
				ok = ok && len(other.index) != len(f.index)
			}
		}
		if !hidden {
			out = append(out, f)
		}
	}
	return out, ok
}

// fieldsOf gives the fields of a struct and of those that are embedded in it.
func fieldsOf(t reflect.Type, index []int) (fields []member, ok bool) {
	const deepest = 4 // a struct may embed pointers to itself
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		at := append(slices.Clone(index), i)
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case f.Tag.Get("json") == "-", !f.IsExported() && !f.Anonymous:
			continue
		case f.Anonymous && name == "" && inner.Kind() == reflect.Struct && len(at) < deepest:
			more, ok := fieldsOf(inner, at)
			if !ok {
				return nil, false
			}
			fields = append(fields, more...)
			continue
		case f.Anonymous, !plainName.MatchString(cmp.Or(name, f.Name)):
			return nil, false
		}
		m := member{before: `,"` + cmp.Or(name, f.Name) + `":`, index: at, encode: encoderOf(f.Type)}
		switch {
		case options == "":
		case options == "omitempty":
			m.empty = emptiness(f.Type)
		case options == "omitzero" && f.Type == timeType:
			m.empty = func(v reflect.Value) bool { return v.Interface().(time.Time).IsZero() }
		default:
			return nil, false
		}
		fields = append(fields, m)
	}
	return fields, true
}

var plainName = regexp.MustCompile(`^\w+$`)

// emptiness tells which values of a type omitempty leaves out.
func emptiness(t reflect.Type) func(reflect.Value) bool {
	switch t.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return func(v reflect.Value) bool { return v.Len() == 0 }
	case reflect.Struct:
		return nil
	}
	return reflect.Value.IsZero
}
