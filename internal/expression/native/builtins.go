package native

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/expr-lang/expr/vm/runtime"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// What follows stands in for operators and builtins of expr whose result would be another at each evaluation, would lose
// something, or would be told in words of Go. How many values each is given is checked when it is compiled ([takes]).

// lists are the builtins whose first argument is a list.
var lists = map[string]bool{
	"all": true, "none": true, "any": true, "one": true, "filter": true, "map": true, "count": true, "sum": true, "find": true,
	"findIndex": true, "findLast": true, "findLastIndex": true, "sortBy": true, "reduce": true, "groupBy": true, "mean": true, "median": true,
	"take": true, "reverse": true, "flatten": true, "sort": true, "concat": true,
}

// list is the second argument, which the function named by the first takes as a list.
func (r *run) list(args ...any) any {
	fn, v := args[0].(string), args[1]
	if k := reflect.ValueOf(v).Kind(); k == reflect.Slice || k == reflect.Array || (fn == "mean" || fn == "median") && evaluation.IsNumber(v) {
		return v
	}
	what := kindOf(v)
	switch v.(type) {
	case nil:
		what += "; write ?? [] behind what may not be there"
	case map[string]any, groups:
		what += "; write values(…) or keys(…)"
	}
	stop(fmt.Errorf("%s takes a list, and not %s", fn, what))
	return nil
}

// anyList is a list as one of any values: ranges and parts of texts are lists of numbers and of texts.
func anyList(v any) (list []any, ok bool) {
	switch v := v.(type) {
	case []any:
		return v, true
	case []int:
		return toAny(v), true
	case []string:
		return toAny(v), true
	}
	return nil, false
}

func toAny[T any](list []T) []any {
	out := make([]any, len(list))
	for i, e := range list {
		out[i] = e
	}
	return out
}

// objectOf is an object as names in their order and a look for the value of each.
func (r *run) objectOf(fn string, of any) (names []string, value func(name string) any) {
	switch v := of.(type) {
	case map[string]any:
		r.heavy(v)
		return slices.Sorted(maps.Keys(v)), func(n string) any { return v[n] }
	case groups:
		return slices.Sorted(maps.Keys(v)), func(n string) any { return v[n] }
	}
	stop(fmt.Errorf("%s takes an object, and not %s", fn, kindOf(of)))
	return nil, nil
}

func (r *run) keys(args ...any) any {
	names, _ := r.objectOf("keys", args[0])
	out := make([]any, len(names))
	for i, n := range names {
		out[i] = n
	}
	return r.charge(out)
}

func (r *run) values(args ...any) any {
	names, value := r.objectOf("values", args[0])
	out := make([]any, len(names))
	for i, n := range names {
		out[i] = value(n)
	}
	return r.charge(out)
}

func (r *run) toPairs(args ...any) any {
	names, value := r.objectOf("toPairs", args[0])
	out := make([]any, len(names))
	for i, n := range names {
		out[i] = []any{n, value(n)}
	}
	return r.charge(out)
}

func (r *run) fromPairs(args ...any) any {
	list, ok := anyList(args[0])
	if !ok {
		stop(errors.New("fromPairs takes one list of pairs, such as [[\"a\", 1]]"))
	}
	out := make(map[string]any, len(list))
	for _, e := range list {
		pair, ok := anyList(e)
		if !ok || len(pair) != 2 {
			stop(fmt.Errorf("fromPairs takes a list of pairs, such as [[\"a\", 1]], and one of them is %s", shown(e)))
		}
		out[keyText(pair[0])] = pair[1]
	}
	return r.charge(out)
}

// get is a field of an object or an element of a list; nil if it is not there.
func (r *run) get(args ...any) any {
	switch of := args[0].(type) {
	case nil:
		return nil
	case map[string]any:
		if name, ok := args[1].(string); ok {
			return of[name]
		}
		if args[1] == nil {
			return nil
		}
	case groups:
		return of[keyText(args[1])]
	case []any, []int, []string:
		if i, ok := evaluation.Index(args[1]); ok {
			list := reflect.ValueOf(of)
			if i < 0 {
				i += list.Len()
			}
			if i < 0 || i >= list.Len() {
				return nil
			}
			return list.Index(i).Interface()
		}
	}
	stop(fmt.Errorf("get takes an object and a name, or a list and a number, and not %s and %s", kindOf(args[0]), kindOf(args[1])))
	return nil
}

