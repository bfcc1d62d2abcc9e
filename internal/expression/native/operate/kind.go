package operate

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/pkg/workflow"
)

// Kind says what a value is.
func Kind(v any) string {
	switch v.(type) {
	case nil:
		return "nil"
	case string:
		return "text"
	case bool:
		return "a truth value"
	case int, int64, float64, json.Number:
		return "a number"
	case time.Time:
		return "a time"
	case time.Duration:
		return "a duration"
	case *time.Location:
		return "a time zone"
	}
	switch reflect.ValueOf(v).Kind() {
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map:
		return "an object"
	case reflect.Func:
		return "a function"
	}
	return "a value of another kind"
}

// plain is the kind of a value without an article.
func plain(v any) string {
	_, kind, ok := strings.Cut(Kind(v), " ")
	if !ok {
		return Kind(v)
	}
	return kind
}

// Shown is a value as an error names it.
func Shown(v any) string {
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
		return Kind(v)
	}
	raw, err := workflow.Marshal(c)
	if err != nil {
		return Kind(v)
	}
	return evaluation.Shown(raw, Kind(v))
}
