package expression

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// scope is a scope for tests: plain maps.
type scope struct {
	mu          sync.Mutex
	vars        map[string]any
	in          map[string]any
	outputs     map[string]any // "activity/output"
	last        any
	correlation string
	name        string
	outcomes    []string
	out         map[string]any
	ids         int
	limits      engine.Limits
}

var _ engine.Scope = (*scope)(nil)

func (s *scope) Variable(name string) (any, bool) { v, ok := s.vars[name]; return v, ok }
func (s *scope) SetVariable(name string, v any) error {
	if _, ok := s.vars[name]; !ok {
		return fmt.Errorf("there is no variable %q", name)
	}
	s.vars[name] = v
	return nil
}
func (s *scope) Variables() map[string]any      { return maps.Clone(s.vars) }
func (s *scope) Input(name string) (any, bool)  { v, ok := s.in[name]; return v, ok }
func (s *scope) Inputs() map[string]any         { return maps.Clone(s.in) }
func (s *scope) LastResult() any                { return s.last }
func (s *scope) InstanceID() string             { return "instance-1" }
func (s *scope) DefinitionID() string           { return "definition-1" }
func (s *scope) DefinitionVersion() int         { return 7 }
func (s *scope) CorrelationID() string          { return s.correlation }
func (s *scope) SetCorrelationID(id string)     { s.correlation = id }
func (s *scope) InstanceName() string           { return s.name }
func (s *scope) SetInstanceName(n string)       { s.name = n }
func (s *scope) SetOutcomes(o ...string)        { s.outcomes = o }
func (s *scope) Now() time.Time                 { return time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC) }
func (s *scope) Limits() engine.Limits          { return s.limits }
func (s *scope) Secret(n string) (string, bool) { return "s3cret", n == "KEY" }
func (s *scope) ResumeURL(activity, outcome string, life time.Duration) (string, error) {
	return fmt.Sprint("https://x/links/", activity, "-", outcome, "-", life), nil
}
func (s *scope) SetOutput(name string, v any) {
	if s.out == nil {
		s.out = map[string]any{}
	}
	s.out[name] = v
}
func (s *scope) ActivityOutput(activity, name string) (any, bool) {
	v, ok := s.outputs[activity+"/"+name]
	return v, ok
}
func (s *scope) NewID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids++
	return fmt.Sprintf("id-%d", s.ids)
}

// example is a scope with something of everything.
func example() *scope {
	return &scope{
		vars: map[string]any{
			"Total": int64(41), "order": map[string]any{"id": "A-1", "lines": []any{"x", "y"}},
			"decision": map[string]any{"by": "Ann"}, "none": nil, "customer_name": "Bob", "ratio": 0.5, "yes": true,
		},
		in:          map[string]any{"amount": int64(1500), "orderId": "A-1", "formal": true, "message": "hi", "Input1": "one"},
		outputs:     map[string]any{"ask/": "first", "ask/Result": "answer", "Ask/Result": "Answer"},
		last:        "last",
		correlation: "corr",
		name:        "my instance",
	}
}

func evaluator(tb testing.TB, kind string) engine.Evaluator {
	tb.Helper()
	for _, e := range All() {
		for _, k := range e.Kinds() {
			if k == kind {
				return e
			}
		}
	}
	tb.Fatalf("no evaluator for %s", kind)
	return nil
}

func compile(tb testing.TB, kind string, value any) engine.Compiled {
	tb.Helper()
	c, err := evaluator(tb, kind).Compile(workflow.Expression{Kind: kind, Value: value})
	if err != nil {
		tb.Fatalf("compile %v: %v", value, err)
	}
	return c
}

// eval compiles and evaluates; either may be what fails.
func eval(ctx context.Context, tb testing.TB, kind string, value any, s engine.Scope) (any, error) {
	tb.Helper()
	c, err := evaluator(tb, kind).Compile(workflow.Expression{Kind: kind, Value: value})
	if err != nil {
		return nil, err
	}
	return c.Eval(ctx, s)
}

func equalValues(a, b any) bool { return reflect.DeepEqual(a, b) }

// patience is how long anything may take on a machine with other work to do,
// under the race detector. Without limits it would be hours.
const patience = 20 * time.Second
