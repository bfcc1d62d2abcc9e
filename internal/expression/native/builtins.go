package native

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/native/operate"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/value"
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
	what := operate.Kind(v)
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
	stop(fmt.Errorf("%s takes an object, and not %s", fn, operate.Kind(of)))
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
			stop(fmt.Errorf("fromPairs takes a list of pairs, such as [[\"a\", 1]], and one of them is %s", operate.Shown(e)))
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
	stop(fmt.Errorf("get takes an object and a name, or a list and a number, and not %s and %s", operate.Kind(args[0]), operate.Kind(args[1])))
	return nil
}

// take is the beginning of a list.
func (r *run) take(args ...any) any {
	n, ok := evaluation.Index(args[1])
	if !ok || n < 0 {
		stop(fmt.Errorf("take takes a whole number from 0, and not %s", operate.Shown(args[1])))
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
	if text, ok := args[0].(string); ok {
		r.heavyText(text)
	}
	return must(operate.Item(args[0], args[1]))
}

// only makes of a value what has nothing but the item that is written behind it, as a path with ?. looks for it.
func (r *run) only(args ...any) any {
	if args[0] == nil || !reflect.ValueOf(args[1]).Comparable() {
		return args[0]
	}
	return map[any]any{args[1]: r.index(args...)}
}

// heavyText looks at the clock before a step over a whole text.
func (r *run) heavyText(text string) {
	if len(text) > 1024 {
		r.checkNow()
	}
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
		stop(fmt.Errorf("a part is taken of a text or a list, and not of %s", operate.Kind(of)))
	}
	place := func(arg any, otherwise int) int {
		if arg == nil {
			return otherwise
		}
		i, ok := evaluation.Index(arg)
		if !ok {
			stop(fmt.Errorf("a place in a text or a list is a whole number, and not %s", operate.Shown(arg)))
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
	return value.ParseDuration(text)
}

func (r *run) timezone(args ...any) any {
	zone, err := evaluation.Zone(argText(args, 0, "timezone"))
	if err != nil {
		stop(err)
	}
	return zone
}
