package native

import (
	"testing"

	"github.com/weft-run/weft/internal/expression/expressiontest"
)

func BenchmarkEval(b *testing.B) {
	expressiontest.BenchmarkEval(b, Evaluator{}, "expr constant", "plain")
	expressiontest.BenchmarkEval(b, Evaluator{}, "expr condition", "${{ inputs.amount > 1000 }}")
	expressiontest.BenchmarkEval(b, Evaluator{}, "expr text", "Order ${{ inputs.orderId }} over ${{ inputs.amount }}")
	expressiontest.BenchmarkEval(b, Evaluator{}, "expr object", "${{ {order: inputs.orderId} }}")
	expressiontest.BenchmarkEval(b, Evaluator{}, "expr loop", "${{ filter(variables.order.lines, # != 'x') }}")
}

func BenchmarkCompile(b *testing.B) {
	expressiontest.BenchmarkCompile(b, Evaluator{}, "${{ inputs.amount > 1000 }}")
}