// take is the beginning of a list.
func (r *run) take(args ...any) any {
	n, ok := evaluation.Index(args[1])
	if !ok || n < 0 {
		stop(fmt.Errorf("take takes a whole number from 0, and not %s", shown(args[1])))
	}
	return r.slice(args[0], 0, n)
}

// groups are what groupBy gives. A group that is not there is an empty list.
type groups = map[string][]any

// group makes of pairs of an element and its key the groups by key. Keys that are written the same are one: 1 and 1.0, and
// also 1 and "1", since an object has texts as names.
func (r *run) group(args ...any) any {
	out := groups{}
	for _, p := range args[0].([]any) {
		pair := p.([]any)
		key := keyText(pair[1])
		out[key] = append(out[key], pair[0])
	}
	r.weigh(out, 0)
	return out
}

// index is of[at], where a name is not written as a text: groups have keys of any kind, objects have texts.
func (r *run) index(args ...any) any {
	if of, ok := args[0].(groups); ok {
		return of[keyText(args[1])]
	}
	return runtime.Fetch(args[0], args[1])
}

// only makes of groups those of one key, as the key is written behind ?. and what is no groups stays as it is.
func (r *run) only(args ...any) any {
	of, ok := args[0].(groups)
	if !ok || !reflect.ValueOf(args[1]).Comparable() {
		return args[0]
	}
	return map[any][]any{args[1]: of[keyText(args[1])]}
}

func keyText(v any) string {
	if v == nil {
		return "nil"
	}
	c, err := evaluation.Clean(v, exprMemory)
	if err != nil {
		stop(err)
	}
	b, err := evaluation.AppendText(nil, c)
	if err != nil {
		stop(err)
	}
	return string(b)
}

// slice is a part of a text, by characters, or of a list. Negative places count from the end.
func (r *run) slice(args ...any) any {
	of := args[0]
	n := 0
	v := reflect.ValueOf(of)
	text, isText := of.(string)
	switch {
	case isText:
		n = utf8.RuneCountInString(text)
	case v.Kind() == reflect.Slice:
		n = v.Len()
	default:
		stop(fmt.Errorf("a part is taken of a text or a list, and not of %s", kindOf(of)))
	}
	place := func(arg any, otherwise int) int {
		if arg == nil {
			return otherwise
		}
		i, ok := evaluation.Index(arg)
		if !ok {
			stop(fmt.Errorf("a place in a text or a list is a whole number, and not %s", shown(arg)))
		}
		if i < 0 {
			i += n
		}
		return min(max(i, 0), n)
	}
	from, to := place(args[1], 0), place(args[2], n)
	to = max(from, to)
	if !isText {
		return r.charge(v.Slice(from, to).Interface())
	}
	if n == len(text) {
		return r.charge(text[from:to])
	}
	return r.charge(string([]rune(text)[from:to]))
}

// indexOf is the place of a text in another, in characters; -1 if it is not there.
func (r *run) indexOf(args ...any) any { return r.placeOf("indexOf", args, strings.Index) }

func (r *run) lastIndexOf(args ...any) any { return r.placeOf("lastIndexOf", args, strings.LastIndex) }

func (r *run) placeOf(fn string, args []any, find func(s, part string) int) any {
	s, part := argText(args, 0, fn), argText(args, 1, fn)
	r.checkNow()
	i := find(s, part)
	if i < 0 {
		return i
	}
	return utf8.RuneCountInString(s[:i])
}

