package expression

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/expressiontest"
	"github.com/weft-run/weft/internal/expression/native"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// scalars are what values are drawn of: numbers that are worth the same, or nearly, texts that look like them.
func scalars() *rapid.Generator[any] {
	return rapid.SampledFrom([]any{
		nil, true, false, "", "1", "a", "É😀", "true", int64(0), int64(1), 1.0, 1.5, -0.5, int64(-1), 0.1, 1e20, 1e300,
		int64(9007199254740992), int64(9007199254740993), 9007199254740992.0, int64(9223372036854775807), 9223372036854775808.0,
		json.Number("9223372036854775808"), json.Number("123456789012345678901234567890"),
	})
}

func values(depth int) *rapid.Generator[any] {
	if depth == 0 {
		return scalars()
	}
	inner := rapid.Deferred(func() *rapid.Generator[any] { return values(depth - 1) })
	return rapid.OneOf(scalars(),
		rapid.Map(rapid.SliceOfN(inner, 0, 3), func(list []any) any { return list }),
		rapid.Map(rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "É"}), inner, 0, 3), func(o map[string]any) any { return o }))
}

func drawScope(t *rapid.T) *expressiontest.Scope {
	s := expressiontest.Example()
	for _, name := range []string{"a", "b", "c"} {
		s.In[name] = values(2).Draw(t, name)
	}
	if rapid.Bool().Draw(t, "same") {
		s.In["b"] = s.In["a"]
	}
	return s
}

// each evaluates what stands in ${{ }} once for every scope that is drawn.
func each(t *testing.T, kind string, sources ...string) func(t *rapid.T, s engine.Scope) []any {
	compiled := make([]engine.Compiled, len(sources))
	for i, source := range sources {
		compiled[i] = compile(t, kind, source)
	}
	return func(t *rapid.T, s engine.Scope) []any {
		out := make([]any, len(compiled))
		for i, c := range compiled {
			v, err := c.Eval(t.Context(), s)
			if err != nil {
				v = fmt.Errorf("%s: %w", sources[i], err)
			}
			out[i] = v
		}
		return out
	}
}

// written compares two values as an author writes them; nothing where one cannot be written.
func written(a, b any) []string {
	x, ok1 := literally(a)
	y, ok2 := literally(b)
	if !ok1 || !ok2 {
		return nil
	}
	return []string{x + " == " + y, "inputs.a == " + y, x + " == inputs.b", "[" + x + "] == [" + y + "]", x + " in [" + y + "]", "inputs.a in [" + y + "]", "{k: " + x + "} == {k: inputs.b}"}
}

func literally(v any) (string, bool) {
	switch v := v.(type) {
	case nil:
		return "nil", true
	case string:
		return strconv.Quote(v), true
	case float64:
		text := strconv.FormatFloat(v, 'f', -1, 64)
		if !strings.Contains(text, ".") {
			text += ".0"
		}
		return "(" + text + ")", true
	case json.Number:
		return "", false
	case []any:
		out := make([]string, len(v))
		for i, e := range v {
			var ok bool
			if out[i], ok = literally(e); !ok {
				return "", false
			}
		}
		return "[" + strings.Join(out, ", ") + "]", true
	case map[string]any:
		var out []string
		for k, e := range v {
			text, ok := literally(e)
			if !ok {
				return "", false
			}
			out = append(out, strconv.Quote(k)+": "+text)
		}
		return "({" + strings.Join(out, ", ") + "})", true
	}
	return fmt.Sprint("(", v, ")"), true
}

