package liquid

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/osteele/liquid/filters"
	"github.com/osteele/liquid/render"
	"github.com/osteele/tuesday"

	"github.com/weft-run/weft/internal/expression/evaluation"
)

const (
	maxFilterText = 1 << 20
	maxFilterList = 100_000
	maxUniq       = 5000
)

// addFilters adds Liquid's filters, with bounds on what goes into and comes out
// of them: a filter that is applied again and again must not double a text each
// time. It gives their names.
func addFilters(c *render.Config) map[string]bool {
	b := boundedFilters{c, map[string]bool{}}
	filters.AddStandardFilters(b)
	b.AddFilter("replace", func(s, old, with string) (string, error) {
		if err := boundText(len(s) + strings.Count(s, old)*len(with)); err != nil {
			return "", err
		}
		return strings.ReplaceAll(s, old, with), nil
	})
	b.AddFilter("join", func(list []any, sep func(string) string) (string, error) {
		glue, size := sep(" "), 0
		texts := make([]string, 0, len(list))
		for _, e := range list {
			t, err := evaluation.AppendText(nil, e)
			size += len(t) + len(glue)
			if err = cmp.Or(err, boundText(size)); err != nil {
				return "", err
			}
			texts = append(texts, string(t))
		}
		return strings.Join(texts, glue), nil
	})
	b.AddFilter("slice", slice)
	b.AddFilter("truncate", func(s string, length func(int) int, ellipsis func(string) string) string {
		text, most, end := []rune(s), length(50), []rune(ellipsis("..."))
		if len(text) <= most {
			return s
		}
		return string(text[:max(0, min(len(text), most-len(end)))]) + string(end)
	})
	b.AddFilter("truncatewords", func(s string, length func(int) int, ellipsis func(string) string) string {
		words, most := strings.Fields(s), max(1, length(15))
		if len(words) <= most {
			return s
		}
		return strings.Join(words[:most], " ") + ellipsis("...")
	})
	b.AddFilter("date", func(v any, format func(string) string) (string, error) {
		t, err := timeOf(v)
		if err != nil {
			return "", err
		}
		f := format("%a, %b %d, %y")
		if len(f) > 256 || longDigits(f) {
			return "", fmt.Errorf("the date format %q is too long", evaluation.Excerpt(f))
		}
		return tuesday.Strftime(f, t)
	})
	return b.names
}

// slice gives length characters of a text, or elements of a list, from start on, which
// counts from the end where it is negative; nothing where there is nothing. The
// library's panics there, and knows no lists.
func slice(v any, start int, length func(int) int) (any, error) {
	if list, ok := v.([]any); ok {
		return part(list, start, length(1)), nil
	}
	text, err := evaluation.AppendText(nil, v)
	return string(part([]rune(string(text)), start, length(1))), err
}

func part[T any](all []T, start, length int) []T {
	if start < 0 {
		start += len(all)
	}
	if start < 0 || start >= len(all) || length <= 0 {
		return all[:0]
	}
	return all[start:][:min(length, len(all)-start)]
}

// boundedFilters wraps each filter that is added.
type boundedFilters struct {
	config *render.Config
	names  map[string]bool // of those that were added
}

var typeError = reflect.TypeFor[error]()

// AddFilter implements the library's FilterDictionary.
func (b boundedFilters) AddFilter(name string, fn any) {
	b.names[name] = true
	f := reflect.ValueOf(fn)
	t := f.Type()
	most := maxFilterList
	if name == "uniq" {
		most = maxUniq
	}
	in := make([]reflect.Type, t.NumIn())
	for i := range in {
		in[i] = t.In(i)
	}
	none := reflect.Zero(typeError)
	fails := func(err error) []reflect.Value {
		return []reflect.Value{reflect.Zero(t.Out(0)), reflect.ValueOf(&err).Elem()}
	}
	bounded := reflect.FuncOf(in, []reflect.Type{t.Out(0), typeError}, t.IsVariadic())
	b.config.AddFilter(name, reflect.MakeFunc(bounded, func(args []reflect.Value) []reflect.Value {
		for _, a := range args {
			if err := bound(a, most); err != nil {
				return fails(err)
			}
		}
		out := f.Call(args)
		if err := bound(out[0], maxFilterList); err != nil {
			return fails(err)
		}
		if n, ok := out[0].Interface().(int64); ok { // of divided_by
			out[0] = reflect.ValueOf(ints(n))
		}
		if len(out) == 1 {
			out = append(out, none)
		}
		return out
	}).Interface())
}

func bound(v reflect.Value, list int) error {
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.String:
		return boundText(v.Len())
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return boundText(v.Len())
		}
		if v.Len() > list {
			return fmt.Errorf("a list of %d elements: %w", v.Len(), evaluation.ErrMemory)
		}
	default:
	}
	return nil
}

func boundText(n int) error {
	if n > maxFilterText {
		return fmt.Errorf("a text of %d bytes: %w", n, evaluation.ErrMemory)
	}
	return nil
}

// longDigits reports whether a date format asks for padding beyond reason.
func longDigits(format string) bool {
	run := 0
	for _, r := range format {
		if r < '0' || r > '9' {
			run = 0
		} else if run++; run > 2 {
			return true
		}
	}
	return false
}

var dateLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999 -0700", "2006-01-02 15:04:05.999999999 -07:00",
	"2006-01-02 15:04:05.999999999", "2006-01-02 15:04", "2006-01-02", time.RFC1123Z, time.RFC1123, time.RFC850, time.ANSIC,
	"January 2, 2006", "Jan 2, 2006", "02 January 2006", "02 Jan 2006",
}

// timeOf reads a time. The text "now" is refused: a template sees one time, by
// the name now.
func timeOf(v any) (time.Time, error) {
	switch v := v.(type) {
	case time.Time:
		return v, nil
	case int64:
		return time.Unix(v, 0).UTC(), nil
	case int:
		return time.Unix(int64(v), 0).UTC(), nil
	case string:
		if v == "now" || v == "today" {
			return time.Time{}, fmt.Errorf("%q is not a time; use the variable now", v)
		}
		for _, layout := range dateLayouts {
			if t, err := time.Parse(layout, strings.TrimSpace(v)); err == nil {
				return t, nil
			}
		}
	}
	return time.Time{}, fmt.Errorf("%v is not a time", evaluation.Excerpt(fmt.Sprint(v)))
}
