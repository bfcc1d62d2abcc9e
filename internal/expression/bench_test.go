package expression

import (
	"testing"

	"github.com/weft-run/weft/internal/expression/expressiontest"
	"github.com/weft-run/weft/pkg/workflow"
)

func BenchmarkEval(b *testing.B) {
	expressiontest.BenchmarkEval(b, evaluator(b, workflow.Literal), "literal", "x")
	expressiontest.BenchmarkEval(b, evaluator(b, workflow.VariableOf), "variable", "Total")
}
