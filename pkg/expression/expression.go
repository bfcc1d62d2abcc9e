package expression

import (
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/expression/evaluation"
	"github.com/weft-run/weft/pkg/expression/js"
	"github.com/weft-run/weft/pkg/expression/liquid"
	"github.com/weft-run/weft/pkg/expression/native"
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
		native.Evaluator{},
		js.Evaluator{},
		liquid.Evaluator{},
	}
}

// Supported reports whether expressions of this kind can be evaluated. C# and
// Python are known to [workflow] and are not.
func Supported(kind string) bool {
	for _, e := range All() {
		for _, k := range e.Kinds() {
			if k == kind {
				return true
			}
		}
	}
	return false
}
