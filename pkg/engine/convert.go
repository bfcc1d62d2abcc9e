package engine

import (
	"fmt"
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/engine/forms"
	"github.com/weft-run/weft/pkg/workflow"
)

// convert gives v the Go type that an input of this descriptor has: string,
// bool, int64, float64 (int64 or json.Number for whole numbers that it does not
// hold), time.Duration, time.Time, []any or, for Object and
// unknown aliases, v itself. nil stays nil. v is in the engine's value space.
func convert(v any, in workflow.InputDescriptor) (any, error) {
	if v == nil {
		return nil, nil
	}
	out, err := forms.To(v, in.Type)
	if d, ok := out.(time.Duration); ok && err == nil && in.Positive && d <= 0 {
		return nil, fmt.Errorf("it is a time that something takes, and %s is not longer than 0", Text(v))
	}
	if err != nil || len(in.Options) == 0 {
		return out, err
	}
	s, ok := out.(string)
	if !ok {
		return out, nil
	}
	for _, o := range in.Options {
		if strings.EqualFold(o, strings.TrimSpace(s)) {
			return o, nil
		}
	}
	return nil, fmt.Errorf("%q is not one of %s%s", s, strings.Join(in.Options, ", "), suggest(s, in.Options))
}

// Convert gives v the form of a type alias such as Int32, Boolean, TimeSpan or
// String[]; unknown aliases and Object leave it as it is. Texts are read the
// way Elsa's designer writes them: "4", "True", "00:00:05", "OK".
func Convert(v any, alias string) (any, error) {
	n, err := Normalize(v)
	if err != nil || n == nil {
		return nil, err
	}
	return forms.To(n, alias)
}

// Text gives the text of any value: strings as they are, numbers and booleans
// spelled out, objects and lists as JSON, nil as "".
func Text(v any) string {
	t, err := forms.Text(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return t.(string)
}
