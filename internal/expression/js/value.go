package js

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"

	"github.com/dop251/goja"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/js/exact"
	"github.com/weft-run/weft/pkg/workflow"
)

// in gives a JSON-like value to the script, as a copy that is the script's own.
func (x *scriptRun) in(v any) goja.Value { return x.inAt(v, 0) }

func (x *scriptRun) inAt(v any, depth int) goja.Value {
	if depth > evaluation.MaxDepth {
		x.fail(evaluation.ErrDepth)
	}
	switch v := v.(type) {
	case nil:
		return goja.Null()
	case []any:
		items := make([]any, len(v))
		for i, e := range v {
			items[i] = x.inAt(e, depth+1)
		}
		return x.exact.Hold(x.vm.NewArray(items...), v)
	case map[string]any:
		o := x.vm.NewObject()
		for _, k := range sortedKeys(v) {
			_ = o.DefineDataProperty(k, x.inAt(v[k], depth+1), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
		}
		return x.exact.Hold(o, v)
	case bool, string, int:
		return x.vm.ToValue(v)
	case int64, float64, json.Number:
		return x.vm.ToValue(x.exact.In(v))
	}
	c, err := evaluation.Clean(v, math.MaxInt)
	if err != nil {
		x.fail(err)
	}
	return x.inAt(c, depth+1)
}

// out takes a value from the script, as a copy in JSON-like form. It may run
// code of the script (getters), and panics with what that throws.
func (x *scriptRun) out(v goja.Value) (any, error) {
	g := outGauge{evaluation.Gauge{Left: x.limits.Output}, x.vm, &x.exact}
	return g.value(v, 0)
}

type outGauge struct {
	evaluation.Gauge
	vm    *goja.Runtime
	exact *exact.Numbers
}

func (g *outGauge) value(v goja.Value, depth int) (any, error) {
	if v == nil || goja.IsUndefined(v) || goja.IsNull(v) {
		return nil, g.Take(4)
	}
	switch v := v.(type) {
	case *goja.Object:
		return g.object(v, depth)
	case *goja.Symbol:
		return nil, errors.New("a symbol is not a value that can be kept")
	case goja.String:
		if err := g.Take(v.Length() + 2); err != nil {
			return nil, err
		}
		return v.String(), nil
	}
	switch n := v.Export().(type) {
	case bool:
		return n, g.Take(4)
	case int64:
		if n < workflow.MaxExact && n > -workflow.MaxExact {
			return n, g.Take(8)
		}
		v, err := g.exact.Out(float64(n))
		return v, cmp.Or(err, g.Take(8))
	case float64:
		v, err := g.exact.Out(n)
		return v, cmp.Or(err, g.Take(8))
	}
	return nil, fmt.Errorf("a value such as %s is not one that can be kept", evaluation.Excerpt(v.String()))
}

// What goja says that promises, maps and sets would be exported as.
var (
	typePromise = reflect.TypeFor[*goja.Promise]()
	typeMap     = reflect.TypeFor[[][2]any]()
	typeSet     = reflect.TypeFor[[]any]()
)

// textObject is the text that a String object is about. goja would export its letters by their positions, and what the
// script may have made of its toString is not asked.
func (g *outGauge) textObject(o *goja.Object) (any, error) {
	n := int(o.Get("length").ToInteger())
	if err := g.Take(n + 2); err != nil {
		return nil, err
	}
	units := make([]uint16, n)
	for i := range units {
		if letter, ok := o.Get(strconv.Itoa(i)).(goja.String); ok {
			units[i] = letter.CharAt(0)
		}
	}
	return goja.StringFromUTF16(units).String(), nil
}

func (g *outGauge) object(o *goja.Object, depth int) (any, error) {
	if depth > evaluation.MaxDepth {
		return nil, fmt.Errorf("the value contains itself, or %w", evaluation.ErrDepth)
	}
	if _, ok := goja.AssertFunction(o); ok {
		return nil, errors.New("a function is not a value that can be kept; was it meant to be called?")
	}
	switch class := o.ClassName(); class {
	case "Array":
		return g.array(o, depth)
	case "Boolean", "Number":
		return g.value(g.vm.ToValue(o.Export()), depth)
	case "String":
		return g.textObject(o)
	case "Date":
		if t, ok := o.Export().(time.Time); ok {
			return t.UTC().Format("2006-01-02T15:04:05.999Z07:00"), g.Take(26)
		}
		return nil, g.Take(4) // an invalid date
	case "Error":
		return g.fields(o, []string{"name", "message"}, depth)
	case "RegExp", "WeakMap", "WeakSet", "Symbol":
		return nil, fmt.Errorf("a %s is not a value that can be kept", class)
	}
	switch o.ExportType() {
	case typePromise:
		if p, ok := o.Export().(*goja.Promise); ok {
			return g.promise(p, depth)
		}
	case typeMap, typeSet:
		return nil, errors.New("a Map or a Set is not a value that can be kept; use Object.fromEntries or Array.from")
	}
	return g.fields(o, o.Keys(), depth)
}

func (g *outGauge) promise(p *goja.Promise, depth int) (any, error) {
	switch p.State() {
	case goja.PromiseStateFulfilled:
		return g.value(p.Result(), depth+1)
	case goja.PromiseStateRejected:
		return nil, fmt.Errorf("a promise was rejected: %s", workflow.CutBytes(text(p.Result()), 2000))
	case goja.PromiseStatePending:
	}
	return nil, errors.New("a promise was never resolved")
}

func (g *outGauge) array(o *goja.Object, depth int) (any, error) {
	n := o.Get("length").ToInteger()
	if n > int64(g.Left) {
		return nil, evaluation.ErrOutput
	}
	if err := g.Take(2 + int(n)); err != nil {
		return nil, err
	}
	out := make([]any, n)
	held := g.exact.List(o)
	if len(held) != len(out) { // what stood where cannot be told any more
		held = nil
	}
	for i := range out {
		var was any
		if held != nil {
			was = held[i]
		}
		v, err := g.part(o.Get(strconv.Itoa(i)), was, depth+1)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

// part takes a part of a list or an object; was stood there when the script got it.
func (g *outGauge) part(v goja.Value, was any, depth int) (any, error) {
	if exact.Is(v, was) {
		return g.Clean(was, depth)
	}
	return g.value(v, depth)
}

func (g *outGauge) fields(o *goja.Object, keys []string, depth int) (any, error) {
	if err := g.Take(2); err != nil {
		return nil, err
	}
	out := make(map[string]any, min(len(keys), 64))
	held := g.exact.Object(o)
	for _, k := range keys {
		v := o.Get(k)
		if v == nil || goja.IsUndefined(v) {
			continue // as JSON does
		}
		if err := g.Take(len(k) + 4); err != nil {
			return nil, err
		}
		c, err := g.part(v, held[k], depth+1)
		if err != nil {
			return nil, err
		}
		out[k] = c
	}
	return out, nil
}

func text(v goja.Value) string {
	if v == nil || goja.IsUndefined(v) || goja.IsNull(v) {
		return ""
	}
	return v.String()
}
