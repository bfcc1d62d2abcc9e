package expression

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/weft-run/weft/internal/expression/expressiontest"
	"github.com/weft-run/weft/pkg/workflow"
)

// A number that an expression only hands on is what it was.
func TestExpressionsHandNumbersOn(t *testing.T) {
	t.Parallel()
	for _, n := range []any{
		int64(9007199254740992), int64(9007199254740993), int64(-9007199254740993), int64(1152921504606846976), int64(9223372036854775807), 1e20, 1e300,
		json.Number("9223372036854775808"), json.Number("18446744073709551616"), json.Number("123456789012345678901234567890"), json.Number("1e400"),
	} {
		for _, c := range []struct {
			kind, source string
			want         any
		}{
			{workflow.Expr, "${{ inputs.n }}", n},
			{workflow.Expr, "${{ {a: [inputs.n]} }}", map[string]any{"a": []any{n}}},
			{workflow.Expr, "${{ fromJSON(toJSON({a: inputs.n})).a }}", n},
			{workflow.JavaScript, "getN()", n},
			{workflow.JavaScript, "inputs.n", n},
			{workflow.JavaScript, "({a: [inputs.n], b: getN()})", map[string]any{"a": []any{n}, "b": n}},
			{workflow.JavaScript, "variables.list", []any{n, "x"}},
			{workflow.JavaScript, "variables.list.slice(0, 1)", []any{n}},
			{workflow.JavaScript, "parseJson(variables.text).n", n},
			{workflow.JavaScript, "inputs.n === variables.list[0]", true},
		} {
			s := expressiontest.Example()
			raw, err := workflow.Marshal(map[string]any{"n": n})
			if err != nil {
				t.Fatal(err)
			}
			s.In["n"], s.Vars["list"], s.Vars["text"] = n, []any{n, "x"}, string(raw)
			if got, err := eval(t.Context(), t, c.kind, c.source, s); err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%v: %s: got %#v, %v", n, c.source, got, err)
			}
		}
	}
}

// Texts of numbers have all digits, where no script computes them.
func TestExpressionsWriteNumbers(t *testing.T) {
	t.Parallel()
	for _, n := range []any{int64(9007199254740993), json.Number("18446744073709551616")} {
		for kind, source := range map[string]string{workflow.Expr: "n ${{ inputs.n }}", workflow.Liquid: "n {{ Input.n }}"} {
			s := expressiontest.Example()
			s.In["n"] = n
			if got, err := eval(t.Context(), t, kind, source, s); err != nil || got != fmt.Sprint("n ", n) {
				t.Errorf("%s: got %#v, %v", source, got, err)
			}
		}
	}
}

// What the documentation says of computing with a number beyond 64 bits.
func TestExprComputesWithALargeNumberThatItIsToldToRound(t *testing.T) {
	t.Parallel()
	s := expressiontest.Example()
	s.In["n"] = json.Number("18446744073709551617")
	if got, err := eval(t.Context(), t, workflow.Expr, "${{ inputs.n * 2 }}", s); err == nil {
		t.Errorf("got %v", got)
	}
	if got, err := eval(t.Context(), t, workflow.Expr, "${{ float(string(inputs.n)) / 2 }}", s); err != nil || got != workflow.Float(1<<63) {
		t.Errorf("got %#v, %v", got, err)
	}
}
