package flow

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// Value is a T that is known when the workflow runs: an input, what an activity gave, or
// what is computed of them. The zero Value is not given. In an activity's code and in
// [Workflow.Result] it is there: [Value.Get].
type Value[T any] struct {
	code   string // an expression of ${{ }}
	joined bool   // by an operator, so that it needs brackets beside another
	text   string // the same as a text with ${{ }}, if it is one
	plain  *T     // known already
}

// Operand is any [Value].
type Operand interface {
	operand() string
}

// Of is a value that is known as the definition is built.
func Of[T any](v T) Value[T] { return Value[T]{plain: &v} }

// Get is the value, the zero T if it is not given. While a definition is built only what
// comes from [Of] is there; of others Get panics.
func (v Value[T]) Get() T {
	if v.plain == nil && v.code != "" {
		panic("flow: " + v.code + " is not known while the definition is built; use an operation of package flow, or an activity")
	}
	if v.plain == nil {
		return *new(T)
	}
	return *v.plain
}

// Given tells whether there is a value.
func (v Value[T]) Given() bool { return v.code != "" || v.plain != nil }

// MarshalJSON gives the value; null if it is not given.
func (v Value[T]) MarshalJSON() ([]byte, error) {
	if v.plain == nil && v.code != "" {
		return nil, fmt.Errorf("flow: %s is not known here", v.code)
	}
	return json.Marshal(v.plain)
}

// UnmarshalJSON takes the value.
func (v *Value[T]) UnmarshalJSON(raw []byte) error {
	*v = Value[T]{}
	return json.Unmarshal(raw, &v.plain)
}

// IsZero tells encoding/json what omitzero leaves out.
func (v Value[T]) IsZero() bool { return !v.Given() }

// operand is the value as an expression.
func (v Value[T]) operand() string {
	if v.plain == nil && v.joined {
		return "(" + v.code + ")"
	}
	if v.plain == nil {
		return cmp.Or(v.code, "nil")
	}
	raw, err := json.Marshal(*v.plain)
	if err != nil {
		panic(fmt.Sprintf("flow: %T has no JSON form: %v", *v.plain, err))
	}
	return string(raw)
}

// written is the value as it stands in a definition: a literal, or a text with ${{ }}.
func (v Value[T]) written() any {
	switch {
	case v.plain != nil:
		return map[string]any{"literal": *v.plain}
	case v.text != "":
		return v.text
	case v.code != "":
		return "${{ " + v.code + " }}"
	}
	return nil
}

func (v *Value[T]) stand(code string)   { *v = Value[T]{code: code} }
func (v Value[T]) typ() reflect.Type    { return reflect.TypeFor[T]() }
func coded[T any](code string) Value[T] { return Value[T]{code: code} }

// Text is a text with values in it, one for each {}.
func Text(format string, values ...Operand) Value[string] {
	parts := strings.Split(format, "{}")
	if len(parts) != len(values)+1 {
		panic(fmt.Sprintf("flow: %q has %d {}, and %d values are given", format, len(parts)-1, len(values)))
	}
	text, codes := parts[0], []string{}
	add := func(part string) {
		if raw, _ := json.Marshal(part); part != "" {
			codes = append(codes, string(raw))
		}
	}
	add(parts[0])
	for i, v := range values {
		text += "${{ " + v.operand() + " }}" + parts[i+1]
		codes = append(codes, "string("+v.operand()+" ?? \"\")")
		add(parts[i+1])
	}
	if len(values) == 0 {
		return Of(format)
	}
	out := Value[string]{code: strings.Join(codes, " + "), joined: true}
	if !strings.Contains(format, "${{") {
		out.text = text
	}
	return out
}

// Expr is what an expression in the language of ${{ }} gives (docs/expressions.md), with a
// value for each {}. Whether it is a T is seen as the workflow runs, where
// [Workflow.Check] cannot know.
func Expr[T any](source string, values ...Operand) Value[T] {
	parts := strings.Split(source, "{}")
	if len(parts) != len(values)+1 {
		panic(fmt.Sprintf("flow: %q has %d {}, and %d values are given", source, len(parts)-1, len(values)))
	}
	code := parts[0]
	for i, v := range values {
		code += v.operand() + parts[i+1]
	}
	return Value[T]{code: code, joined: true}
}

// Equal tells whether two values are the same.
func Equal[T comparable](a, b Value[T]) Value[bool] { return infix[bool](a, "==", b) }

// NotEqual is the opposite of [Equal].
func NotEqual[T comparable](a, b Value[T]) Value[bool] { return infix[bool](a, "!=", b) }

// Less tells whether a is below b.
func Less[T cmp.Ordered](a, b Value[T]) Value[bool] { return infix[bool](a, "<", b) }

// More tells whether a is above b.
func More[T cmp.Ordered](a, b Value[T]) Value[bool] { return infix[bool](a, ">", b) }

// AtMost is the opposite of [More].
func AtMost[T cmp.Ordered](a, b Value[T]) Value[bool] { return infix[bool](a, "<=", b) }

// AtLeast is the opposite of [Less].
func AtLeast[T cmp.Ordered](a, b Value[T]) Value[bool] { return infix[bool](a, ">=", b) }

// Number is what can be computed with.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~float32 | ~float64
}

// Plus is a + b.
func Plus[T Number](a, b Value[T]) Value[T] { return infix[T](a, "+", b) }

// Minus is a - b.
func Minus[T Number](a, b Value[T]) Value[T] { return infix[T](a, "-", b) }

// Times is a · b.
func Times[T Number](a, b Value[T]) Value[T] { return infix[T](a, "*", b) }

// And tells whether both are true; the second is looked at only if the first is.
func And(a, b Value[bool]) Value[bool] { return infix[bool](a, "&&", b) }

// Or tells whether one of them is true.
func Or(a, b Value[bool]) Value[bool] { return infix[bool](a, "||", b) }

// Not is the opposite of a.
func Not(a Value[bool]) Value[bool] { return coded[bool]("!" + a.operand()) }

// Len is how many items a list has.
func Len[T any](list Value[[]T]) Value[int] { return coded[int]("len(" + list.operand() + ")") }

func infix[R any](a Operand, op string, b Operand) Value[R] {
	return Value[R]{code: a.operand() + " " + op + " " + b.operand(), joined: true}
}
