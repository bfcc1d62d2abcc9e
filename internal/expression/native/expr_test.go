package native

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/expressiontest"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

func TestExprValues(t *testing.T) {
	t.Parallel()
	big := map[string]any{"a": []any{"${{ inputs.amount }}", "x${{ inputs.orderId }}"}, "b/~": "${{ {order: inputs.orderId} }}", "c": 3}
	for _, c := range []struct {
		value any
		want  any
	}{
		{"plain", "plain"},
		{"", ""},
		{7, int64(7)},
		{nil, nil},
		{true, true},
		{"${{ inputs.amount > 1000 }}", true},
		{"${{ inputs.amount }}", int64(1500)},
		{"Order ${{ inputs.orderId }} over ${{ inputs.amount }}", "Order A-1 over 1500"},
		{"${{ {order: inputs.orderId} }}", map[string]any{"order": "A-1"}},
		{"${{{order: inputs.orderId}}}", map[string]any{"order": "A-1"}},
		{"${{ {a: {b: {c: 1}}} }}", map[string]any{"a": map[string]any{"b": map[string]any{"c": int64(1)}}}},
		{"${{ \"}}\" + '}}' }}", "}}}}"},
		{"${{ '\\'}}' }}", "'}}"},
		{"${{ `}}\\` }}", "}}\\"},
		{"${{ 1 /* }} */ }}", int64(1)},
		{"$${{ inputs.amount }}", "${{ inputs.amount }}"},
		{"a $${{ b }} ${{ 1 }}", "a ${{ b }} 1"},
		{"$ {{ x }} }} ${", "$ {{ x }} }} ${"},
		{"${{ 1 }}${{ 2 }}", "12"},
		{"[${{ nil }}]", "[]"},
		{"${{ 1e6 * 1.0 }} ${{ 1e21 }} ${{ 0.1 }}", "1000000 1000000000000000000000 0.1"},
		{"x ${{ {a: [1, '<']} }}", `x {"a":[1,"<"]}`},
		{"${{ inputs.missing }}", nil},
		{"${{ inputs.Amount }}", nil},
		{"${{ variables.decision?.by }}", "Ann"},
		{"${{ variables.none?.by }}", nil},
		{"${{ variables.missing?.by }}", nil},
		{"${{ variables.order.lines[1] }}", "y"},
		{"${{ variables['order'].id }}", "A-1"},
		{"${{ inputs[variables.missing ?? 'orderId'] }}", "A-1"},
		{"${{ len(inputs) }}", int64(5)},
		{"${{ 'amount' in inputs }}", true},
		{"${{ outputs('ask') }} ${{ outputs('ask', 'Result') }} ${{ outputs('nobody') }}", "first answer "},
		{"${{ [lastResult, instanceId, correlationId, definitionId, version, name] }}", []any{"last", "instance-1", "corr", "definition-1", int64(7), "my instance"}},
		{"${{ secrets.KEY }}", "s3cret"},
		{"${{ resumeUrl('ask') }} ${{ resumeUrl('ask', 'yes', '72h') }}", "https://x/links/ask--0s https://x/links/ask-yes-72h0m0s"},
		{"${{ now() }}", "2026-01-02T03:04:05.006Z"},
		{"at ${{ now() + duration('1h') }}", "at 2026-01-02T04:04:05.006Z"},
		{"${{ newId() }}", "id-1"},
		{"${{ map(1..3, # * 2) }}", []any{int64(2), int64(4), int64(6)}},
		{"${{ filter(variables.order.lines, # == 'y') }}", []any{"y"}},
		{"${{ let x = 2; x + inputs.amount }}", int64(1502)},
		{"${{ 4 / 2 }}", int64(2)},
		{"${{ 5 / 2 }}", 2.5},
		{"${{ 'a' + 'b' + inputs.orderId }}", "abA-1"},
		{"${{ join(['a', 1, nil], '-') }}", "a-1-"},
		{"${{ replace('aXa', 'a', 'b') }}", "bXb"},
		{"${{ repeat('ab', 2) }}", "abab"},
		{"${{ uniq([1, 1.0, 'a', 'a', [1], [1]]) }}", []any{int64(1), "a", []any{int64(1)}}},
		{"${{ string({a: 1}) }}", `{"a":1}`},
		{"${{ inputs.orderId matches '^A-[0-9]+$' }}", true},
		{"${{ not (inputs.orderId matches variables.customer_name) }}", true},
		{"${{ inputs.amount == 1500 and inputs.orderId == variables.order.id }}", true},
		{"${{ groupBy([1, 2, 3], # % 2 == 0 ? 'even' : 'odd') }}", map[string]any{"odd": []any{int64(1), int64(3)}, "even": []any{int64(2)}}},
		{"${{ sum(map(variables.order.lines, 1)) }}", int64(2)},
		{big, map[string]any{"a": []any{int64(1500), "xA-1"}, "b/~": map[string]any{"order": "A-1"}, "c": int64(3)}},
	} {
		got, err := expressiontest.Eval(t.Context(), Evaluator{}, c.value, expressiontest.Example())
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v: got %#v, %v; want %#v", c.value, got, err, c.want)
		}
	}
}

