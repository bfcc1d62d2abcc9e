package activities_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// goExpr is a kind of expression for tests: a Go function.
const goExpr = "Go"

func expr(f func(s engine.Scope) (any, error)) workflow.Expression {
	return workflow.Expression{Kind: goExpr, Value: f}
}

// variableIs, inputIs and varExpr are common expressions.
func varExpr(name string) workflow.Expression {
	return expr(func(s engine.Scope) (any, error) {
		v, ok := s.Variable(name)
		if !ok {
			return nil, fmt.Errorf("no variable %s", name)
		}
		return v, nil
	})
}

func inputExpr(name string) workflow.Expression {
	return expr(func(s engine.Scope) (any, error) { v, _ := s.Input(name); return v, nil })
}

type testEvaluator struct{}

func (testEvaluator) Kinds() []string {
	return []string{goExpr, workflow.Object, workflow.VariableOf, workflow.InputOf, workflow.JavaScript}
}

func (testEvaluator) Compile(e workflow.Expression) (engine.Compiled, error) {
	switch v := e.Value.(type) {
	case func(engine.Scope) (any, error):
		return compiled(v), nil
	case string:
		switch e.Kind {
		case workflow.Object:
			var out any
			if err := json.Unmarshal([]byte(v), &out); err != nil {
				return nil, err
			}
			return compiled(func(engine.Scope) (any, error) { return out, nil }), nil
		case workflow.VariableOf:
			return compiled(func(s engine.Scope) (any, error) { x, _ := s.Variable(v); return x, nil }), nil
		case workflow.InputOf:
			return compiled(func(s engine.Scope) (any, error) { x, _ := s.Input(v); return x, nil }), nil
		case workflow.JavaScript:
			return script(v)
		}
	}
	return nil, fmt.Errorf("cannot compile %T", e.Value)
}

type compiled func(engine.Scope) (any, error)

func (c compiled) Eval(_ context.Context, s engine.Scope) (any, error) { return c(s) }

// script knows just enough for the tests of RunJavaScript.
func script(src string) (engine.Compiled, error) {
	switch src {
	case "syntax error":
		return nil, fmt.Errorf("unexpected identifier")
	case "setOutcome('Left')":
		return compiled(func(s engine.Scope) (any, error) { s.SetOutcomes("Left"); return nil, nil }), nil
	case "throw":
		return compiled(func(engine.Scope) (any, error) { return nil, fmt.Errorf("thrown") }), nil
	}
	return compiled(func(engine.Scope) (any, error) { return src, nil }), nil
}

// The activities that tests are made of.

type inputs = map[string]workflow.Expression

func act(typ string, in inputs, kids ...*workflow.Activity) *workflow.Activity {
	return &workflow.Activity{Type: "Elsa." + typ, Inputs: in, Activities: kids}
}

func lit(v any) workflow.Expression { return workflow.Lit(v) }

func line(text string) *workflow.Activity { return act("WriteLine", inputs{"text": lit(text)}) }

func lineOf(e workflow.Expression) *workflow.Activity { return act("WriteLine", inputs{"text": e}) }

func seq(kids ...*workflow.Activity) *workflow.Activity { return act("Sequence", nil, kids...) }

func wait(name string) *workflow.Activity { return act("Event", inputs{"eventName": lit(name)}) }

func named(id string, a *workflow.Activity) *workflow.Activity { a.ID = id; return a }

func port(a *workflow.Activity, name string, child *workflow.Activity) *workflow.Activity {
	if a.Ports == nil {
		a.Ports = map[string]*workflow.Activity{}
	}
	a.Ports[name] = child
	return a
}

func nowT0() time.Time { return t0 }
