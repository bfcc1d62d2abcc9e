// Package value says what Liquid's values are, how two of them compare, and what each is as text, number or list.
//
// A value is nil, a bool, an int64, a float64 or [json.Number], a text, a time, a []any, a map[string]any, a [Span], or one of
// [Empty] and [Blank]. Guaranteed: a number is compared and computed exactly as it is written, and the members of an object
// have the order of their names. Not guaranteed: that a value is small; who makes one asks [Bound].
package value

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/pkg/workflow"
)

type (
	// Empty is equal to texts, lists and objects that hold nothing.
	Empty struct{}

	// Blank is equal to what is empty, to texts of spaces, nil and false.
	Blank struct{}

	// Span is a range of whole numbers, both ends included. It becomes a list only where it is short enough.
	Span struct{ First, Last int64 }
)

// At is a field or an element of a value; nil if it has none.
func At(v, index any) any {
	switch v := v.(type) {
	case map[string]any:
		name, ok := index.(string)
		if !ok {
			return nil
		}
		if e, ok := v[name]; ok {
			return e
		}
		switch {
		case name == "size":
			return int64(len(v))
		case name == "first" && len(v) > 0:
			least := slices.Min(slices.Collect(maps.Keys(v)))
			return []any{least, v[least]}
		}
	case []any:
		switch index {
		case "size":
			return int64(len(v))
		case "first":
			return Element(v, 0)
		case "last":
			return Element(v, -1)
		}
		if i, ok := evaluation.Index(index); ok {
			return Element(v, i)
		}
	case Span:
		switch index {
		case "size":
			return v.Size()
		case "first":
			return v.First
		case "last":
			return v.Last
		}
	case string:
		if index == "size" {
			return int64(utf8.RuneCountInString(v))
		}
	}
	return nil
}

// Element is the element at an index, which counts from the end where it is negative; nil if there is none.
func Element(list []any, i int) any {
	if i < 0 {
		i += len(list)
	}
	if i < 0 || i >= len(list) {
		return nil
	}
	return list[i]
}

// Size is how many numbers there are.
func (s Span) Size() int64 {
	if s.Last < s.First {
		return 0
	}
	if n := uint64(s.Last) - uint64(s.First); n < math.MaxInt64 {
		return int64(n) + 1
	}
	return math.MaxInt64
}

// List is all numbers of a range.
func (s Span) List() ([]any, error) {
	n := s.Size()
	if n > MaxList {
		return nil, fmt.Errorf("a range of %d numbers, as a list: %w", n, evaluation.ErrMemory)
	}
	out := make([]any, n)
	for i := range out {
		out[i] = s.First + int64(i)
	}
	return out, nil
}

// Truthy reports whether a value counts as true: all do but nil and false.
func Truthy(v any) bool { return v != nil && v != false }

// Equal reports whether two values are the same: numbers by their value, lists and objects by what they hold.
func Equal(a, b any) bool {
	switch a.(type) {
	case Empty:
		return IsEmpty(b)
	case Blank:
		return isBlank(b)
	}
	switch b.(type) {
	case Empty:
		return IsEmpty(a)
	case Blank:
		return isBlank(a)
	}
	if a, ok := a.(Span); ok {
		return a == b
	}
	return evaluation.Equal(a, b)
}

// IsEmpty reports whether a value is equal to [Empty].
func IsEmpty(v any) bool {
	switch v := v.(type) {
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	case Span:
		return v.Size() == 0
	case Empty:
		return true
	}
	return false
}

func isBlank(v any) bool {
	switch v := v.(type) {
	case nil, Blank:
		return true
	case bool:
		return !v
	case string:
		return strings.TrimSpace(v) == ""
	}
	return v != Empty{} && IsEmpty(v)
}

// Compare is the order of two numbers, texts or times; not ok if one is nil or they have none.
func Compare(a, b any) (order int, ok bool, err error) {
	switch {
	case evaluation.IsNumber(a) && evaluation.IsNumber(b):
		order, ok = evaluation.CompareNumbers(a, b)
		return order, ok, nil
	case isText(a) && isText(b):
		return strings.Compare(a.(string), b.(string)), true, nil
	case evaluation.IsNumber(a) && isText(b), isText(a) && evaluation.IsNumber(b):
		return 0, false, fmt.Errorf("%s and %s have no order: one is a number, the other a text; | plus: 0 makes a number of a text", Shown(a), Shown(b))
	}
	if x, isTime := a.(time.Time); isTime {
		if y, isTime := b.(time.Time); isTime {
			return x.Compare(y), true, nil
		}
	}
	return 0, false, nil
}