// whole is int(…).
func (r *run) whole(args ...any) any {
	switch v := args[0].(type) {
	case int, int64:
		return v
	case float64:
		if math.Abs(v) < 1<<63 {
			return int64(v)
		}
		stop(fmt.Errorf("int gives whole numbers of 64 bits, and %s is larger", shown(v)))
	case string:
		i, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
		if err == nil {
			return i
		}
		if errors.Is(err, strconv.ErrRange) {
			stop(fmt.Errorf("int gives whole numbers of 64 bits, and %s is larger", shown(v)))
		}
	case json.Number:
		stop(fmt.Errorf("int gives whole numbers of 64 bits, and %s is larger", evaluation.Excerpt(string(v))))
	}
	if v := reflect.ValueOf(args[0]); v.CanInt() { // a month, a day of the week, a duration
		return v.Int()
	}
	stop(fmt.Errorf("int takes a number, or a text that is a whole one, and not %s", shown(args[0])))
	return nil
}

// decimal is float(…).
func (r *run) decimal(args ...any) any {
	text := ""
	switch v := args[0].(type) {
	case int:
		return float64(v)
	case int64:
		return float64(v)
	case float64:
		return v
	case string:
		text = strings.TrimSpace(v)
	case json.Number:
		text = string(v)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		stop(fmt.Errorf("float takes a number, or a text that is one, and not %s", shown(args[0])))
	}
	return f
}

// rounding is round, floor and ceil: what is whole stays as it is.
func (r *run) rounding(fn string, how func(float64) float64) func(args ...any) any {
	return func(args ...any) any {
		switch v := args[0].(type) {
		case int, int64, json.Number:
			return v
		case float64:
			return how(v)
		}
		stop(fmt.Errorf("%s takes a number, and not %s", fn, shown(args[0])))
		return nil
	}
}

// divide is a / b, and a % b if the third argument says so.
func (r *run) divide(args ...any) any {
	a, b, rest := args[0], args[1], args[2].(bool)
	if order, ok := evaluation.CompareNumbers(b, 0); ok && order == 0 && evaluation.IsNumber(a) {
		stop(fmt.Errorf("%s is divided by zero", shown(a)))
	}
	if rest {
		return runtime.Modulo(a, b)
	}
	return runtime.Divide(a, b)
}

func (r *run) toJSON(args ...any) any {
	v, err := evaluation.Clean(args[0], r.memory)
	if err != nil {
		stop(err)
	}
	raw, err := workflow.Marshal(v)
	if err != nil {
		stop(err)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		stop(err)
	}
	r.spend(16 + b.Len())
	return b.String()
}

// duration reads what delay and timeout take, too.
func (r *run) duration(args ...any) any {
	if d, ok := args[0].(time.Duration); ok {
		return d
	}
	d, err := parseDuration(argText(args, 0, "duration"))
	if err != nil {
		stop(err)
	}
	return d
}

// parseDuration also reads what expr's own function does, such as 0 and +5m.
func parseDuration(text string) (time.Duration, error) {
	if d, err := time.ParseDuration(text); err == nil {
		return d, nil
	}
	return engine.ParseDuration(text)
}

func (r *run) timezone(args ...any) any {
	zone, err := evaluation.Zone(argText(args, 0, "timezone"))
	if err != nil {
		stop(err)
	}
	return zone
}

// week is the number of a time's week, as ISO 8601 counts them. Go's method has two results, of which expr gives the first.
func (r *run) week(args ...any) any {
	t, ok := args[0].(time.Time)
	if !ok {
		stop(fmt.Errorf("ISOWeek is asked of a time, and not of %s", kindOf(args[0])))
	}
	_, week := t.ISOWeek()
	return week
}

// shown is a value as an error names it.
func shown(v any) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return "a number that is infinite"
		}
	}
	c, err := evaluation.Clean(v, 1<<16)
	if err != nil {
		return kindOf(v)
	}
	raw, err := workflow.Marshal(c)
	if err != nil {
		return kindOf(v)
	}
	return evaluation.Shown(raw, kindOf(v))
}

// errInfinite is of a result that no number holds.
var errInfinite = errors.New("the result is larger than any number here: 1.7e308 is the largest")

// finite refuses a result that JSON would have as nothing.
func finite(v any) error {
	if f, ok := v.(float64); ok && (math.IsInf(f, 0) || math.IsNaN(f)) {
		return errInfinite
	}
	return nil
}
