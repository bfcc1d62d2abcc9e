package expression

import (
	"context"
	"fmt"
	"strings"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

var (
	_ engine.Evaluator = literal{}
	_ engine.Evaluator = object{}
	_ engine.Evaluator = variable{}
	_ engine.Evaluator = input{}
	_ engine.Evaluator = secret{}
	_ engine.Checker   = variable{}
	_ engine.Checker   = input{}
)

// literal gives the value as it is written.
type literal struct{}

func (literal) Kinds() []string { return []string{workflow.Literal, "Sql"} } // the text of a statement of Elsa, which its activity reads

func (literal) Compile(e workflow.Expression) (engine.Compiled, error) {
	v, err := evaluation.Clean(e.Value, evaluation.MaxConstant)
	if err != nil {
		return nil, &evaluation.Error{Kind: e.Kind, Message: err.Error(), Err: err}
	}
	return evaluation.Constant{Value: v}, nil
}

// object gives a decoded JSON value, or reads it from text.
type object struct{}

func (object) Kinds() []string { return []string{workflow.Object, "Json"} }

func (object) Compile(e workflow.Expression) (engine.Compiled, error) {
	text, ok := e.Value.(string)
	if !ok {
		return literal{}.Compile(e)
	}
	if len(text) > evaluation.MaxConstant {
		return nil, &evaluation.Error{Kind: e.Kind, Source: evaluation.Excerpt(text), Message: "the JSON text is longer than 8 MiB"}
	}
	if strings.TrimSpace(text) == "" {
		return evaluation.Constant{}, nil
	}
	v, at, err := evaluation.ParseJSON(text)
	if err != nil {
		out := &evaluation.Error{Kind: e.Kind, Message: "this is not JSON: " + err.Error(), Err: err}
		out.Line, out.Column, out.Source = evaluation.LineAt(text, at)
		return nil, out
	}
	c, err := evaluation.Clean(v, evaluation.MaxConstant)
	if err != nil {
		return nil, &evaluation.Error{Kind: e.Kind, Source: evaluation.Excerpt(text), Message: err.Error(), Err: err}
	}
	return evaluation.Constant{Value: c}, nil
}

// variable reads a variable by name or id.
type variable struct{}

func (variable) Kinds() []string { return []string{workflow.VariableOf} }

func (variable) Compile(e workflow.Expression) (engine.Compiled, error) {
	name, err := nameOf(e, "id", "name")
	if err != nil {
		return nil, err
	}
	return variableNamed(name), nil
}

// Check implements [engine.Checker].
func (variable) Check(e workflow.Expression, names *engine.Names) ([]engine.Mistake, string) {
	name, err := nameOf(e, "id", "name")
	if err != nil {
		return nil, ""
	}
	return named(name, names.Variable(name)), names.Variables[name]
}

// named is what is wrong with the one name that an expression is.
func named(name string, m *engine.Mistake) []engine.Mistake {
	if m == nil {
		return nil
	}
	return []engine.Mistake{m.At(name, 0)}
}

type variableNamed string

func (n variableNamed) Eval(_ context.Context, s engine.Scope) (any, error) {
	v, ok := s.Variable(string(n))
	if !ok {
		return nil, &evaluation.Error{Kind: workflow.VariableOf, Source: evaluation.Excerpt(string(n)), Message: fmt.Sprintf("there is no variable %q here", string(n))}
	}
	return v, nil
}

// input reads an input of the workflow by name.
type input struct{}

func (input) Kinds() []string { return []string{workflow.InputOf} }

func (input) Compile(e workflow.Expression) (engine.Compiled, error) {
	name, err := nameOf(e, "name")
	if err != nil {
		return nil, err
	}
	return inputNamed(name), nil
}

// Check implements [engine.Checker].
func (input) Check(e workflow.Expression, names *engine.Names) ([]engine.Mistake, string) {
	name, err := nameOf(e, "name")
	if err != nil {
		return nil, ""
	}
	return named(name, names.Input(name, false)), names.Inputs[name]
}

type inputNamed string

// Eval gives nil for an input that was not passed, as a start may leave out
// what is not required.
func (n inputNamed) Eval(_ context.Context, s engine.Scope) (any, error) {
	v, _ := s.Input(string(n))
	return v, nil
}

// secret reads a secret by name, as Elsa's expressions of this kind do.
type secret struct{}

func (secret) Kinds() []string { return []string{"Secret"} }

func (secret) Compile(e workflow.Expression) (engine.Compiled, error) {
	name, err := nameOf(e, "name")
	if err != nil {
		return nil, err
	}
	return secretNamed(name), nil
}

type secretNamed string

// Secrets says which it reads.
func (n secretNamed) Secrets() []string { return []string{string(n)} }

func (n secretNamed) Eval(_ context.Context, s engine.Scope) (any, error) {
	v, ok := s.Secret(string(n))
	if !ok {
		return nil, &evaluation.Error{Kind: "Secret", Source: evaluation.Excerpt(string(n)), Message: evaluation.NoSecret(string(n)).Error()}
	}
	return v, nil
}

// nameOf is the expression's value, or one of its fields where the value is an
// object, as Elsa's designer writes it.
func nameOf(e workflow.Expression, fields ...string) (string, error) {
	switch v := e.Value.(type) {
	case string:
		if v != "" {
			return v, nil
		}
	case map[string]any:
		for _, f := range fields {
			if s, _ := v[f].(string); s != "" {
				return s, nil
			}
		}
	}
	return "", &evaluation.Error{Kind: e.Kind, Message: "a name is missing"}
}
