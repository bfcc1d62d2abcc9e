package expression

import (
	"context"
	"testing"

	"github.com/weft-run/weft/internal/expression/expressiontest"
	"github.com/weft-run/weft/pkg/engine"
)

// evaluator is that of a kind.
func evaluator(tb testing.TB, kind string) engine.Evaluator {
	tb.Helper()
	for _, e := range All() {
		for _, k := range e.Kinds() {
			if k == kind {
				return ofKind{e, kind}
			}
		}
	}
	tb.Fatalf("no evaluator for %s", kind)
	return nil
}

// ofKind is an evaluator of several kinds, used for one.
type ofKind struct {
	engine.Evaluator
	kind string
}

func (o ofKind) Kinds() []string { return []string{o.kind} }

func compile(tb testing.TB, kind string, value any) engine.Compiled {
	tb.Helper()
	return expressiontest.Compile(tb, evaluator(tb, kind), value)
}

func eval(ctx context.Context, tb testing.TB, kind string, value any, s engine.Scope) (any, error) {
	tb.Helper()
	return expressiontest.Eval(ctx, evaluator(tb, kind), value, s)
}
