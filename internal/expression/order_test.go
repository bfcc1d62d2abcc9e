package expression

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/weft-run/weft/internal/expression/expressiontest"
	"github.com/weft-run/weft/pkg/workflow"
)

// The same scope gives the same value, always: members of objects have one order in every language.
func TestTheSameScopeGivesTheSameValue(t *testing.T) {
	t.Parallel()
	s := expressiontest.Example()
	wide, nested := map[string]any{}, map[string]any{}
	for i := range 40 {
		wide[fmt.Sprintf("k%02d", i*7%40)] = int64(i)
		nested[fmt.Sprintf("n%02d", i)] = map[string]any{"b": int64(1), "a": []any{int64(i)}}
	}
	s.In["wide"], s.In["nested"] = wide, nested
	for _, e := range []workflow.Expression{
		{Type: workflow.Expr, Value: `${{ keys(inputs.wide) }}`},
		{Type: workflow.Expr, Value: `${{ values(inputs.wide) }}`},
		{Type: workflow.Expr, Value: `${{ toPairs(inputs.nested) }}`},
		{Type: workflow.Expr, Value: `${{ join(keys(inputs.nested), ",") + toJSON(inputs.wide) + string(inputs.nested) }}`},
		{Type: workflow.Expr, Value: `${{ keys(groupBy(values(inputs.wide), # % 7)) }}`},
		{Type: workflow.Expr, Value: `${{ sortBy(toPairs(inputs.wide), #[1] % 3) }}`},
		{Type: workflow.Expr, Value: `${{ uniq(values(inputs.nested)) }}`},
		{Type: workflow.JavaScript, Value: `return Object.keys(inputs.wide).concat(Object.keys(inputs.nested))`},
		{Type: workflow.JavaScript, Value: `let out = ""; for (const k in inputs.wide) out += k + inputs.wide[k]; return out`},
		{Type: workflow.JavaScript, Value: `return JSON.stringify(inputs) + JSON.stringify({...inputs.wide, a: 1}) + Object.entries(inputs.nested).join()`},
		{Type: workflow.Liquid, Value: `{% for p in inputs.wide %}{{ p[0] }}={{ p[1] }};{% endfor %}{{ inputs.nested | json }}{{ inputs.wide }}`},
		{Type: workflow.Liquid, Value: `{% for p in inputs.nested %}{{ p }}{% endfor %}{{ inputs.wide | first | join: "," }}`},
	} {
		c := compile(t, e.Type, e.Value)
		var first any
		for i := range 20 {
			v, err := c.Eval(t.Context(), s)
			if err != nil {
				t.Fatalf("%v: %v", e.Value, err)
			}
			if i == 0 {
				first = v
			} else if !reflect.DeepEqual(v, first) {
				t.Errorf("%v: %v, and before %v", e.Value, v, first)
				break
			}
		}
	}
}
