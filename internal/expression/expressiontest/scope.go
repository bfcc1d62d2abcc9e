package expressiontest

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/weft-run/weft/pkg/engine"
)

// Scope is a scope for tests: plain maps.
type Scope struct {
	mu          sync.Mutex
	Vars        map[string]any
	Dates       []string // those of Vars that are dates of Elsa's JSON
	In          map[string]any
	Outputs     map[string]any // "activity/output"
	Last        any
	Correlation string
	Name        string
	Outcomes    []string
	Out         map[string]any
	ids         int
	Most        engine.Limits
}

var _ engine.Scope = (*Scope)(nil)

// Variable implements [engine.Scope].
func (s *Scope) Variable(name string) (any, bool) { v, ok := s.Vars[name]; return v, ok }

// SetVariable implements [engine.Scope].
func (s *Scope) SetVariable(name string, v any) error {
	if _, ok := s.Vars[name]; !ok {
		return fmt.Errorf("there is no variable %q", name)
	}
	s.Vars[name] = v
	return nil
}

// IsDate implements [engine.Scope].
func (s *Scope) IsDate(name string) bool { return slices.Contains(s.Dates, name) }

// Variables implements [engine.Scope].
func (s *Scope) Variables() map[string]any { return maps.Clone(s.Vars) }

// Input implements [engine.Scope].
func (s *Scope) Input(name string) (any, bool) { v, ok := s.In[name]; return v, ok }

// Inputs implements [engine.Scope].
func (s *Scope) Inputs() map[string]any { return maps.Clone(s.In) }

// LastResult implements [engine.Scope].
func (s *Scope) LastResult() any { return s.Last }

// InstanceID implements [engine.Scope].
func (s *Scope) InstanceID() string { return "instance-1" }

// DefinitionID implements [engine.Scope].
func (s *Scope) DefinitionID() string { return "definition-1" }

// DefinitionVersion implements [engine.Scope].
func (s *Scope) DefinitionVersion() int { return 7 }

// DefinitionVersionID implements [engine.Scope].
func (s *Scope) DefinitionVersionID() string { return "definition-1:7" }

// CorrelationID implements [engine.Scope].
func (s *Scope) CorrelationID() string { return s.Correlation }

// SetCorrelationID implements [engine.Scope].
func (s *Scope) SetCorrelationID(id string) { s.Correlation = id }

// InstanceName implements [engine.Scope].
func (s *Scope) InstanceName() string { return s.Name }

// SetInstanceName implements [engine.Scope].
func (s *Scope) SetInstanceName(n string) { s.Name = n }

// SetOutcomes implements [engine.Scope].
func (s *Scope) SetOutcomes(o ...string) { s.Outcomes = o }

// Now implements [engine.Scope].
func (s *Scope) Now() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC) }

// Limits implements [engine.Scope].
func (s *Scope) Limits() engine.Limits { return s.Most }

// Secret implements [engine.Scope].
func (s *Scope) Secret(n string) (string, bool) { return "s3cret", n == "KEY" }

// ResumeURL implements [engine.Scope].
func (s *Scope) ResumeURL(activity, outcome string, life time.Duration) (string, error) {
	return fmt.Sprint("https://x/links/", activity, "-", outcome, "-", life), nil
}

// SetOutput implements [engine.Scope].
func (s *Scope) SetOutput(name string, v any) {
	if s.Out == nil {
		s.Out = map[string]any{}
	}
	s.Out[name] = v
}

// ActivityOutput implements [engine.Scope].
func (s *Scope) ActivityOutput(activity, name string) (any, bool) {
	v, ok := s.Outputs[activity+"/"+name]
	return v, ok
}

// NewID implements [engine.Scope].
func (s *Scope) NewID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids++
	return fmt.Sprintf("id-%d", s.ids)
}

// Example is a scope with something of everything.
func Example() *Scope {
	return &Scope{
		Vars: map[string]any{
			"Total": int64(41), "order": map[string]any{"id": "A-1", "lines": []any{"x", "y"}},
			"decision": map[string]any{"by": "Ann"}, "none": nil, "customer_name": "Bob", "ratio": 0.5, "yes": true,
		},
		In:          map[string]any{"amount": int64(1500), "orderId": "A-1", "formal": true, "message": "hi", "Input1": "one"},
		Outputs:     map[string]any{"ask/": "first", "ask/Result": "answer", "Ask/Result": "Answer"},
		Last:        "last",
		Correlation: "corr",
		Name:        "my instance",
	}
}

// Of is the example of another definition, with a limit on time.
type Of struct {
	*Scope
	definition string
}

// DefinitionID implements [engine.Scope].
func (o Of) DefinitionID() string { return o.definition }

// OfDefinition gives the example to a definition.
func OfDefinition(id string, limit time.Duration) Of {
	s := Example()
	s.Most = engine.Limits{Script: limit}
	return Of{s, id}
}
