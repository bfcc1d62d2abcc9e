package forms

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/value"
)

// To gives v the form of an alias; unknown ones and Object leave it as it is. v is in the value space of the
// engine (nil, bool, int64, float64, json.Number, string, []any, map[string]any), or a time or a duration.
func To(v any, alias string) (any, error) {
	switch strings.ToLower(alias) {
	case "string", "char", "uri":
		return Text(v)
	case "guid":
		return workflow.GUID(v)
	case "boolean", "bool":
		return toBool(v)
	case "int16", "int32", "int64", "byte", "short", "int", "integer", "long":
		return toInt(v)
	case "single", "double", "decimal", "float", "number":
		return toFloat(v)
	case "timespan", "duration":
		return toDuration(v)
	case "datetime", "datetimeoffset", "dateonly":
		return toTime(v)
	case "httpstatuscode":
		return toStatus(v)
	case "string[]", "icollection<string>", "ilist<string>", "list<string>", "ienumerable<string>":
		return toTexts(v)
	case "object[]", "array", "icollection<object>", "ilist<object>", "list<object>", "ienumerable<object>", "icollection", "ilist":
		return toList(v)
	}
	return v, nil
}

// Text gives the text of any value: strings as they are, numbers and booleans spelled out, objects and lists as
// JSON, nil as "". It is an error if v has no JSON form.
func Text(v any) (any, error) {
	if _, is := v.(string); is {
		return v, nil // as it is: another one would be put into an interface again
	}
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case json.Number:
		return v.String(), nil
	case nil:
		return "", nil
	case time.Duration:
		return v.String(), nil
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano), nil
	}
	raw, err := workflow.Marshal(v) // numbers too: 1234567.89 is no 1.23456789e+06 to people
	return string(raw), err
}

func toBool(v any) (any, error) {
	switch v := v.(type) {
	case bool:
		return v, nil
	case int64:
		return v != 0, nil
	case float64:
		return v != 0, nil
	case json.Number:
		return true, nil // zero is an int64
	case string:
		switch strings.ToLower(strings.TrimSpace(v)) {
		case "true", "1", "yes":
			return true, nil
		case "false", "0", "no", "":
			return false, nil
		}
	}
	return nil, mismatch(v, "true or false")
}

func toInt(v any) (any, error) {
	switch v := v.(type) {
	case int64:
		return v, nil
	case bool:
		if v {
			return int64(1), nil
		}
		return int64(0), nil
	case string:
		s := strings.TrimSpace(v)
		if i, err := strconv.ParseInt(s, 10, 64); err == nil {
			return i, nil // 007 and +7 are no JSON
		}
		if i, ok := value.NumberOf(s).(int64); ok {
			return i, nil
		}
	case json.Number:
		return nil, mismatch(v, "a whole number of at most 64 bits, -9223372036854775808 to 9223372036854775807")
	}
	return nil, mismatch(v, "a whole number")
}

// toFloat gives a float64; a whole number that none holds stays what it is.
func toFloat(v any) (any, error) {
	switch v := v.(type) {
	case float64, json.Number:
		return v, nil
	case int64:
		if v > workflow.MaxExact || v < -workflow.MaxExact {
			return v, nil
		}
		return float64(v), nil
	case string:
		if n := value.NumberOf(strings.TrimSpace(v)); n != nil {
			return toFloat(n)
		}
	}
	return nil, mismatch(v, "a number")
}

func toDuration(v any) (any, error) {
	switch v := v.(type) {
	case time.Duration:
		return v, nil
	case string:
		return value.ParseDuration(v)
	}
	return nil, mismatch(v, `a duration such as "90s", "48h", "1.12:30:00" or "PT5M"`)
}

func toTime(v any) (any, error) {
	switch v := v.(type) {
	case time.Time:
		return inCalendar(v, v)
	case string:
		s := strings.TrimSpace(v)
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999", "2006-01-02T15:04", "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05.999999999Z07", "2006-01-02"} {
			if t, err := time.Parse(layout, s); err == nil {
				return inCalendar(t, v)
			}
		}
	case int64:
		return inCalendar(time.UnixMilli(v), v) // what a JavaScript Date's getTime gives
	}
	return nil, mismatch(v, `a time such as "2026-01-31T08:00:00Z"`)
}

// inCalendar gives t in UTC. A year that RFC 3339 cannot write could not be
// saved either, so it is refused here; it is nearly always a number in another
// unit.
func inCalendar(t time.Time, v any) (any, error) {
	t = t.UTC()
	if y := t.Year(); y < 0 || y > 9999 {
		return nil, mismatch(v, "a time in the years 0 to 9999; a number counts milliseconds since 1970, so divide microseconds by 1,000 and nanoseconds by 1,000,000")
	}
	return t, nil
}

func toStatus(v any) (any, error) {
	if s, ok := v.(string); ok {
		if code, ok := value.HTTPStatus(s); ok {
			return code, nil
		}
	}
	n, err := toInt(v)
	if err != nil || n.(int64) < 100 || n.(int64) > 599 {
		return nil, mismatch(v, `an HTTP status such as 200 or "OK"`)
	}
	return n, nil
}

func toList(v any) (any, error) {
	switch v := v.(type) {
	case []any:
		return v, nil
	case string:
		if strings.HasPrefix(strings.TrimSpace(v), "[") {
			list, err := decode(v)
			if l, ok := list.([]any); ok && err == nil {
				return l, nil
			}
		}
	}
	return nil, mismatch(v, "a list")
}

func toTexts(v any) (any, error) {
	var items []any
	switch v := v.(type) {
	case []any:
		items = v
	case string:
		if strings.HasPrefix(strings.TrimSpace(v), "[") {
			list, err := toList(v)
			if err != nil {
				return nil, err
			}
			items = list.([]any)
		} else if strings.TrimSpace(v) == "" {
			return []any{}, nil
		} else {
			items = []any{v}
		}
	default:
		return nil, mismatch(v, "a list of texts")
	}
	out := make([]any, len(items))
	for i, it := range items {
		t, err := Text(it)
		if err != nil {
			return nil, err
		}
		out[i] = t
	}
	return out, nil
}

// mismatch says that v is not what was wanted, quoting a short form of v.
func mismatch(v any, want string) error {
	raw, err := workflow.Marshal(v)
	text := string(raw)
	if err != nil {
		text = fmt.Sprint(v)
	}
	return fmt.Errorf("%s is not %s", workflow.CutBytes(text, 80), want)
}

func decode(text string) (v any, err error) {
	err = workflow.Unmarshal([]byte(text), &v)
	return v, err
}
