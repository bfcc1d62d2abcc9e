package operate

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/expression/evaluation"
)

var (
	// ErrInfinite is of a result that no number holds.
	ErrInfinite = errors.New("the result is larger than any number here: 1.7e308 is the largest")

	errLarge = errors.New("a number that does not fit in 64 bits is handed on, and not computed with")
	errLong  = errors.New("no duration holds the result: some 292 years are the most")
)

// Binary is what an operator between two values gives.
func Binary(op string, a, b any) (any, error) {
	switch op {
	case "==", "!=":
		same, err := Same(a, b)
		return same == (op == "=="), err
	case "<", "<=", ">", ">=":
		return ordered(op, a, b)
	case "contains", "startsWith", "endsWith":
		return within(op, a, b)
	case "**":
		return power(a, b)
	case "%":
		return rest(a, b)
	}
	switch x := a.(type) {
	case int:
		if y, ok := b.(int); ok && op != "/" {
			return whole(op, x, y), nil
		}
	case time.Time:
		return ofTime(op, x, b)
	case time.Duration:
		return ofDuration(op, x, b)
	}
	if _, ok := b.(time.Duration); ok && op == "*" {
		return ofDuration(op, b.(time.Duration), a)
	}
	if t, ok := b.(time.Time); ok && op == "+" {
		if _, ok := a.(time.Duration); ok {
			return ofTime(op, t, a)
		}
	}
	return numbers(op, a, b)
}

func refused(op string, a, b any) error {
	return fmt.Errorf("%s takes no %s and %s", op, plain(a), plain(b))
}

func whole(op string, x, y int) any {
	switch op {
	case "+":
		return x + y
	case "-":
		return x - y
	}
	return x * y
}

// computes refuses what no operator computes with: what is no number, and what does not fit in 64 bits.
func computes(op string, a, b any) error {
	switch {
	case !evaluation.IsNumber(a) || !evaluation.IsNumber(b):
		return refused(op, a, b)
	case isLarge(a) || isLarge(b):
		return errLarge
	}
	return nil
}

func numbers(op string, a, b any) (any, error) {
	if err := computes(op, a, b); err != nil {
		return nil, err
	}
	if op == "/" {
		if isZero(b) {
			return nil, fmt.Errorf("%s is divided by zero", Shown(a))
		}
		return finite(decimal(a) / decimal(b))
	}
	x, whole1 := asWhole(a)
	y, whole2 := asWhole(b)
	if whole1 && whole2 {
		return whole(op, x, y), nil
	}
	f, g := decimal(a), decimal(b)
	switch op {
	case "+":
		return finite(f + g)
	case "-":
		return finite(f - g)
	}
	return finite(f * g)
}

// asWhole is a number of the kind that is whole, which 2.0 is not.
func asWhole(v any) (int, bool) {
	switch v := v.(type) {
	case int:
		return v, true
	case int64:
		return int(v), true
	}
	return 0, false
}

// decimal is a number of the kinds that are computed with.
func decimal(v any) float64 {
	if i, ok := asWhole(v); ok {
		return float64(i)
	}
	return v.(float64)
}

// isNil reports whether a value is nil, or a group that is not there.
func isNil(v any) bool {
	list := reflect.ValueOf(v)
	return v == nil || list.Kind() == reflect.Slice && list.IsNil()
}

func isLarge(v any) bool {
	_, large := v.(json.Number)
	return large
}

func isZero(v any) bool {
	order, ok := evaluation.CompareNumbers(v, 0)
	return ok && order == 0
}

func finite(f float64) (any, error) {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, ErrInfinite
	}
	return f, nil
}

func power(a, b any) (any, error) {
	if err := computes("**", a, b); err != nil {
		return nil, err
	}
	f := math.Pow(decimal(a), decimal(b))
	if math.IsNaN(f) {
		return nil, fmt.Errorf("%s ** %s is no number: a number below zero has no root here", Shown(a), Shown(b))
	}
	return finite(f)
}

func rest(a, b any) (any, error) {
	if err := computes("%", a, b); err != nil {
		return nil, err
	}
	if isZero(b) {
		return nil, fmt.Errorf("%s is divided by zero", Shown(a))
	}
	x, ok1 := evaluation.Index(a)
	y, ok2 := evaluation.Index(b)
	if !ok1 || !ok2 {
		return nil, fmt.Errorf("%% takes whole numbers, and not %s and %s", Shown(a), Shown(b))
	}
	return x % y, nil
}

func within(op string, a, b any) (any, error) {
	if a == nil || b == nil {
		return false, nil
	}
	s, ok1 := a.(string)
	part, ok2 := b.(string)
	switch {
	case !ok1 || !ok2:
		return nil, refused(op, a, b)
	case op == "contains":
		return strings.Contains(s, part), nil
	case op == "startsWith":
		return strings.HasPrefix(s, part), nil
	}
	return strings.HasSuffix(s, part), nil
}

func ordered(op string, a, b any) (any, error) {
	order, err := Compare(a, b)
	if err != nil {
		return nil, refused(op, a, b)
	}
	return evaluation.Holds(op, order), nil
}

