package engine

import (
	"context"
	"errors"
	"time"
)

// constantOf evaluates compiled as it stands at compile time. It is not
// constant if it asks for anything but the initial values of variables.
func constantOf(compiled Compiled, n *Node) (v any, constant bool, err error) {
	s := &constantScope{node: n}
	defer func() {
		if r := recover(); r != nil {
			v, constant, err = nil, false, nil
		}
	}()
	v, err = compiled.Eval(context.Background(), s)
	if s.asked {
		return nil, false, nil
	}
	if err == nil {
		v, err = Normalize(v)
	}
	return v, true, err
}

// constantScope knows the initial values of variables and notes every other
// question.
type constantScope struct {
	node  *Node
	asked bool
}

var _ Scope = (*constantScope)(nil)

var errNotConstant = errors.New("not known when the definition is published")

func (s *constantScope) Variable(name string) (any, bool) {
	if v := findVariable(s.node, name); v != nil {
		return v.value, true
	}
	return nil, false
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

func (s *constantScope) ask() { s.asked = true }

func (s *constantScope) SetVariable(string, any) error { s.ask(); return errNotConstant }

func (s *constantScope) Input(name string) (any, bool) {
	for _, in := range s.node.unit.def.Inputs {
		if in.Name == name {
			s.ask()
		}
	}
	return nil, false
}

// Inputs is asked by evaluators that lay out their environment before anything
// reads it, so it counts only if there is an input.
func (s *constantScope) Inputs() map[string]any {
	if len(s.node.unit.def.Inputs) > 0 {
		s.ask()
	}
	return map[string]any{}
}
func (s *constantScope) ActivityOutput(string, string) (any, bool) { s.ask(); return nil, false }
func (s *constantScope) LastResult() any                           { s.ask(); return nil }
func (s *constantScope) InstanceID() string                        { s.ask(); return "" }
func (s *constantScope) DefinitionID() string                      { return s.node.unit.def.ID }
func (s *constantScope) DefinitionVersion() int                    { s.ask(); return 0 }
func (s *constantScope) CorrelationID() string                     { s.ask(); return "" }
func (s *constantScope) SetCorrelationID(string)                   { s.ask() }
func (s *constantScope) InstanceName() string                      { s.ask(); return "" }
func (s *constantScope) SetInstanceName(string)                    { s.ask() }
func (s *constantScope) SetOutcomes(...string)                     { s.ask() }
func (s *constantScope) SetOutput(string, any)                     { s.ask() }
func (s *constantScope) Secret(string) (string, bool)              { s.ask(); return "", false }
func (s *constantScope) Now() time.Time                            { s.ask(); return time.Time{} }
func (s *constantScope) NewID() string                             { s.ask(); return "" }
func (s *constantScope) Limits() Limits                            { return Limits{}.withDefaults() }
