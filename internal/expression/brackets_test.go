package expression

import (
	"errors"
	"testing"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/pkg/workflow"
)

// Brackets that are nested too deeply are refused by all, with the place.
func TestBracketsAreNotNestedDeep(t *testing.T) {
	t.Parallel()
	for _, b := range []string{"()", "[]", "{}"} {
		deep := ""
		for range evaluation.MaxBrackets {
			deep = b[:1] + deep
		}
		if at, refused := evaluation.TooDeep(deep); refused {
			t.Errorf("%d times %s: at %d", evaluation.MaxBrackets, b, at)
		}
		if at, refused := evaluation.TooDeep(deep + b); !refused || at != evaluation.MaxBrackets {
			t.Errorf("%d times %s: at %d", evaluation.MaxBrackets+1, b, at)
		}
		for kind, source := range map[string]string{workflow.JavaScript: deep + b, workflow.Expr: "${{ " + deep + b + " }}"} {
			if kind == workflow.Expr && b == "{}" {
				continue // the first two that close end it
			}
			if _, err := evaluator(t, kind).Compile(workflow.Expression{Kind: kind, Value: source}); !errors.Is(err, ErrDepth) {
				t.Errorf("%s of %s: %v", kind, b, err)
			}
		}
	}
}