func TestExprNamesThePlaceOfAnError(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value        any
		line, column int
		path, has    string
	}{
		{"ab ${{ inputs.x", 1, 4, "", "no closing"},
		{"ab\n ${{ 'x }} ", 2, 2, "", "no closing"},
		{"x ${{ }}", 1, 6, "", "empty"},
		{"x ${{ 1 + }}", 1, 10, "", "ends too early"},
		{"ü ${{ input.x }}", 1, 7, "", "there is no name input (did you mean inputs?)"},
		{"${{ inputs.x.y }}", 1, 14, "", "cannot fetch"},
		{"${{ $env }}", 1, 5, "", "$env"},
		{"${{ secrets }}", 1, 5, "", "secrets.NAME"},
		{"${{ secrets[inputs.orderId] }}", 1, 12, "", "secrets.NAME"},
		{"${{ secrets.nope }}", 1, 13, "", "no secret"},
		{"${{ resumeUrl() }}", 1, 5, "", "resumeUrl takes"},
		{"${{ resumeUrl('ask', 'yes', 'soon') }}", 1, 5, "", "soon"},
		{"${{ let name = 1; name }}", 1, 9, "", "name"},
		{"${{ '' matches '(' }}", 1, 16, "", "a closing ) is missing"},
		{"${{ outputs() }}", 1, 5, "", "outputs takes"},
		{"${{ now }}", 0, 0, "", "function"},
		{map[string]any{"a/b": []any{1, "${{ nope }}"}}, 1, 5, "/a~1b/1", "there is no name nope"},
		{"${{ " + strings.Repeat("(", 300) + " }}", 1, 255, "", "nested"},
		{"${{ " + strings.Repeat("1+", 3000) + "1 }}", 1, 0, "", "nodes"},
	} {
		_, err := expressiontest.Eval(t.Context(), Evaluator{}, c.value, expressiontest.Example())
		var e *evaluation.Error
		if !errors.As(err, &e) {
			t.Errorf("%v: %v is not an *evaluation.Error", c.value, err)
			continue
		}
		if !strings.Contains(e.Message, c.has) || e.Path != c.path || c.column != 0 && (e.Line != c.line || e.Column != c.column) || e.Kind != workflow.Expr {
			t.Errorf("%v: %+v", c.value, e)
		}
	}
}

func TestExprIsBounded(t *testing.T) {
	t.Parallel()
	s := expressiontest.Example()
	s.Most = engine.Limits{Script: 300 * time.Millisecond}
	list := make([]any, 100_000)
	for i := range list {
		list[i] = int64(i)
	}
	s.Vars["list"] = list
	doubled := "let a00 = 'xxxxxxxxxxxxxxxx'; "
	lists := "let a00 = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]; "
	for i := range 30 {
		prev, next := string(rune('a'+i%26))+itoa(i), string(rune('a'+(i+1)%26))+itoa(i+1)
		doubled += "let " + next + " = " + prev + " + " + prev + "; "
		lists += "let " + next + " = [" + prev + ", " + prev + ", " + prev + "]; "
	}
	last := string(rune('a'+30%26)) + "30"
	for name, source := range map[string]string{
		"loops in loops":   "count(variables.list, any(variables.list, # < 0))",
		"doubled text":     doubled + "len(" + last + ")",
		"doubled by loop":  "reduce(1..60, #acc + #acc, 'x')",
		"shared lists":     lists + "toJSON(" + last + ")",
		"equal lists":      lists + last + " == " + last,
		"nested by loop":   "reduce(1..100000, [#acc], 0)",
		"concat":           "reduce(1..60, concat(#acc, #acc), [1])",
		"flatten":          lists + "flatten(" + last + ")",
		"range":            "1..1000000000",
		"ranges":           "map(1..900, 1..900 )",
		"repeat":           "repeat('x', 1000000000)",
		"repeated":         "len(repeat(repeat('x', 1000000), 1000000))",
		"replace":          "len(replace(repeat('x', 1000000), '', repeat('y', 1000000)))",
		"join":             "len(join(map(1..1000, repeat('x', 1000000)), ''))",
		"uniq":             "len(uniq(map(variables.list, [#])))",
		"costly pattern":   "repeat('x', 1000000) matches '(x{0,500}){0,2}(x{0,500}){0,2}y'",
		"result too large": "repeat('x', 2000000)",
		"sorting in loops": "map(variables.list, sort(variables.list))",
	} {
		began := time.Now()
		_, err := expressiontest.Eval(t.Context(), Evaluator{}, "${{ "+source+" }}", s)
		if took := time.Since(began); took > expressiontest.Patience {
			t.Errorf("%s took %v", name, took)
		}
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		t.Logf("%-20s %v", name, err)
	}
}

func itoa(i int) string { return string(rune('0'+i/10)) + string(rune('0'+i%10)) }
