package liquid

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/osteele/liquid/parser"
	"github.com/osteele/liquid/render"
	"github.com/osteele/liquid/tags"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/turns"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

var _ engine.Evaluator = Evaluator{}

// Evaluator renders Liquid templates. Their result is text.
type Evaluator struct{}

// Kinds implements [engine.Evaluator].
func (Evaluator) Kinds() []string { return []string{workflow.Liquid} }

// Compile reads the template.
func (Evaluator) Compile(e workflow.Expression) (out engine.Compiled, err error) {
	source, err := evaluation.Source(e)
	if err != nil {
		return nil, err
	}
	defer func() {
		if r := recover(); r != nil { // a bug of the library must not end the node
			out, err = nil, unread(source, r)
		}
	}()
	t := &template{source: source}
	c := &liquidCompiler{config: render.NewConfig()}
	addFilters(&c.config)
	tags.AddStandardTags(c.config)
	c.add()
	root, problem := c.config.Compile(source, parser.SourceLoc{LineNo: 1})
	if problem != nil {
		return nil, t.problem(problem)
	}
	if t.root, err = c.rebuild(root, 0); err != nil {
		return nil, t.problem(err)
	}
	t.config = c.config
	t.names = namesIn(source)
	t.secret = templateSecrets(source)
	return t, nil
}

// unread is the error of a panic of the library as it read a template: a number that it
// cannot read, or a bug.
func unread(source string, panicked any) error {
	e := &evaluation.Error{Kind: workflow.Liquid, Source: evaluation.Excerpt(source), Message: fmt.Sprintf("this cannot be read: %v", panicked)}
	var number *strconv.NumError
	if err, ok := panicked.(error); ok && errors.As(err, &number) {
		e.Message, e.Err = fmt.Sprintf("the number %s is out of range", evaluation.Excerpt(number.Num)), number
	}
	return e
}

// template is a compiled template, shared by all its renderings.
type template struct {
	source string
	root   render.Node
	config render.Config
	names  []string // of bindings that the source mentions
	secret []string // names of secrets that it reads
}

// problem turns an error of the library into one with the line it is on.
func (t *template) problem(err error) error {
	var known *evaluation.Error
	if errors.As(err, &known) {
		return known
	}
	out := &evaluation.Error{Kind: workflow.Liquid, Source: evaluation.Excerpt(t.source), Message: err.Error(), Err: err}
	var at parser.Error
	if errors.As(err, &at) {
		if cause := at.Cause(); cause != nil {
			out.Message, out.Err = cause.Error(), cause
		}
		if at.LineNumber() > 0 {
			out.Line, out.Column, out.Source = at.LineNumber(), 1, evaluation.NthLine(t.source, at.LineNumber())
		}
	}
	var offset int
	if out.Message, offset = said(out.Message, t.source); offset >= 0 {
		out.Line, out.Column, out.Source = evaluation.LineAt(t.source, offset)
	}
	return out
}

// Eval implements [engine.Compiled].
func (t *template) Eval(ctx context.Context, s engine.Scope) (v any, err error) {
	l := evaluation.Limits(s.Limits())
	r := &rendering{ctx: ctx, left: 4 * l.Output, most: l.Output}
	r.pace.Begin(s.DefinitionID(), l.Script)
	defer r.pace.End()
	defer func() {
		if p := recover(); p != nil {
			v, err = nil, t.panicked(p)
		}
	}()
	if ctx.Err() != nil {
		return nil, t.problem(evaluation.Ended(ctx))
	}
	bindings, err := t.bindings(s)
	if err != nil {
		return nil, t.problem(err)
	}
	bindings[keyRendering] = r
	if problem := render.Render(t.root, r, bindings, t.config); problem != nil {
		return nil, t.problem(problem)
	}
	return r.out.String(), nil
}

// panicked gives the error of a panic: the library panics with the errors of
// what it writes to, and of some filters.
func (t *template) panicked(p any) error {
	err, ok := p.(error)
	if !ok {
		err = fmt.Errorf("%v", p)
	}
	var rethrown interface{ Cause() error } // the library's, whose text holds a stack
	if errors.As(err, &rethrown) && rethrown.Cause() != nil {
		err = rethrown.Cause()
	}
	var bug interface{ RuntimeError() }
	if errors.As(err, &bug) {
		err = fmt.Errorf("this cannot be rendered: %w", err)
	}
	return t.problem(err)
}

// rendering is one evaluation: it takes the output and watches the limits.
type rendering struct {
	ctx   context.Context // it lives as long as the call that it is an argument of
	out   strings.Builder
	most  int // bytes of output
	left  int // bytes that may still be made, in the output or in variables
	pace  turns.Pace
	ticks uint
}

const keyRendering = "\x00rendering"

// Write implements [io.Writer].
func (r *rendering) Write(b []byte) (int, error) {
	if r.out.Len()+len(b) > r.most {
		return 0, evaluation.ErrOutput
	}
	return r.out.Write(b)
}

// spend counts bytes that were rendered.
func (r *rendering) spend(n int) error {
	if r.left -= n; r.left < 0 {
		return evaluation.ErrOutput
	}
	if r.ticks++; r.ticks%16 == 0 {
		if r.ctx.Err() != nil {
			return evaluation.Ended(r.ctx)
		}
		return r.pace.Check(r.ctx)
	}
	return nil
}

var (
	word = regexp.MustCompile(`[A-Za-z]+`)
)

// bindable are the names that templates know: Weft's, and Elsa's.
var bindable = map[string]func(s engine.Scope) any{
	"variables": func(s engine.Scope) any { return s.Variables() },
	"Variables": func(s engine.Scope) any { return s.Variables() },
	"inputs":    func(s engine.Scope) any { return s.Inputs() },
	"Input":     func(s engine.Scope) any { return s.Inputs() },
	"Inputs":    func(s engine.Scope) any { return s.Inputs() },

	"lastResult":                func(s engine.Scope) any { return s.LastResult() },
	"LastResult":                func(s engine.Scope) any { return s.LastResult() },
	"instanceId":                func(s engine.Scope) any { return s.InstanceID() },
	"WorkflowInstanceId":        func(s engine.Scope) any { return s.InstanceID() },
	"definitionId":              func(s engine.Scope) any { return s.DefinitionID() },
	"WorkflowDefinitionId":      func(s engine.Scope) any { return s.DefinitionID() },
	"version":                   func(s engine.Scope) any { return s.DefinitionVersion() },
	"WorkflowDefinitionVersion": func(s engine.Scope) any { return s.DefinitionVersion() },
	"correlationId":             func(s engine.Scope) any { return s.CorrelationID() },
	"CorrelationId":             func(s engine.Scope) any { return s.CorrelationID() },
	"name":                      func(s engine.Scope) any { return s.InstanceName() },
	"WorkflowInstanceName":      func(s engine.Scope) any { return s.InstanceName() },
	"now":                       func(s engine.Scope) any { return s.Now().UTC() },
	"secrets":                   nil, // filled with those that are named
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
			out[n] = ints(bindable[n](s))
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

// ints gives v with int for int64: ranges, limits and indexes take no other
// whole number.
func ints(v any) any {
	switch v := v.(type) {
	case int64:
		return int(v)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = ints(e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = ints(e)
		}
		return out
	}
	return v
}