// Values are equal inside lists and objects, and to functions that look for equal ones, as they are outside.
func TestEqualInsideAsOutside(t *testing.T) {
	t.Parallel()
	sources := []string{
		`inputs.a == inputs.b`, `inputs.b == inputs.a`, `not (inputs.a != inputs.b)`, `[inputs.a] == [inputs.b]`, `{x: inputs.a} == {x: inputs.b}`,
		`{x: [1, inputs.a]} == {x: [1.0, inputs.b]}`, `inputs.a in [inputs.b]`, `inputs.b in ["other", inputs.a]`, `[inputs.a] in [[inputs.b]]`,
		`len(uniq([inputs.a, inputs.b])) == 1`, `len(uniq([[inputs.a], [inputs.b]])) == 1`, `any([inputs.b], # == inputs.a)`, `findIndex([inputs.b], # == inputs.a) == 0`,
		`let x = inputs.a; let y = inputs.b; x == y`,
	}
	for i := range sources {
		sources[i] = "${{ " + sources[i] + " }}"
	}
	of := each(t, workflow.Expr, sources...)
	transitive := each(t, workflow.Expr, `${{ not (inputs.a == inputs.b and inputs.b == inputs.c) or inputs.a == inputs.c }}`)
	template := each(t, workflow.Liquid, `{% if inputs.a == inputs.b %}true{% else %}false{% endif %}`)
	rapid.Check(t, func(t *rapid.T) {
		s := drawScope(t)
		got := of(t, s)
		for i, v := range got {
			if v != got[0] {
				t.Fatalf("%#v and %#v: %s is %v, and %s %v", s.In["a"], s.In["b"], sources[0], got[0], sources[i], v)
			}
		}
		if v := transitive(t, s)[0]; v != true {
			t.Fatalf("%#v, %#v, %#v: %v", s.In["a"], s.In["b"], s.In["c"], v)
		}
		if want := evaluation.Equal(s.In["a"], s.In["b"]); got[0] != want {
			t.Fatalf("%#v == %#v: %v, not %v", s.In["a"], s.In["b"], got[0], want)
		}
		for _, source := range written(s.In["a"], s.In["b"]) {
			v, err := expressiontest.Eval(t.Context(), native.Evaluator{}, "${{ "+source+" }}", s)
			if err != nil || v != got[0] {
				t.Fatalf("%s: %v, %v, and not %v as of %#v and %#v", source, v, err, got[0], s.In["a"], s.In["b"])
			}
		}
		if v := template(t, s)[0]; v != fmt.Sprint(got[0]) {
			t.Fatalf("Liquid: %#v == %#v: %v, and %v in ${{ }}", s.In["a"], s.In["b"], v, got[0])
		}
	})
}

// What is handed on is the same in every language, and what has an order has one.
func TestSameInEveryLanguage(t *testing.T) {
	t.Parallel()
	expr := each(t, workflow.Expr, "${{ inputs.a }}", "${{ {x: [inputs.a]} }}", "${{ string([inputs.a]) }}")
	script := each(t, workflow.JavaScript, "inputs.a", "({x: [inputs.a]})")
	template := each(t, workflow.Liquid, "{{ inputs.a | json }}")
	rapid.Check(t, func(t *rapid.T) {
		s := drawScope(t)
		kept, err := evaluation.Clean(s.In["a"], 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		s.In["a"] = kept
		e, j, l := expr(t, s), script(t, s), template(t, s)
		if !reflect.DeepEqual(e[0], kept) || !reflect.DeepEqual(e[:2], j) {
			t.Fatalf("%#v: ${{ }} gives %#v, JavaScript %#v", kept, e, j)
		}
		if want := "[" + fmt.Sprint(l[0]) + "]"; e[2] != want {
			t.Fatalf("%#v: ${{ }} writes %v, Liquid %v", kept, e[2], want)
		}
	})
}

// Numbers are sorted as they are compared: never before one that is less.
func TestSortedAsCompared(t *testing.T) {
	t.Parallel()
	expr := each(t, workflow.Expr, `${{ let l = sort(inputs.l); all(1..len(l) - 1, l[# - 1] <= l[#] and not (l[# - 1] > l[#])) and max(l) == last(l) and min(l) == first(l) }}`,
		`${{ sort(inputs.l, "desc") == reverse(sort(inputs.l)) }}`, `${{ map(sortBy(inputs.l, #), [#]) == map(sort(inputs.l), [#]) }}`)
	numbers := rapid.SampledFrom([]any{int64(0), int64(1), 1.0, 1.5, -0.5, 0.1, 1e20, int64(9007199254740992), int64(9007199254740993), 9007199254740992.0, 9007199254740994.0, int64(9223372036854775807), 9223372036854775808.0, json.Number("9223372036854775808")})
	rapid.Check(t, func(t *rapid.T) {
		s := expressiontest.Example()
		s.In["l"] = rapid.SliceOfN(numbers, 1, 6).Draw(t, "l")
		for _, v := range expr(t, s) {
			if v != true {
				t.Fatalf("%#v: %v", s.In["l"], v)
			}
		}
	})
}
