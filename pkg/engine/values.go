package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/weft-run/weft/pkg/workflow"
)

// maxValueDepth bounds the nesting of a value, so that a cyclic or hostile one
// is an error and not an exhausted stack.
const maxValueDepth = 500

var errTooDeep = errors.New("value is nested too deeply (or contains itself)")

// Normalize returns a deep copy of v in the engine's value space: nil, bool,
// numbers as [workflow.Number] has them (int64, float64 or, beyond both,
// json.Number), string, []any and map[string]any. Times become RFC 3339 text, durations their text, other Go
// values what their JSON says. Texts and names are UTF-8 ([workflow.ValidText]). It returns
// an error for values without a JSON form, for cyclic ones, and for an object with two names
// that are the same then: [workflow.ErrSameName].
func Normalize(v any) (any, error) { return normalize(v, 0) }

func normalize(v any, depth int) (any, error) {
	if depth > maxValueDepth {
		return nil, errTooDeep
	}
	if text, ok := v.(string); ok && !utf8.ValidString(text) {
		return workflow.ValidText(text), nil
	}
	switch v := v.(type) {
	case nil, bool, string, int64:
		return v, nil
	case int:
		return int64(v), nil
	case int32:
		return int64(v), nil
	case float64:
		return workflow.Float(v), nil
	case float32:
		return workflow.Float(float64(v)), nil
	case json.Number:
		n, ok := workflow.ParseNumber(v.String())
		if !ok {
			return nil, fmt.Errorf("%q is not a number as JSON writes it", v.String())
		}
		return n, nil
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano), nil
	case time.Duration:
		return v.String(), nil
	case map[string]any:
		return normalizeObject(v, depth)
	case []any:
		if v == nil {
			return nil, nil
		}
		out := make([]any, len(v))
		for i, e := range v {
			n, err := normalize(e, depth+1)
			if err != nil {
				return nil, err
			}
			out[i] = n
		}
		return out, nil
	case json.RawMessage:
		if utf8.Valid(v) {
			return decodeValue(v) // of a name that stands there twice the last value counts, as everywhere
		}
		return decodeDistinct(v)
	}
	return normalizeOther(v, depth)
}

// isNormal reports whether v is what normalize makes of it, so that who has the only one of it needs no copy. Of some
// values it does not tell.
func isNormal(v any, depth int) bool {
	if depth > maxValueDepth {
		return false
	}
	switch v := v.(type) {
	case nil, bool, int64:
		return true
	case string:
		return utf8.ValidString(v)
	case map[string]any:
		for name, e := range v {
			if !utf8.ValidString(name) || !isNormal(e, depth+1) {
				return false
			}
		}
		return v != nil
	case []any:
		for _, e := range v {
			if !isNormal(e, depth+1) {
				return false
			}
		}
		return v != nil
	}
	return false
}

func normalizeObject(m map[string]any, depth int) (any, error) {
	if m == nil {
		return nil, nil
	}
	out := make(map[string]any, len(m))
	for name, e := range m {
		n, err := normalize(e, depth+1)
		if err != nil {
			return nil, err
		}
		out[workflow.ValidText(name)] = n
	}
	if len(out) < len(m) {
		return nil, sameName(m)
	}
	return out, nil
}

func normalizeOther(v any, depth int) (any, error) {
	rv := reflect.ValueOf(v)
	switch rv.Kind() {
	case reflect.Bool:
		return rv.Bool(), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return rv.Int(), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return workflow.Number(strconv.FormatUint(rv.Uint(), 10)), nil
	case reflect.Float32, reflect.Float64:
		return workflow.Float(rv.Float()), nil
	case reflect.Chan, reflect.Func, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128:
		return nil, fmt.Errorf("a value of type %T has no JSON form", v)
	}
	_ = depth // encoding/json refuses cycles by itself
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("a value of type %T has no JSON form: %w", v, err)
	}
	return decodeDistinct(raw)
}

// sameName says which name of m is another one's, too.
func sameName(m map[string]any) error {
	had := make(map[string]bool, len(m))
	for _, k := range sortedKeys(m) {
		k = workflow.ValidText(k)
		if had[k] {
			return fmt.Errorf("%w: %q", workflow.ErrSameName, k)
		}
		had[k] = true
	}
	return workflow.ErrSameName
}

// checkName refuses the name of a variable or an output that a commit would not keep.
func checkName(what, name string) error {
	if !utf8.ValidString(name) {
		return fmt.Errorf("the name %q of %s is not valid UTF-8", name, what)
	}
	return nil
}

// decodeDistinct is [decodeValue] for what Go code gave: nothing of it gets lost.
func decodeDistinct(raw []byte) (any, error) {
	var v any
	err := workflow.UnmarshalDistinct(raw, &v)
	return v, err
}

// decodeValue reads one JSON value into the engine's value space.
func decodeValue(raw []byte) (any, error) {
	var v any
	err := workflow.Unmarshal(raw, &v)
	return v, err
}

// normalizeMap is [Normalize] for objects; nil stays nil.
func normalizeMap(m map[string]any) (map[string]any, error) {
	if m == nil {
		return nil, nil
	}
	v, err := normalize(m, 0)
	if err != nil {
		return nil, err
	}
	return v.(map[string]any), nil
}
