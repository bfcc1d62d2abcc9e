package liquid

import (
	"context"
	"errors"
	"regexp"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/liquid/filter"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

var _ engine.Evaluator = Evaluator{}

// Evaluator renders Liquid templates. Their result is text.
type Evaluator struct{}

// Kinds implements [engine.Evaluator].
func (Evaluator) Kinds() []string { return []string{workflow.Liquid} }

// Compile reads the template.
func (Evaluator) Compile(e workflow.Expression) (engine.Compiled, error) {
	source, err := evaluation.Source(e)
	if err != nil {
		return nil, err
	}
	t, all := &template{source: source}, tokens(source)
	if t.root, err = parse(all); err != nil {
		return nil, t.problem(err)
	}
	t.names = namesIn(source)
	t.secret = templateSecrets(all)
	return t, nil
}

// template is a compiled template, shared by all its renderings.
type template struct {
	source string
	root   nodes
	names  []string // of bindings that the source mentions
	secret []string // names of secrets that it reads
}

// problem turns an error into one with the line it is on.
func (t *template) problem(err error) error {
	out := &evaluation.Error{Kind: workflow.Liquid, Source: evaluation.Excerpt(t.source), Message: err.Error(), Err: err}
	var m *mistake
	if errors.As(err, &m) {
		out.Line, out.Column, out.Source = evaluation.LineAt(t.source, m.at)
		out.Err = m.err
	}
	return out
}

// Eval implements [engine.Compiled].
func (t *template) Eval(ctx context.Context, s engine.Scope) (v any, err error) {
	l := evaluation.Limits(s.Limits())
	r := &rendering{ctx: ctx, left: 4 * l.Output, most: l.Output, now: s.Now}
	r.into = &r.out
	r.pace.Begin(s.DefinitionID(), l.Script)
	defer r.pace.End()
	if ctx.Err() != nil {
		return nil, t.problem(evaluation.Ended(ctx))
	}
	if r.bindings, err = t.bindings(s); err != nil {
		return nil, t.problem(err)
	}
	// Outside of a loop, break and continue end the template.
	if err := t.root.render(r); err != nil && !errors.Is(err, errBreak) && !errors.Is(err, errContinue) {
		return nil, t.problem(err)
	}
	return r.out.String(), nil
}

var word = regexp.MustCompile(`[A-Za-z]+`)

// bindable are the names that templates know: Weft's, and Elsa's.
var bindable = map[string]func(s engine.Scope) any{
	"variables": func(s engine.Scope) any { return s.Variables() },
	"Variables": func(s engine.Scope) any { return s.Variables() },
	"inputs":    func(s engine.Scope) any { return s.Inputs() },
	"Input":     func(s engine.Scope) any { return s.Inputs() },
	"Inputs":    func(s engine.Scope) any { return s.Inputs() },

	"lastResult":                  func(s engine.Scope) any { return s.LastResult() },
	"LastResult":                  func(s engine.Scope) any { return s.LastResult() },
	"instanceId":                  func(s engine.Scope) any { return s.InstanceID() },
	"WorkflowInstanceId":          func(s engine.Scope) any { return s.InstanceID() },
	"definitionId":                func(s engine.Scope) any { return s.DefinitionID() },
	"WorkflowDefinitionId":        func(s engine.Scope) any { return s.DefinitionID() },
	"version":                     func(s engine.Scope) any { return s.DefinitionVersion() },
	"WorkflowDefinitionVersion":   func(s engine.Scope) any { return s.DefinitionVersion() },
	"WorkflowDefinitionVersionId": func(s engine.Scope) any { return s.DefinitionVersionID() },
	"correlationId":               func(s engine.Scope) any { return s.CorrelationID() },
	"CorrelationId":               func(s engine.Scope) any { return s.CorrelationID() },
	"name":                        func(s engine.Scope) any { return s.InstanceName() },
	"WorkflowInstanceName":        func(s engine.Scope) any { return s.InstanceName() },
	"now":                         func(s engine.Scope) any { return s.Now().UTC() },
	"secrets":                     nil, // filled with those that are named
}

func namesIn(source string) []string {
	var names []string
	seen := map[string]bool{}
	for _, w := range word.FindAllString(source, -1) {
		if _, ok := bindable[w]; ok && !seen[w] {
			seen[w] = true
			names = append(names, w)
		}
	}
	return names
}

// Secrets names what the template reads.
func (t *template) Secrets() []string { return t.secret }

func (t *template) bindings(s engine.Scope) (map[string]any, error) {
	out := make(map[string]any, len(t.names)+2)
	for _, n := range t.names {
		if n != "secrets" {
			out[n] = bindable[n](s)
			continue
		}
		secrets := map[string]any{}
		for _, name := range t.secret {
			v, ok := s.Secret(name)
			if !ok {
				return nil, evaluation.NoSecret(name)
			}
			secrets[name] = v
		}
		out[n] = secrets
	}
	return out, nil
}

// Filters lists the filters that a template may use, sorted.
func Filters() []string { return filter.Names() }
