package csharp

import (
	"errors"
	"fmt"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/js"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

var _ engine.Typed = Evaluator{}

// Evaluator evaluates C# as the JavaScript that it is translated to.
type Evaluator struct{}

// Kinds implements [engine.Evaluator].
func (Evaluator) Kinds() []string { return []string{workflow.CSharp} }

// Compile translates an expression where nothing is known of variables and inputs: they are dynamic.
func (v Evaluator) Compile(e workflow.Expression) (engine.Compiled, error) {
	return v.compile(e, names{})
}

// CompileTyped implements [engine.Typed].
func (v Evaluator) CompileTyped(e workflow.Expression, variable, input func(name string) (alias string, ok bool)) (engine.Compiled, error) {
	return v.compile(e, names{variable, input})
}

func (Evaluator) compile(e workflow.Expression, at names) (engine.Compiled, error) {
	source, err := evaluation.Source(e)
	if err != nil {
		return nil, err
	}
	if offset, deep := evaluation.TooDeep(source); deep {
		bad := &evaluation.Error{Kind: workflow.CSharp, Message: evaluation.ErrDepth.Error(), Err: evaluation.ErrDepth}
		bad.Line, bad.Column, bad.Source = evaluation.LineAt(source, offset)
		return nil, bad
	}
	written, _, err := translate(source, at)
	if err != nil {
		return nil, err
	}
	compiled, err := js.Evaluator{}.Compile(workflow.JS(written))
	if err != nil {
		var bad *evaluation.Error
		if errors.As(err, &bad) {
			return nil, &evaluation.Error{Kind: workflow.CSharp, Source: evaluation.Excerpt(source), Message: fmt.Sprintf("its JavaScript does not run here (%s); split it up, or write JavaScript", bad.Message), Err: bad.Err}
		}
		return nil, err
	}
	return compiled, nil
}

var _ engine.Checker = Evaluator{}

// Check implements [engine.Checker]: it gives the translation, and what may be otherwise than it was in C#.
func (Evaluator) Check(e workflow.Expression, known *engine.Names) (mistakes []engine.Mistake, result string) {
	source, err := evaluation.Source(e)
	if err != nil {
		return nil, ""
	}
	find := func(in map[string]string) func(string) (string, bool) {
		return func(name string) (string, bool) { alias, ok := in[name]; return alias, ok }
	}
	written, t, err := translate(source, names{find(known.Variables), find(known.Inputs)})
	if err != nil {
		return nil, "" // the compiler says it
	}
	for _, name := range t.made {
		if known.Made != nil {
			known.Made[name] = true
		}
	}
	known.MoreVariables = known.MoreVariables || t.others
	for _, n := range t.m.Notes {
		if n.Code == "unknown-variable" && (known.MoreVariables || known.Made[n.Of]) || n.Code == "undeclared-input" && known.MoreInputs {
			continue
		}
		mistakes = append(mistakes, engine.Mistake{Code: n.Code, Detail: n.Detail, Warning: true}.At(source, n.Off))
	}
	mistakes = append(mistakes, engine.Mistake{Code: workflow.Translated, Warning: true, Detail: "C# runs here as this JavaScript: " + written}.At(source, 0))
	return mistakes, ""
}
