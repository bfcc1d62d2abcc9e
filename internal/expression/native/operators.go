package native

import (
	"fmt"
	"reflect"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/native/operate"
)

// What follows gives to operate what a program computes with, and looks at the clock where a step is long.

// must is a value, or the end of the evaluation.
func must(v any, err error) any {
	if err != nil {
		stop(err)
	}
	return v
}

func said(fn func(args []any) (any, error)) func(args ...any) any {
	return func(args ...any) any { return must(fn(args)) }
}

func (r *run) operate(args ...any) any {
	if text, ok := args[1].(string); ok {
		r.heavyText(text)
	}
	return must(operate.Binary(args[0].(string), args[1], args[2]))
}

func minus(args ...any) any {
	negative := must(operate.Negative(args[0]))
	if args[1].(bool) {
		return negative
	}
	return args[0]
}

// method is a function of a time or a duration; nil of nil behind ?.
func method(args ...any) any {
	if args[0] == nil && args[2].(bool) {
		return nil
	}
	return must(operate.Method(args[0], args[1].(string), args[3:]))
}

// call is what has no name of a function before its parentheses: one in a let, or none.
func (r *run) call(args ...any) any {
	if fn, ok := args[0].(func(...any) any); ok {
		return r.charge(fn(args[1:]...))
	}
	stop(fmt.Errorf("only a function is called, and this is %s", operate.Kind(args[0])))
	return nil
}

// wholeOf is an argument of the function or operator that is named, as a whole number.
func wholeOf(args ...any) any {
	n, ok := evaluation.Index(args[1])
	if !ok {
		stop(fmt.Errorf("%s takes a whole number, and not %s", args[0], operate.Shown(args[1])))
	}
	return n
}

func textOf(args ...any) any {
	if _, ok := args[1].(string); !ok {
		stop(fmt.Errorf("%s takes text, and not %s", args[0], operate.Kind(args[1])))
	}
	return args[1]
}

func bits(args ...any) any { return must(operate.Bits(args[0].(string), args[1:])) }

func (r *run) extreme(fn string) func(args ...any) any {
	return func(args ...any) any {
		r.checkNow()
		return must(operate.Extreme(fn, args))
	}
}

// sum is that of a list or, if there is a second argument, of the second of each pair.
func (r *run) sum(args ...any) any {
	list := listOf("sum", args[0])
	if len(args) > 1 {
		list = seconds(list)
	}
	r.heavy(list)
	return must(operate.Sum(list))
}

func seconds(pairs []any) []any {
	out := make([]any, len(pairs))
	for i, p := range pairs {
		out[i] = p.([]any)[1]
	}
	return out
}

func (r *run) sort(args ...any) any {
	list := listOf("sort", args[0])
	return r.sorted("sort", list, list, args[1:])
}

// sortBy sorts the first of each pair by the second.
func (r *run) sortBy(args ...any) any {
	pairs := args[0].([]any)
	items := make([]any, len(pairs))
	for i, p := range pairs {
		items[i] = p.([]any)[0]
	}
	return r.sorted("sortBy", items, seconds(pairs), args[2:])
}

func (r *run) sorted(fn string, items, by, more []any) any {
	if len(more) > 1 {
		stop(fmt.Errorf(`%s takes a list and perhaps "asc" or "desc"`, fn))
	}
	var order any
	if len(more) == 1 {
		order = more[0]
	}
	places, err := operate.Sorted(fn, by, order, r.check)
	if err != nil {
		stop(err)
	}
	out := make([]any, len(items))
	for i, p := range places {
		out[i] = items[p]
	}
	return r.charge(out)
}

// listOf is a list as one of any values.
func listOf(fn string, v any) []any {
	list, ok := anyList(v)
	if ok {
		return list
	}
	if of := reflect.ValueOf(v); of.Kind() == reflect.Slice {
		for i := range of.Len() {
			list = append(list, of.Index(i).Interface())
		}
		return list
	}
	stop(fmt.Errorf("%s takes a list, and not %s", fn, operate.Kind(v)))
	return nil
}
