package liquid

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/liquid/filter"
	"github.com/weft-run/weft/internal/expression/liquid/value"
	"github.com/weft-run/weft/pkg/workflow"
)

// An expression gives a value: nil, a bool, an int64, a float64 or [json.Number], a text, a time, a []any, a map[string]any,
// a [value.Span], or one of [value.Empty] and [value.Blank].
type expression interface {
	eval(r *rendering) (any, error)
}

type (
	literal struct{ constant any }

	// path is a name with fields and indexes; without a name the first index is the name.
	path struct {
		name  string
		steps []expression
	}

	// ranged is (first..last).
	ranged struct{ first, last expression }

	// compared is a comparison.
	compared struct {
		left, right expression
		op          string
	}

	// joined is two conditions with and, or between them.
	joined struct {
		left, right expression
		and         bool
	}

	// filtered is a value that a filter changes.
	filtered struct {
		of    expression
		at    int // the byte of the template where the expression begins
		name  string
		args  []expression
		named []named
	}
	named struct {
		name string
		of   expression
	}
)

func (l literal) eval(*rendering) (any, error) { return l.constant, nil }

func (p path) eval(r *rendering) (any, error) {
	steps := p.steps
	name := p.name
	if name == "" && len(steps) > 0 {
		v, err := steps[0].eval(r)
		if err != nil {
			return nil, err
		}
		name, _ = v.(string)
		steps = steps[1:]
	}
	v := r.lookup(name)
	_, bound := r.bindings[name]
	for i, s := range steps {
		index, err := s.eval(r)
		if err != nil {
			return nil, err
		}
		if of, isObject := v.(map[string]any); i == 0 && isObject && bound && name == "Input" {
			index = inputNamed(of, index)
		}
		v = value.At(v, index)
	}
	return v, nil
}

// inputNamed is an input's name as it was given: Elsa reads Input without regard to case. One that is spelled so goes
// before the others, of which the first by name counts.
func inputNamed(inputs map[string]any, index any) any {
	name, ok := index.(string)
	if _, exact := inputs[name]; !ok || exact {
		return index
	}
	var others []string
	for given := range inputs {
		if strings.EqualFold(given, name) {
			others = append(others, given)
		}
	}
	if len(others) == 0 {
		return index
	}
	return slices.Min(others)
}

func (x ranged) eval(r *rendering) (any, error) {
	first, err := x.first.eval(r)
	if err != nil {
		return nil, err
	}
	last, err := x.last.eval(r)
	if err != nil {
		return nil, err
	}
	return value.Span{First: value.Int(first), Last: value.Int(last)}, nil
}

func (x joined) eval(r *rendering) (any, error) {
	// Both sides are evaluated from the left, as far as it takes: what is on the right is one condition.
	left, err := x.left.eval(r)
	if err != nil || value.Truthy(left) != x.and {
		return value.Truthy(left), err
	}
	right, err := x.right.eval(r)
	return value.Truthy(right), err
}

func (x compared) eval(r *rendering) (any, error) {
	left, err := x.left.eval(r)
	if err != nil {
		return nil, err
	}
	right, err := x.right.eval(r)
	if err != nil {
		return nil, err
	}
	switch x.op {
	case "==":
		return value.Equal(left, right), nil
	case "!=", "<>":
		return !value.Equal(left, right), nil
	case "contains":
		return value.Contains(left, right)
	}
	order, ok, err := value.Compare(left, right)
	if err != nil || !ok {
		return false, err
	}
	return evaluation.Holds(x.op, order), nil
}

func (f filtered) eval(r *rendering) (any, error) {
	known, ok := filter.Named(f.name)
	if !ok {
		return nil, mistaken(f.at, "there is no filter %s%s", f.name, workflow.DidYouMean(f.name, filter.Names()))
	}
	c := filter.Call{Args: make([]any, len(f.args)), Now: r.now, Spend: func() error { return r.spend(0) }}
	var err error
	if c.Of, err = f.of.eval(r); err != nil {
		return nil, err
	}
	for i, a := range f.args {
		if c.Args[i], err = a.eval(r); err != nil {
			return nil, err
		}
	}
	for _, n := range f.named {
		v, err := n.of.eval(r)
		if err != nil {
			return nil, err
		}
		put(&c.Named, n.name, v)
	}
	v, err := known.Apply(&c)
	if err == nil {
		err = r.spend(0)
	}
	if err != nil && !errors.Is(err, evaluation.ErrTime) {
		err = fmt.Errorf("the filter %s: %w", f.name, err)
	}
	return v, located(f.at, err)
}