// Shown is a value as an error names it.
func Shown(v any) string {
	switch v := v.(type) {
	case Empty:
		return "empty"
	case Blank:
		return "blank"
	case Span:
		return fmt.Sprintf("(%d..%d)", v.First, v.Last)
	}
	raw, err := workflow.Marshal(v)
	if err != nil {
		return "a value"
	}
	return evaluation.Shown(raw, "a value")
}

func isText(v any) bool {
	_, ok := v.(string)
	return ok
}

// Contains reports whether a text has a text in it, a list an element, or an object a field.
func Contains(of, what any) (any, error) {
	if !Truthy(of) || !Truthy(what) {
		return false, nil
	}
	switch of := of.(type) {
	case string:
		text, err := TextOf(what)
		return err == nil && strings.Contains(of, text), err
	case []any:
		return slices.ContainsFunc(of, func(e any) bool { return Equal(e, what) }), nil
	case map[string]any:
		name, ok := what.(string)
		_, has := of[name]
		return ok && has, nil
	case Span:
		i, ok := what.(int64)
		return ok && i >= of.First && i <= of.Last, nil
	}
	return false, nil
}

// TextOf is a value as text.
func TextOf(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case nil, Empty, Blank:
		return "", nil
	case Span:
		return fmt.Sprintf("%d..%d", v.First, v.Last), nil
	case []any:
		return textOfList(v)
	}
	b, err := evaluation.AppendText(nil, v)
	return string(b), err
}

// textOfList is the text of all elements, one behind the other.
func textOfList(list []any) (string, error) {
	flat, err := Flatten(nil, list, 0)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, e := range flat {
		text, err := TextOf(e)
		if err != nil {
			return "", err
		}
		if b.WriteString(text); b.Len() > MaxText {
			return "", BoundText(b.Len())
		}
	}
	return b.String(), nil
}

var decimalText = regexp.MustCompile(`^[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?$`)

// Number is a value as number: a text by what it says, 0 for all that is none.
func Number(v any) any {
	switch v := v.(type) {
	case int64, float64, json.Number:
		return v
	case string:
		text := strings.TrimSpace(v)
		if len(text) > evaluation.MaxDigits || !decimalText.MatchString(text) {
			return int64(0)
		}
		text = strings.TrimPrefix(text, "+")
		if !strings.ContainsAny(text, ".eE") {
			return workflow.Number(text)
		}
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return f
		}
		return json.Number(text) // too large to compute with
	}
	return int64(0)
}

// Int is a value as whole number: the bounds of a range, a limit, a length.
func Int(v any) int64 {
	switch n := Number(v).(type) {
	case int64:
		return n
	case float64:
		switch {
		case n >= math.MaxInt64:
			return math.MaxInt64
		case n <= math.MinInt64:
			return math.MinInt64
		}
		return int64(n)
	case json.Number: // beyond 64 bits
		if strings.HasPrefix(n.String(), "-") {
			return math.MinInt64
		}
		return math.MaxInt64
	}
	return 0
}

// Flatten adds the elements of a list to out, and of the lists in it.
func Flatten(out, list []any, depth int) ([]any, error) {
	if depth > evaluation.MaxDepth {
		return nil, evaluation.ErrDepth
	}
	for _, e := range list {
		var err error
		if inner, ok := e.([]any); ok {
			out, err = Flatten(out, inner, depth+1)
		} else {
			out = append(out, e)
		}
		if err != nil {
			return nil, err
		}
		if len(out) > MaxList {
			return nil, Bound(out)
		}
	}
	return out, nil
}

// Bound refuses what is too large for a filter.
func Bound(v any) error {
	switch v := v.(type) {
	case string:
		return BoundText(len(v))
	case []byte:
		return BoundText(len(v))
	case []any:
		if len(v) > MaxList {
			return fmt.Errorf("a list of %d elements: %w", len(v), evaluation.ErrMemory)
		}
	}
	return nil
}

// BoundText refuses a text of too many bytes.
func BoundText(n int) error {
	if n > MaxText {
		return fmt.Errorf("a text of %d bytes: %w", n, evaluation.ErrMemory)
	}
	return nil
}

// What filters take and give.
const (
	MaxText = 1 << 20 // bytes of a text
	MaxList = 100_000
)
