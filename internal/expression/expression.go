package expression

import (
	"slices"

	"github.com/weft-run/weft/internal/expression/csharp"
	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/js"
	"github.com/weft-run/weft/internal/expression/liquid"
	"github.com/weft-run/weft/internal/expression/native"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// Error says what is wrong with an expression, when it is compiled or when it is
// evaluated.
type Error = evaluation.Error

// Causes that callers may tell apart, by [errors.Is].
var (
	ErrTime   = evaluation.ErrTime
	ErrMemory = evaluation.ErrMemory
	ErrOutput = evaluation.ErrOutput
	ErrDepth  = evaluation.ErrDepth
)

// All gives one evaluator for every kind of expression that Weft evaluates.
func All() []engine.Evaluator {
	return []engine.Evaluator{
		literal{},
		object{},
		variable{},
		input{},
		secret{},
		native.Evaluator{},
		js.Evaluator{},
		csharp.Evaluator{},
		liquid.Evaluator{},
	}
}

// Except gives the evaluators of [All] but that of one kind, for a program that has
// a language switched off. C# runs as JavaScript, and goes with it.
func Except(kind string) []engine.Evaluator {
	return slices.DeleteFunc(All(), func(e engine.Evaluator) bool {
		return slices.Contains(e.Kinds(), kind) || kind == workflow.JavaScript && slices.Contains(e.Kinds(), workflow.CSharp)
	})
}
