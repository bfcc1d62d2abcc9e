package engine

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"
)

// constantOf evaluates compiled as it stands at compile time. It is constant if
// it asks for nothing but the initial values of variables, or if two different
// answers to everything else it asked for made no difference: evaluators may
// ask for more than an expression needs.
func constantOf(compiled Compiled, n *Node) (v any, constant bool, err error) {
	one := &constantScope{node: n, probe: 1}
	v, err = one.eval(compiled)
	if !one.asked {
		return v, true, err
	}
	again, againErr := (&constantScope{node: n, probe: 2}).eval(compiled)
	if err != nil || againErr != nil || !reflect.DeepEqual(v, again) {
		return nil, false, nil //nolint:nilerr // what fails here may well work with real answers
	}
	return v, true, nil
}

// constantScope knows the initial values of variables. To every other question
// it gives an answer that depends on the probe, and notes that it was asked.
type constantScope struct {
	node  *Node
	probe int
	asked bool
}

func (s *constantScope) eval(compiled Compiled) (v any, err error) {
	defer func() {
		if r := recover(); r != nil {
			s.asked = true
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	if v, err = compiled.Eval(context.Background(), s); err != nil {
		return nil, err
	}
	return Normalize(v)
}

func (s *constantScope) ask() { s.asked = true }

func (s *constantScope) text() string { s.ask(); return fmt.Sprint("probe-", s.probe) }

var _ Scope = (*constantScope)(nil)

func (s *constantScope) Variable(name string) (any, bool) {
	if v := findVariable(s.node, name); v != nil {
		return v.value, true
	}
	return nil, false
}

func (s *constantScope) IsDate(name string) bool {
	v := findVariable(s.node, name)
	return v != nil && v.date
}

func (s *constantScope) Variables() map[string]any {
	out := map[string]any{}
	for p := s.node; p != nil; p = p.parent {
		for _, v := range p.vars {
			if _, ok := out[v.name]; !ok {
				out[v.name] = v.value
			}
		}
		if p == s.node.unit.node {
			break
		}
	}
	return out
}

func (s *constantScope) SetVariable(string, any) error {
	s.ask()
	return errors.New("not while the definition is published")
}

func (s *constantScope) Input(name string) (any, bool) {
	for _, in := range s.node.unit.def.Inputs {
		if in.Name == name {
			return s.text(), true
		}
	}
	return nil, false
}

func (s *constantScope) Inputs() map[string]any {
	out := map[string]any{}
	for _, in := range s.node.unit.def.Inputs {
		out[in.Name] = s.text()
	}
	return out
}

func (s *constantScope) ActivityOutput(string, string) (any, bool) { return s.text(), true }
func (s *constantScope) LastResult() any                           { return s.text() }
func (s *constantScope) InstanceID() string                        { return s.text() }
func (s *constantScope) DefinitionID() string                      { return s.node.unit.def.ID }
func (s *constantScope) DefinitionVersion() int                    { s.ask(); return s.probe }
func (s *constantScope) DefinitionVersionID() string               { return s.text() }
func (s *constantScope) CorrelationID() string                     { return s.text() }
func (s *constantScope) SetCorrelationID(string)                   { s.ask() }
func (s *constantScope) InstanceName() string                      { return s.text() }
func (s *constantScope) SetInstanceName(string)                    { s.ask() }
func (s *constantScope) SetOutcomes(...string)                     { s.ask() }
func (s *constantScope) SetOutput(string, any)                     { s.ask() }
func (s *constantScope) Secret(string) (string, bool)              { return s.text(), true }
func (s *constantScope) ResumeURL(string, string, time.Duration) (string, error) {
	return s.text(), nil
}
func (s *constantScope) NewID() string  { return s.text() }
func (s *constantScope) Limits() Limits { return Limits{}.withDefaults() }

func (s *constantScope) Now() time.Time {
	s.ask()
	return time.Unix(int64(s.probe)*1_000_000_007, int64(s.probe)*7_654_321)
}
