package evaluation

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// MaxDigits bounds the numbers that are computed with exactly.
const MaxDigits = 400

// IsNumber reports whether a value is a number.
func IsNumber(v any) bool {
	switch v.(type) {
	case int, int64, float64, json.Number:
		return true
	}
	return false
}

// Rat is a number exactly as it is written: 0.1 is a tenth. It is nil for what is no number, or has too many digits.
func Rat(v any) *big.Rat {
	switch v := v.(type) {
	case int:
		return new(big.Rat).SetInt64(int64(v))
	case int64:
		return new(big.Rat).SetInt64(v)
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return nil
		}
		r, _ := new(big.Rat).SetString(strconv.FormatFloat(v, 'e', -1, 64))
		return r
	case json.Number:
		if len(v) > MaxDigits || strings.ContainsAny(string(v), "eE") {
			return nil
		}
		if r, ok := new(big.Rat).SetString(string(v)); ok {
			return r
		}
	}
	return nil
}

// Holds reports whether an order, as [cmp.Compare] gives it, is what one of <, <=, > and >= says.
func Holds(op string, order int) bool {
	switch op {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return order >= 0
}

// CompareNumbers is the order of two numbers by what they are worth; not ok if one is none, or has too many digits.
func CompareNumbers(a, b any) (order int, ok bool) {
	if x, ok := asInt(a); ok {
		if y, ok := asInt(b); ok {
			return cmp.Compare(x, y), true
		}
	}
	if x, ok := a.(float64); ok {
		if y, ok := b.(float64); ok {
			return cmp.Compare(x, y), true
		}
	}
	x, y := Rat(a), Rat(b)
	if x == nil || y == nil {
		return -1, false
	}
	return x.Cmp(y), true
}

func asInt(v any) (int64, bool) {
	switch v := v.(type) {
	case int:
		return int64(v), true
	case int64:
		return v, true
	}
	return 0, false
}

// Index is a whole number as a place in a list; not ok for what is none.
func Index(v any) (int, bool) {
	if f, ok := v.(float64); ok && f == math.Trunc(f) && math.Abs(f) <= workflow.MaxExact {
		return int(f), true
	}
	i, ok := asInt(v)
	return int(i), ok
}

// Zone is a time zone by its name; the error says it for people. "" and the zone of the process are none.
func Zone(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" {
		raw, _ := workflow.Marshal(name)
		return nil, fmt.Errorf("there is no time zone %s; zones have names such as Europe/Berlin", Shown(raw, "text"))
	}
	return zone, nil
}

// Equal reports whether two values are the same: numbers by what they are worth, wherever they stand, lists and objects by
// what they hold. Values that are nested more deeply than [MaxDepth] are not.
func Equal(a, b any) bool { return equal(a, b, 0) }

func equal(a, b any, depth int) bool {
	if depth > MaxDepth {
		return false
	}
	if IsNumber(a) && IsNumber(b) {
		order, ok := CompareNumbers(a, b)
		return ok && order == 0 || !ok && a == b
	}
	switch a := a.(type) {
	case nil, bool, string, time.Duration, int, int64, float64, json.Number:
		switch b.(type) {
		case nil, bool, string, time.Duration, int, int64, float64, json.Number:
			return a == b
		}
	case []any:
		if b, ok := b.([]any); ok {
			return slices.EqualFunc(a, b, func(x, y any) bool { return equal(x, y, depth+1) })
		}
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			return maps.EqualFunc(a, b, func(x, y any) bool { return equal(x, y, depth+1) })
		}
	case time.Time:
		b, ok := b.(time.Time)
		return ok && a.Equal(b)
	}
	return alike(reflect.ValueOf(a), reflect.ValueOf(b), depth)
}

// alike compares values of other types: ranges are lists of numbers.
func alike(a, b reflect.Value, depth int) bool {
	switch {
	case a.Kind() == reflect.Slice && b.Kind() == reflect.Slice:
		for i := range a.Len() {
			if a.Len() != b.Len() || !equal(a.Index(i).Interface(), b.Index(i).Interface(), depth+1) {
				return false
			}
		}
		return a.Len() == b.Len()
	case a.Kind() == reflect.Map && b.Kind() == reflect.Map && a.Type().Key() == b.Type().Key():
		for it := a.MapRange(); it.Next(); {
			e := b.MapIndex(it.Key())
			if a.Len() != b.Len() || !e.IsValid() || !equal(it.Value().Interface(), e.Interface(), depth+1) {
				return false
			}
		}
		return a.Len() == b.Len()
	}
	return a.IsValid() && b.IsValid() && a.Type() == b.Type() && a.Comparable() && a.Equal(b)
}
