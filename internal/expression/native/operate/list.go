package operate

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/expression/evaluation"
)

// Sorted is the order of n values, as their places; descending if order is "desc". check is called before each comparison.
func Sorted(fn string, values []any, order any, check func()) (places []int, err error) {
	sign := 1
	switch order {
	case nil, "asc":
	case "desc":
		sign = -1
	default:
		return nil, fmt.Errorf(`%s takes "asc" or "desc" as the order, and not %s`, fn, Shown(order))
	}
	places = make([]int, len(values))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(i, j int) int {
		check()
		order, wrong := Compare(values[i], values[j])
		if wrong != nil {
			err = fmt.Errorf("%s: %w", fn, wrong)
		}
		return sign * order
	})
	return places, err
}

// flat adds to out the values of lists in lists.
func flat(out []any, v any, depth int) ([]any, error) {
	if depth > evaluation.MaxDepth {
		return nil, evaluation.ErrDepth
	}
	list := reflect.ValueOf(v)
	if k := list.Kind(); k != reflect.Slice && k != reflect.Array {
		return append(out, v), nil
	}
	for i := range list.Len() {
		var err error
		if out, err = flat(out, list.Index(i).Interface(), depth+1); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// measures are numbers, durations or, for max and min, times, in lists or beside each other.
func measures(fn string, args []any) ([]any, error) {
	all, err := flat(nil, args, 0)
	for _, v := range all {
		switch v.(type) {
		case time.Duration:
		case time.Time:
			if fn != "max" && fn != "min" {
				return nil, fmt.Errorf("%s takes numbers, and not a time", fn)
			}
		default:
			if !evaluation.IsNumber(v) {
				return nil, fmt.Errorf("%s takes numbers, and not %s", fn, Kind(v))
			}
		}
	}
	return all, err
}

// Extreme is the largest or, for min, the smallest; nil if there is none.
func Extreme(fn string, args []any) (any, error) {
	all, err := measures(fn, args)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	most := all[0]
	for _, v := range all[1:] {
		order, err := Compare(v, most)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", fn, err)
		}
		if order > 0 == (fn == "max") && order != 0 {
			most = v
		}
	}
	return most, nil
}

// Sum is that of numbers or of durations; 0 of none.
func Sum(list []any) (any, error) {
	if len(list) == 0 {
		return 0, nil
	}
	if _, ok := list[0].(time.Duration); !ok && !evaluation.IsNumber(list[0]) {
		return nil, fmt.Errorf("sum takes numbers, and not %s", Kind(list[0]))
	}
	sum := list[0]
	if len(list) == 1 && isLarge(sum) {
		return nil, errLarge
	}
	for _, v := range list[1:] {
		var err error
		if sum, err = Binary("+", sum, v); err != nil {
			return nil, fmt.Errorf("sum: %w", err)
		}
	}
	return sum, nil
}

// Mean is that of numbers or of durations; 0 of none.
func Mean(args []any) (any, error) {
	all, err := measures("mean", args)
	if err != nil || len(all) == 0 {
		return 0.0, err
	}
	total := any(0.0)
	if _, ok := all[0].(time.Duration); ok {
		total = time.Duration(0)
	}
	for _, v := range all {
		if total, err = Binary("+", total, v); err != nil {
			return nil, fmt.Errorf("mean: %w", err)
		}
	}
	return Binary("/", total, len(all))
}

// Median is the middle of numbers or of durations, or between the two in the middle; 0 of none.
func Median(args []any) (any, error) {
	all, err := measures("median", args)
	if err != nil || len(all) == 0 {
		return 0.0, err
	}
	places, err := Sorted("median", all, nil, func() {})
	if err != nil {
		return nil, err
	}
	half := len(all) / 2
	if len(all)%2 == 1 {
		v := all[places[half]]
		if i, ok := asWhole(v); ok {
			return float64(i), nil
		}
		return v, nil
	}
	sum, err := Binary("+", all[places[half-1]], all[places[half]])
	if err != nil {
		return nil, fmt.Errorf("median: %w", err)
	}
	return Binary("/", sum, 2)
}

// Absolute is a number or a duration without its sign.
func Absolute(args []any) (any, error) {
	v := args[0]
	switch x := v.(type) {
	case time.Duration:
		return x.Abs(), nil
	case int:
		return max(x, -x), nil
	case int64:
		return max(int(x), -int(x)), nil
	case float64:
		if x < 0 {
			return -x, nil
		}
		return x, nil
	}
	if isLarge(v) {
		return nil, errLarge
	}
	return nil, fmt.Errorf("abs takes a number, and not %s", Kind(v))
}

// Bits is what a function of whole numbers gives, such as bitand.
func Bits(fn string, args []any) (any, error) {
	n := make([]int, 2)
	for i, arg := range args {
		var ok bool
		if n[i], ok = evaluation.Index(arg); !ok {
			if isLarge(arg) {
				return nil, errLarge
			}
			return nil, fmt.Errorf("%s takes whole numbers, and not %s", fn, Shown(arg))
		}
	}
	x, y := n[0], n[1]
	switch fn {
	case "bitand":
		return x & y, nil
	case "bitor":
		return x | y, nil
	case "bitxor":
		return x ^ y, nil
	case "bitnand":
		return x &^ y, nil
	case "bitnot":
		return ^x, nil
	}
	if y < 0 {
		return nil, errors.New("bits are moved by a number from 0")
	}
	switch fn {
	case "bitshl":
		return x << y, nil
	case "bitshr":
		return x >> y, nil
	}
	return int(uint(x) >> y), nil
}

// Type is what type(…) gives.
func Type(args []any) (any, error) {
	switch v := args[0].(type) {
	case nil:
		return "nil", nil
	case bool:
		return "bool", nil
	case string:
		return "string", nil
	case int, int64:
		return "int", nil
	case float64:
		return "float", nil
	case json.Number:
		if strings.ContainsAny(string(v), ".eE") {
			return "float", nil
		}
		return "int", nil
	case time.Time:
		return "time.Time", nil
	case time.Duration:
		return "time.Duration", nil
	}
	return map[string]string{"a list": "array", "an object": "map", "a function": "func", "a time zone": "time.Location"}[Kind(args[0])], nil
}
