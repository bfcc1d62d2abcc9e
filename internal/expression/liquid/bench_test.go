package liquid

import (
	"testing"

	"github.com/weft-run/weft/internal/expression/expressiontest"
)

func BenchmarkEval(b *testing.B) {
	expressiontest.BenchmarkEval(b, Evaluator{}, "liquid", "Order {{ inputs.orderId }} over {{ inputs.amount }}")
}

func BenchmarkCompile(b *testing.B) {
	expressiontest.BenchmarkCompile(b, Evaluator{}, "Order {{ inputs.orderId }}")
}
