package operate

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/expression/evaluation"
)

// Int is int(…).
func Int(args []any) (any, error) {
	switch v := args[0].(type) {
	case int, int64:
		return v, nil
	case float64:
		if math.Abs(v) < 1<<63 {
			return int64(v), nil
		}
		return nil, fmt.Errorf("int gives whole numbers of 64 bits, and %s is larger", Shown(v))
	case string:
		i, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
		if err == nil {
			return i, nil
		}
		if errors.Is(err, strconv.ErrRange) {
			return nil, fmt.Errorf("int gives whole numbers of 64 bits, and %s is larger", Shown(v))
		}
	case json.Number:
		return nil, fmt.Errorf("int gives whole numbers of 64 bits, and %s is larger", evaluation.Excerpt(string(v)))
	case time.Duration:
		return nil, errors.New("int takes no duration; write .Seconds() or .Hours() behind it")
	}
	return nil, fmt.Errorf("int takes a number, or a text that is a whole one, and not %s", Shown(args[0]))
}

// Float is float(…).
func Float(args []any) (any, error) {
	text := ""
	switch v := args[0].(type) {
	case int, int64, float64:
		return decimal(v), nil
	case string:
		text = strings.TrimSpace(v)
	case json.Number:
		text = string(v)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, fmt.Errorf("float takes a number, or a text that is one, and not %s", Shown(args[0]))
	}
	return f, nil
}

// Rounding is round, floor and ceil: what is whole stays as it is.
func Rounding(fn string, how func(float64) float64) func(args []any) (any, error) {
	return func(args []any) (any, error) {
		switch v := args[0].(type) {
		case int, int64, json.Number:
			return v, nil
		case float64:
			return how(v), nil
		}
		return nil, fmt.Errorf("%s takes a number, and not %s", fn, Shown(args[0]))
	}
}
