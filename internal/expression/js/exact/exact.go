// Package exact keeps numbers that a script hands on and cannot hold: those beyond 2^53 come out as they went in.
//
// Not guaranteed: a number that the script computes. One goroutine uses a [Numbers].
package exact

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/dop251/goja"

	"github.com/weft-run/weft/pkg/workflow"
)

// Numbers are those that a script has seen and that its own, float64,
// may not hold, so that what it only hands on comes out as it went in.
type Numbers struct {
	seen map[float64]any      // by what they are in the script: the number, or a [twoNumbers]
	held map[*goja.Object]any // the lists and objects that came with such numbers
}

// twoNumbers are two different numbers that are one number to the script.
type twoNumbers [2]any

// In gives the script's form of a number: float64, or int64 where it is exact.
func (e *Numbers) In(v any) any {
	f, exact := scriptNumber(v)
	if exact {
		return v
	}
	if e.seen == nil {
		e.seen = map[float64]any{}
	}
	switch was := e.seen[f].(type) {
	case nil:
		e.seen[f] = v
	case twoNumbers:
	default:
		if was != v {
			e.seen[f] = twoNumbers{was, v}
		}
	}
	return f
}

// scriptNumber tells what a number is in a script, and whether that is surely the
// same one.
func scriptNumber(v any) (f float64, exact bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), v < workflow.MaxExact && v > -workflow.MaxExact // 2^53 is also what 2^53+1 becomes
	case float64:
		return v, math.Abs(v) < workflow.MaxExact
	case json.Number:
		f, _ = v.Float64() // beyond its range: infinite
		return f, false
	}
	return 0, true
}

// Out gives the number that went in as f, else f.
func (e *Numbers) Out(f float64) (any, error) {
	switch v := e.seen[f].(type) {
	case nil:
		return workflow.Float(f), nil
	case twoNumbers:
		return nil, fmt.Errorf("the numbers %v and %v are one to JavaScript, and it cannot be told which of them is meant; pass them as text, or use ${{ }}", v[0], v[1])
	default:
		return v, nil
	}
}

// Hold remembers where a list or an object came from, if it has such a number.
func (e *Numbers) Hold(o *goja.Object, from any) goja.Value {
	keep := false
	switch from := from.(type) {
	case []any:
		for _, v := range from {
			_, exact := scriptNumber(v)
			keep = keep || !exact
		}
	case map[string]any:
		for _, v := range from {
			_, exact := scriptNumber(v)
			keep = keep || !exact
		}
	}
	if keep {
		if e.held == nil {
			e.held = map[*goja.Object]any{}
		}
		e.held[o] = from
	}
	return o
}

// List is what a list was made from, nil if it has no such number.
func (e *Numbers) List(o *goja.Object) []any {
	held, _ := e.held[o].([]any)
	return held
}

// Object is what an object was made from, nil if it has no such number.
func (e *Numbers) Object(o *goja.Object) map[string]any {
	held, _ := e.held[o].(map[string]any)
	return held
}

// Is reports whether what stands in the script is still the number that was
// put there, which the script does not hold exactly.
func Is(v goja.Value, was any) bool {
	f, exact := scriptNumber(was)
	if exact || v == nil {
		return false
	}
	switch now := v.Export().(type) {
	case int64:
		return float64(now) == f
	case float64:
		return now == f
	}
	return false
}
