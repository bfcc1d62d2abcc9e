package expression

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/weft-run/weft/internal/expression/expressiontest"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

func TestAllCoversTheKindsThatAreSupported(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]bool{
		workflow.Literal: true, workflow.Object: true, workflow.VariableOf: true, workflow.InputOf: true,
		workflow.Expr: true, workflow.JavaScript: true, workflow.Liquid: true, "Json": true,
		workflow.CSharp: true, workflow.Python: false, "": false,
	} {
		has := func(e engine.Evaluator) bool { return slices.Contains(e.Kinds(), kind) }
		if slices.ContainsFunc(All(), has) != want {
			t.Errorf("%s: %v", kind, !want)
		}
		if slices.ContainsFunc(Except(kind), has) {
			t.Errorf("without %s there is one for it", kind)
		}
		less := 1
		if kind == workflow.JavaScript { // C# runs as JavaScript
			less = 2
		}
		if left := len(Except(kind)); want && left != len(All())-less || !want && left != len(All()) {
			t.Errorf("without %s there are %d", kind, left)
		}
	}
}

func TestConstants(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind        string
		value, want any
	}{
		{workflow.Literal, "00:00:05", "00:00:05"},
		{workflow.Literal, 4, int64(4)},
		{workflow.Literal, 1e3, int64(1000)},
		{workflow.Literal, json.Number("9007199254740993"), int64(9007199254740993)},
		{workflow.Literal, nil, nil},
		{workflow.Literal, map[string]any{"a": []any{1}}, map[string]any{"a": []any{int64(1)}}},
		{workflow.Literal, []string{"a"}, []any{"a"}},
		{workflow.Literal, map[any]any{1: true}, map[string]any{"1": true}},
		{workflow.Object, `["GET"]`, []any{"GET"}},
		{workflow.Object, ` {"a": 1.5, "b": 12345678901234567890} `, map[string]any{"a": 1.5, "b": json.Number("12345678901234567890")}},
		{workflow.Object, "", nil},
		{workflow.Object, `"x"`, "x"},
		{workflow.Object, []any{"x"}, []any{"x"}},
		{workflow.VariableOf, "Total", int64(41)},
		{workflow.VariableOf, map[string]any{"id": "Total", "name": "x"}, int64(41)},
		{workflow.InputOf, "amount", int64(1500)},
		{workflow.InputOf, map[string]any{"name": "amount"}, int64(1500)},
		{workflow.InputOf, "missing", nil},
	} {
		got, err := eval(t.Context(), t, c.kind, c.value, expressiontest.Example())
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s %v: got %#v, %v; want %#v", c.kind, c.value, got, err, c.want)
		}
	}
}

func TestConstantsRefuse(t *testing.T) {
	t.Parallel()
	deep := any("x")
	for range 300 {
		deep = []any{deep}
	}
	for _, c := range []struct {
		kind         string
		value        any
		line, column int
	}{
		{workflow.Object, `{"a": }`, 1, 7},
		{workflow.Object, "[1,\n 2", 2, 3},
		{workflow.Object, "{} x", 1, 4},
		{workflow.Object, "nope", 1, 2},
		{workflow.Object, strings.Repeat("[", 100000), 1, 10001},
		{workflow.Literal, func() {}, 0, 0},
		{workflow.Literal, struct{}{}, 0, 0},
		{workflow.Literal, deep, 0, 0},
		{workflow.VariableOf, "", 0, 0},
		{workflow.VariableOf, 3, 0, 0},
		{workflow.VariableOf, "nobody", 0, 0},
		{workflow.InputOf, nil, 0, 0},
		{workflow.JavaScript, 3, 0, 0},
		{workflow.Liquid, []any{}, 0, 0},
		{workflow.Expr, func() {}, 0, 0},
		{workflow.Expr, deep, 0, 0},
	} {
		_, err := eval(t.Context(), t, c.kind, c.value, expressiontest.Example())
		var e *Error
		if !errors.As(err, &e) || e.Line != c.line || e.Column != c.column || e.Kind != c.kind {
			t.Errorf("%s %.20v: %+v", c.kind, c.value, err)
		}
	}
}

func TestErrorUnwrapsItsCause(t *testing.T) {
	t.Parallel()
	cause := errors.New("cause")
	s := &refusing{expressiontest.Example(), cause}
	for kind, source := range map[string]string{
		workflow.JavaScript: "setVariable('x', 1)",
		workflow.Expr:       "${{ repeat('x', 1000000000) }}",
	} {
		_, err := eval(t.Context(), t, kind, source, s)
		want := map[string]error{workflow.JavaScript: cause, workflow.Expr: ErrMemory}[kind]
		if !errors.Is(err, want) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

type refusing struct {
	*expressiontest.Scope
	err error
}

func (s *refusing) SetVariable(string, any) error { return s.err }

// One compiled expression serves many instances at once, and none sees another.
func TestCompiledIsSharedSafely(t *testing.T) {
	t.Parallel()
	type sample struct {
		kind  string
		value any
		want  func(i int64) any
	}
	for _, c := range []sample{
		{workflow.JavaScript, "getTotal() + 1", func(i int64) any { return i + 1 }},
		{workflow.JavaScript, "var n = (typeof n === 'undefined' ? 0 : n) + getTotal(); leak = n; n", func(i int64) any { return i }},
		{workflow.JavaScript, "[getTotal()].concat([1]).map(x => x * 2).join()", func(i int64) any { return fmt.Sprint(i*2, ",2") }},
		{workflow.JavaScript, "/(\\d+)/.exec('n' + getTotal())[1]", func(i int64) any { return fmt.Sprint(i) }},
		{workflow.Expr, map[string]any{"a": "${{ variables.Total }}", "b": "n ${{ map([variables.Total], # + 1) }}"},
			func(i int64) any { return map[string]any{"a": i, "b": fmt.Sprintf("n [%d]", i+1)} }},
		{workflow.Expr, "${{ 'x' matches '^x$' ? variables.Total : 0 }}", func(i int64) any { return i }},
		{workflow.Liquid, "{% for i in (1..2) %}{{ variables.Total }}{% endfor %}", func(i int64) any { return fmt.Sprint(i, i) }},
	} {
		compiled := compile(t, c.kind, c.value)
		var wg sync.WaitGroup
		for i := range int64(8) {
			wg.Go(func() {
				s := expressiontest.Example()
				s.Vars["Total"] = i
				for range 20 {
					got, err := compiled.Eval(context.Background(), s)
					want := c.want(i)
					if w, ok := want.(string); ok && c.kind != workflow.Expr {
						want = strings.ReplaceAll(w, " ", "")
					}
					if err != nil || !reflect.DeepEqual(got, want) {
						t.Errorf("%v: got %#v, %v; want %#v", c.value, got, err, want)
						return
					}
				}
			})
		}
		wg.Wait()
	}
}

func TestRandomAndIdsRepeat(t *testing.T) {
	t.Parallel()
	for kind, source := range map[string]string{
		workflow.JavaScript: "[Math.random(), newGuid(), newShortGuid(), Date.now(), new Date().toISOString()]",
		workflow.Expr:       "${{ [newId(), now()] }}",
	} {
		a, err := eval(t.Context(), t, kind, source, expressiontest.Example())
		b, _ := eval(t.Context(), t, kind, source, expressiontest.Example())
		if err != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("%v, %v; %v", a, b, err)
		}
	}
}

var _ engine.Scope = (*refusing)(nil)
