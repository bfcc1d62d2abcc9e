package js

import (
	"testing"

	"github.com/weft-run/weft/internal/expression/expressiontest"
)

func BenchmarkEval(b *testing.B) {
	expressiontest.BenchmarkEval(b, Evaluator{}, "js accessor", "getTotal() + 1")
	expressiontest.BenchmarkEval(b, Evaluator{}, "js template", "`Child received: ${getMessage()}`")
	expressiontest.BenchmarkEval(b, Evaluator{}, "js object", "({id: variables.order.id})")
	expressiontest.BenchmarkEval(b, Evaluator{}, "js hardened", "variables.order.lines.map(x => x + x).join(',')")
}

func BenchmarkCompile(b *testing.B) {
	expressiontest.BenchmarkCompile(b, Evaluator{}, "getTotal() + 1")
}
