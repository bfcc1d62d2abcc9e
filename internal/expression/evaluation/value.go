package evaluation

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// MaxDepth bounds the nesting of a value that goes into or comes out of an
// expression; it also ends the conversion of a value that contains itself.
const MaxDepth = 200

// Gauge counts the bytes of a value while it is converted.
type Gauge struct{ Left int }

// Take counts n bytes; [ErrOutput] if there are none left.
func (g *Gauge) Take(n int) error {
	g.Left -= n
	if g.Left < 0 {
		return ErrOutput
	}
	return nil
}

// Clean gives a deep copy of v as JSON-like value of at most limit bytes.
func Clean(v any, limit int) (any, error) {
	switch v := v.(type) { // what most expressions give
	case nil, bool, int64:
		return v, nil
	case int:
		return int64(v), nil
	}
	g := Gauge{limit}
	return g.Clean(v, 0)
}

// Clean gives a deep copy of v, which is nested depth levels below the top, as
// JSON-like value.
func (g *Gauge) Clean(v any, depth int) (any, error) {
	if depth > MaxDepth {
		return nil, ErrDepth
	}
	switch v := v.(type) {
	case nil, bool:
		return v, g.Take(4)
	case string:
		return v, g.Take(len(v) + 2)
	case int64:
		return v, g.Take(8)
	case int:
		return int64(v), g.Take(8)
	case float64:
		return workflow.Float(v), g.Take(8)
	case json.Number:
		return workflow.Number(v.String()), g.Take(len(v))
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano), g.Take(24)
	case time.Duration:
		return v.String(), g.Take(16)
	case []any:
		return g.list(v, depth)
	case map[string]any:
		return g.object(v, depth)
	}
	return g.other(reflect.ValueOf(v), depth)
}

func (g *Gauge) list(v []any, depth int) (any, error) {
	if err := g.Take(2 + len(v)); err != nil {
		return nil, err
	}
	out := make([]any, len(v))
	for i, e := range v {
		c, err := g.Clean(e, depth+1)
		if err != nil {
			return nil, err
		}
		out[i] = c
	}
	return out, nil
}

func (g *Gauge) object(v map[string]any, depth int) (any, error) {
	if err := g.Take(2); err != nil {
		return nil, err
	}
	out := make(map[string]any, len(v))
	for k, e := range v {
		if err := g.Take(len(k) + 4); err != nil {
			return nil, err
		}
		c, err := g.Clean(e, depth+1)
		if err != nil {
			return nil, err
		}
		out[k] = c
	}
	return out, nil
}

// other converts what is not already JSON-like: typed slices and maps, small
// numbers, pointers. Structures and functions have no JSON-like form.
func (g *Gauge) other(v reflect.Value, depth int) (any, error) {
	switch v.Kind() {
	case reflect.Bool:
		return v.Bool(), g.Take(4)
	case reflect.String:
		return v.String(), g.Take(v.Len() + 2)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int(), g.Take(8)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return workflow.Number(strconv.FormatUint(v.Uint(), 10)), g.Take(8)
	case reflect.Float32, reflect.Float64:
		return workflow.Float(v.Float()), g.Take(8)
	case reflect.Slice, reflect.Array:
		if err := g.Take(2 + v.Len()); err != nil {
			return nil, err
		}
		out := make([]any, v.Len())
		for i := range out {
			c, err := g.Clean(v.Index(i).Interface(), depth+1)
			if err != nil {
				return nil, err
			}
			out[i] = c
		}
		return out, nil
	case reflect.Map:
		return g.anyMap(v, depth)
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil, g.Take(4)
		}
		return g.Clean(v.Elem().Interface(), depth+1)
	case reflect.Func:
		return nil, fmt.Errorf("a function is not a value that can be kept")
	}
	if v.Type() == reflect.TypeFor[time.Location]() {
		return nil, errors.New("a time zone cannot be kept; write .String() behind it")
	}
	return nil, fmt.Errorf("a value of type %s cannot be kept", v.Type())
}

func (g *Gauge) anyMap(v reflect.Value, depth int) (any, error) {
	if err := g.Take(2); err != nil {
		return nil, err
	}
	out := make(map[string]any, v.Len())
	for it := v.MapRange(); it.Next(); {
		k := fmt.Sprint(it.Key().Interface())
		if err := g.Take(len(k) + 4); err != nil {
			return nil, err
		}
		c, err := g.Clean(it.Value().Interface(), depth+1)
		if err != nil {
			return nil, err
		}
		out[k] = c
	}
	return out, nil
}

// Keep is [Clean] with what is left of the gauge as its limit.
func (g *Gauge) Keep(v any) (any, error) {
	switch v := v.(type) {
	case nil, bool, int64:
		return v, nil
	case int:
		return int64(v), nil
	}
	return g.Clean(v, 0)
}
