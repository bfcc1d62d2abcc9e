package expression

import (
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// All gives one evaluator for every kind of expression that Weft evaluates.
func All() []engine.Evaluator {
	return []engine.Evaluator{
		literal{},
		object{},
		variable{},
		input{},
		native{},
		javascript{},
		liquid{},
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

// maxSource bounds the text of one expression, in bytes: a longer one is
// refused when it is compiled.
const maxSource = 128 << 10

// sourceOf gives the text of an expression that has to be text.
func sourceOf(e workflow.Expression) (string, error) {
	var text string
	switch v := e.Value.(type) {
	case string:
		text = v
	case nil:
	default:
		return "", &Error{Kind: e.Kind, Message: "the value of this expression has to be text"}
	}
	if len(text) > maxSource {
		return "", &Error{Kind: e.Kind, Source: excerpt(text), Message: "the expression is longer than 128 KiB"}
	}
	return text, nil
}
