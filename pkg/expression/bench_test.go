package expression

import (
	"testing"

	"github.com/weft-run/weft/pkg/workflow"
)

func BenchmarkEval(b *testing.B) {
	for _, c := range []struct {
		name, kind string
		value      any
	}{
		{"literal", workflow.Literal, "x"},
		{"variable", workflow.VariableOf, "Total"},
		{"expr constant", workflow.Expr, "plain"},
		{"expr condition", workflow.Expr, "${{ inputs.amount > 1000 }}"},
		{"expr text", workflow.Expr, "Order ${{ inputs.orderId }} over ${{ inputs.amount }}"},
		{"expr object", workflow.Expr, "${{ {order: inputs.orderId} }}"},
		{"expr loop", workflow.Expr, "${{ filter(variables.order.lines, # != 'x') }}"},
		{"js accessor", workflow.JavaScript, "getTotal() + 1"},
		{"js template", workflow.JavaScript, "`Child received: ${getMessage()}`"},
		{"js object", workflow.JavaScript, "({id: variables.order.id})"},
		{"js hardened", workflow.JavaScript, "variables.order.lines.map(x => x + x).join(',')"},
		{"liquid", workflow.Liquid, "Order {{ inputs.orderId }} over {{ inputs.amount }}"},
	} {
		b.Run(c.name, func(b *testing.B) {
			compiled, s := compile(b, c.kind, c.value), example()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := compiled.Eval(b.Context(), s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	for kind, value := range map[string]string{
		workflow.Expr:       "${{ inputs.amount > 1000 }}",
		workflow.JavaScript: "getTotal() + 1",
		workflow.Liquid:     "Order {{ inputs.orderId }}",
	} {
		b.Run(kind, func(b *testing.B) {
			e := evaluator(b, kind)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Compile(workflow.Expression{Kind: kind, Value: value}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