// Compare is the order of two numbers, texts, times or durations; an error if they have none.
func Compare(a, b any) (int, error) {
	switch x := a.(type) {
	case string:
		if y, ok := b.(string); ok {
			return strings.Compare(x, y), nil
		}
	case time.Time:
		if y, ok := b.(time.Time); ok {
			return x.Compare(y), nil
		}
	case time.Duration:
		if y, ok := b.(time.Duration); ok {
			order, _ := evaluation.CompareNumbers(int64(x), int64(y))
			return order, nil
		}
	}
	if order, ok := evaluation.CompareNumbers(a, b); ok {
		return order, nil
	}
	return 0, fmt.Errorf("%s and %s have no order", Kind(a), Kind(b))
}

// Same reports whether two values are equal, inside lists and objects as outside. A function is an error: who writes one beside
// a value has left out what calls it.
func Same(a, b any) (bool, error) {
	if Kind(a) == "a function" || Kind(b) == "a function" {
		return false, errors.New("a function is equal to nothing; write () behind it, as in now().Year()")
	}
	if a == nil || b == nil {
		return isNil(a) && isNil(b), nil
	}
	return evaluation.Equal(a, b), nil
}

// Key is the same for values that are the same, and for no others; not ok for lists and objects, which have none.
func Key(v any) (key any, ok bool) {
	switch v := v.(type) {
	case nil, bool, string, time.Duration:
		return v, true
	case time.Time:
		return [2]int64{v.Unix(), int64(v.Nanosecond())}, true
	}
	if i, ok := evaluation.Index(v); ok {
		return i, true
	}
	if r := evaluation.Rat(v); r != nil {
		if r.IsInt() && r.Num().IsInt64() {
			return int(r.Num().Int64()), true
		}
		return number(r.RatString()), true
	}
	if n, ok := v.(json.Number); ok {
		return number(n), true
	}
	return v, reflect.TypeOf(v).Comparable()
}

// number is the key of a number that is not whole, or too large.
type number string

func ofTime(op string, t time.Time, b any) (any, error) {
	switch y := b.(type) {
	case time.Time:
		if op == "-" {
			d := t.Sub(y)
			if !y.Add(d).Equal(t) {
				return nil, errLong
			}
			return d, nil
		}
	case time.Duration:
		switch op {
		case "+":
			return t.Add(y), nil
		case "-":
			return t.Add(-y), nil
		}
	}
	return nil, refused(op, t, b)
}

func ofDuration(op string, d time.Duration, b any) (any, error) {
	if y, ok := b.(time.Duration); ok {
		switch op {
		case "+", "-":
			if op == "-" {
				y = -y
			}
			if sum := d + y; (sum > d) == (y > 0) && y != math.MinInt64 {
				return sum, nil
			}
			return nil, errLong
		case "/":
			return Binary("/", int(d), int(y))
		}
		return nil, refused(op, d, b)
	}
	if t, ok := b.(time.Time); ok && op == "+" {
		return t.Add(d), nil
	}
	if !evaluation.IsNumber(b) || isLarge(b) || op != "*" && op != "/" {
		return nil, refused(op, d, b)
	}
	if op == "/" && isZero(b) {
		return nil, fmt.Errorf("%s is divided by zero", Shown(d))
	}
	if n, ok := evaluation.Index(b); ok && op == "*" {
		return times(d, n)
	}
	by := decimal(b)
	if op == "/" {
		return span(float64(d) / by)
	}
	return span(float64(d) * by)
}

func times(d time.Duration, n int) (any, error) {
	high, low := bits.Mul64(magnitude(int64(d)), magnitude(int64(n)))
	if high != 0 || low > math.MaxInt64 {
		return nil, errLong
	}
	return d * time.Duration(n), nil
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return uint64(-n)
	}
	return uint64(n)
}

func span(f float64) (any, error) {
	f = math.Round(f)
	if !(math.Abs(f) < 1<<63) {
		return nil, errLong
	}
	return time.Duration(f), nil
}

// Negative is what a minus before a value gives.
func Negative(v any) (any, error) {
	switch v := v.(type) {
	case int:
		return -v, nil
	case int64:
		return -int(v), nil
	case float64:
		return -v, nil
	case time.Duration:
		return -v, nil
	case json.Number:
		return nil, errLarge
	}
	return nil, fmt.Errorf("- takes no %s", plain(v))
}

// Item is an item of a list, a character of a text, or a field of an object.
func Item(of, at any) (any, error) {
	switch of := of.(type) {
	case nil:
		return nil, fmt.Errorf("there is nothing that has %s: it is nil", Shown(at))
	case string:
		r := []rune(of)
		i, err := place(at, len(r), "the text", "characters")
		if err != nil {
			return nil, err
		}
		return string(r[i]), nil
	case map[string]any:
		name, ok := at.(string)
		if !ok && at != nil {
			return nil, fmt.Errorf("the fields of an object have texts as names, and this is %s", Kind(at))
		}
		return of[name], nil
	}
	list := reflect.ValueOf(of)
	if k := list.Kind(); k != reflect.Slice && k != reflect.Array {
		return nil, fmt.Errorf("%s has no items", Kind(of))
	}
	i, err := place(at, list.Len(), "the list", "items")
	if err != nil {
		return nil, err
	}
	return list.Index(i).Interface(), nil
}

func place(at any, n int, what, parts string) (int, error) {
	i, ok := evaluation.Index(at)
	if !ok {
		return 0, fmt.Errorf("a place in a text or a list is a whole number, and not %s", Shown(at))
	}
	if i < -n || i >= n {
		return 0, fmt.Errorf("there is nothing at %d: %s has %d %s", i, what, n, parts)
	}
	if i < 0 {
		i += n
	}
	return i, nil
}
