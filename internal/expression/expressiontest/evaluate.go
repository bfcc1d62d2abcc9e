package expressiontest

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// Patience is how long anything may take on a machine with other work to do,
// under the race detector. Without limits it would be hours.
const Patience = 20 * time.Second

// Compile compiles an expression that is right.
func Compile(tb testing.TB, e engine.Evaluator, value any) engine.Compiled {
	tb.Helper()
	c, err := e.Compile(workflow.Expression{Kind: e.Kinds()[0], Value: value})
	if err != nil {
		tb.Fatalf("compile %v: %v", value, err)
	}
	return c
}

// Eval compiles and evaluates; the error is of whichever failed.
func Eval(ctx context.Context, e engine.Evaluator, value any, s engine.Scope) (any, error) {
	c, err := e.Compile(workflow.Expression{Kind: e.Kinds()[0], Value: value})
	if err != nil {
		return nil, err
	}
	return c.Eval(ctx, s)
}

// recovered reports whether an error is that of a panic of a library; nothing recovers one for Liquid.
func recovered(e *evaluation.Error) bool {
	return e.Kind != workflow.Liquid && strings.Contains(e.Message, "this cannot be")
}

// CheckSound compiles and evaluates any source within small limits and checks that
// nothing but a clean value or an *[evaluation.Error] comes out, in time.
func CheckSound(t *testing.T, e engine.Evaluator, source string) {
	t.Helper()
	s := Example()
	s.Most = engine.Limits{Script: 100 * time.Millisecond, Output: 64 << 10}
	began := time.Now()
	v, err := Eval(t.Context(), e, source, s)
	if took := time.Since(began); took > Patience {
		t.Errorf("took %v", took)
	}
	if err != nil {
		var wrong *evaluation.Error
		if !errors.As(err, &wrong) {
			t.Errorf("%v is not an *Error", err)
		} else if recovered(wrong) {
			t.Errorf("a bug: %v", wrong)
		}
		return
	}
	g := evaluation.Gauge{Left: 2 * s.Most.Output}
	c, err := g.Clean(v, 0)
	if err != nil || !reflect.DeepEqual(c, v) {
		t.Errorf("%#v is not clean: %v", v, err)
	}
}

// BenchmarkEval measures the evaluations of an expression.
func BenchmarkEval(b *testing.B, e engine.Evaluator, name string, value any) {
	b.Run(name, func(b *testing.B) {
		compiled, s := Compile(b, e, value), Example()
		b.ReportAllocs()
		for b.Loop() {
			if _, err := compiled.Eval(b.Context(), s); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkCompile measures how an expression is compiled.
func BenchmarkCompile(b *testing.B, e engine.Evaluator, value any) {
	b.Run(e.Kinds()[0], func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Compile(b, e, value)
		}
	})
}
