package declared

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml/notation"
)

// OutcomeField is the field of a result that names its outcome, of a type that has outcomes.
const OutcomeField = "outcome"

// MisfitError says which field of a result is not as declared.
type MisfitError struct {
	Field string // "": the whole
	Why   string
}

func (e *MisfitError) Error() string { return e.Why }

// Fits tells whether a result, as JSON's values, is one of this type: a [*MisfitError] if not.
func (d *Declaration) Fits(result any) error {
	m, ok := result.(map[string]any)
	switch {
	case result == nil:
	case !ok:
		return &MisfitError{"", fmt.Sprintf("the result is %s; that of %s is an object%s", kindOf(result), d.Type, d.wants())}
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if name == OutcomeField && len(d.Outcomes) > 0 {
			continue
		}
		if !slices.ContainsFunc(d.Outputs, func(f Field) bool { return f.Name == name }) {
			return &MisfitError{name, fmt.Sprintf("the result has a field %s, which %s does not declare%s%s", workflow.Shorten(name), d.Type, workflow.DidYouMean(name, d.resultNames()), d.wants())}
		}
	}
	for i := range d.Outputs {
		f := &d.Outputs[i]
		v, given := m[f.Name]
		if !given || v == nil {
			if f.Required {
				return &MisfitError{f.Name, fmt.Sprintf("the result has no %s, which %s requires", f.Name, d.Type)}
			}
			continue
		}
		if err := f.fits(v); err != nil {
			return &MisfitError{f.Name, fmt.Sprintf("%s of the result %v, as %s declares it", f.Name, err, d.Type)}
		}
	}
	if len(d.Outcomes) == 0 {
		return nil
	}
	if o, _ := m[OutcomeField].(string); !slices.Contains(d.Outcomes, o) {
		return &MisfitError{OutcomeField, fmt.Sprintf("the result has no %s that %s declares: it is one of %s%s", OutcomeField, d.Type, strings.Join(d.Outcomes, ", "), workflow.DidYouMean(o, d.Outcomes))}
	}
	return nil
}

func (d *Declaration) resultNames() (names []string) {
	for _, f := range d.Outputs {
		names = append(names, f.Name)
	}
	if len(d.Outcomes) > 0 {
		names = append(names, OutcomeField)
	}
	return names
}

func (d *Declaration) wants() string {
	names := d.resultNames()
	if len(names) == 0 {
		return "; it has no fields"
	}
	if len(names) > 20 {
		names = append(names[:20:20], "…")
	}
	return "; its fields are " + strings.Join(names, ", ")
}

// fits tells whether a value, as JSON's, is of the field's type.
func (f *Field) fits(v any) error {
	name, isArray, _ := notation.TypeName(f.Type)
	list, isList := v.([]any)
	switch {
	case isArray && !isList:
		return fmt.Errorf("is %s; it has to be a list", kindOf(v))
	case !isArray:
		return f.one(name, v)
	}
	for i, item := range list {
		if err := f.one(name, item); err != nil {
			return fmt.Errorf("has an item %d that %w", i+1, err)
		}
	}
	return nil
}

func (f *Field) one(alias string, v any) error {
	wrong := fmt.Errorf("is %s; it has to be %s", kindOf(v), strings.TrimSuffix(f.Type, "[]"))
	text, isText := v.(string)
	ok := true
	switch alias {
	case "String":
		if ok = isText; ok && len(f.Enum) > 0 && !slices.Contains(f.Enum, text) {
			return fmt.Errorf("is %q; it is one of %s%s", workflow.Shorten(text), strings.Join(f.Enum, ", "), workflow.DidYouMean(text, f.Enum))
		}
	case "Boolean":
		_, ok = v.(bool)
	case "Double":
		ok = kindOf(v) == aNumber
	case "Int64":
		ok = isWhole(v)
	case "DateTimeOffset":
		if !isText {
			return wrong
		}
		if _, err := time.Parse(time.RFC3339Nano, text); err != nil {
			return errors.New("is no time such as 2026-01-31T12:00:00Z")
		}
	case "TimeSpan":
		ok = isText && text != ""
	case "Object":
		if _, isObject := v.(map[string]any); f.Type == "object" || f.Type == "object[]" {
			ok = isObject
		}
	}
	if !ok {
		return wrong
	}
	return nil
}

func isWhole(v any) bool {
	switch v := v.(type) {
	case int64, int:
		return true
	case float64:
		return v == math.Trunc(v) && math.Abs(v) < 1<<63
	case json.Number:
		if _, err := v.Int64(); err == nil {
			return true
		}
		f, err := v.Float64()
		return err == nil && isWhole(f) // such as 1e3
	}
	return false
}

const aNumber = "a number"

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "true or false"
	case string:
		return "a text"
	case int64, int, float64, json.Number:
		return aNumber
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return fmt.Sprintf("%T", v)
}
