package expression

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

var (
	_ engine.Evaluator = literal{}
	_ engine.Evaluator = object{}
	_ engine.Evaluator = variable{}
	_ engine.Evaluator = input{}
)

// constant is a value that is known when the expression is compiled. Whoever
// gets it must not change it.
type constant struct{ value any }

func (c constant) Eval(context.Context, engine.Scope) (any, error) { return c.value, nil }

// maxConstant bounds a value that is written in a definition, in bytes.
const maxConstant = 8 << 20

// literal gives the value as it is written.
type literal struct{}

func (literal) Kinds() []string { return []string{workflow.Literal} }

func (literal) Compile(e workflow.Expression) (engine.Compiled, error) {
	v, err := clean(e.Value, maxConstant)
	if err != nil {
		return nil, &Error{Kind: e.Kind, Message: err.Error(), Err: err}
	}
	return constant{v}, nil
}

// object gives a decoded JSON value, or reads it from text.
type object struct{}

func (object) Kinds() []string { return []string{workflow.Object, "Json"} }

func (object) Compile(e workflow.Expression) (engine.Compiled, error) {
	text, ok := e.Value.(string)
	if !ok {
		return literal{}.Compile(e)
	}
	if len(text) > maxConstant {
		return nil, &Error{Kind: e.Kind, Source: excerpt(text), Message: "the JSON text is longer than 8 MiB"}
	}
	if strings.TrimSpace(text) == "" {
		return constant{}, nil
	}
	v, at, err := parseJSON(text)
	if err != nil {
		out := &Error{Kind: e.Kind, Message: "this is not JSON: " + err.Error(), Err: err}
		out.Line, out.Column, out.Source = lineAt(text, at)
		return nil, out
	}
	c, err := clean(v, maxConstant)
	if err != nil {
		return nil, &Error{Kind: e.Kind, Source: excerpt(text), Message: err.Error(), Err: err}
	}
	return constant{c}, nil
}

// parseJSON reads exactly one JSON value; at is the byte offset of what is
// wrong.
func parseJSON(text string) (v any, at int, err error) {
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		at := len(text)
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			at = max(int(syntax.Offset)-1, 0)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			at, err = len(text), errors.New("it ends too early")
		}
		return nil, at, err
	}
	rest := text[dec.InputOffset():]
	if t := strings.TrimLeft(rest, " \t\r\n"); t != "" {
		return nil, len(text) - len(t), errors.New("something follows the value")
	}
	return v, 0, nil
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

type variableNamed string

func (n variableNamed) Eval(_ context.Context, s engine.Scope) (any, error) {
	v, ok := s.Variable(string(n))
	if !ok {
		return nil, &Error{Kind: workflow.VariableOf, Source: excerpt(string(n)), Message: fmt.Sprintf("there is no variable %q here", string(n))}
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

type inputNamed string

// Eval gives nil for an input that was not passed, as a start may leave out
// what is not required.
func (n inputNamed) Eval(_ context.Context, s engine.Scope) (any, error) {
	v, _ := s.Input(string(n))
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
	return "", &Error{Kind: e.Kind, Message: "a name is missing"}
}
