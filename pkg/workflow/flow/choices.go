package flow

import "reflect"

// GiveUp says what runs when the last attempt of a [Retry] has failed, with the reason;
// without it the step faults.
func GiveUp(body func(s *Steps, reason Value[string])) Option {
	return func(b *builder, step map[string]any) {
		step["onGiveUp"] = b.steps(func(s *Steps) { body(s, coded[string]("variables.Error")) })
	}
}

// Case is one way of a [Steps.Switch].
type Case struct {
	when Value[bool]
	then func(s *Steps)
}

// When is a way that is taken if a condition holds.
func When(condition Value[bool], then func(s *Steps)) Case { return Case{condition, then} }

// Switch takes the first of some ways whose condition holds; none, or what [Cases.Default]
// says, if none does.
func (s *Steps) Switch(cases ...Case) *Cases {
	list := []any{}
	for _, c := range cases {
		list = append(list, map[string]any{"when": c.when.written(), "then": s.b.steps(c.then)})
	}
	step := map[string]any{"switch": list}
	s.put(step, "switch")
	return &Cases{s.b, step}
}

// Cases are the ways of a Switch, which may get one for all else.
type Cases struct {
	b    *builder
	step map[string]any
}

// Default runs if no condition holds.
func (c *Cases) Default(otherwise func(s *Steps)) { c.step["default"] = c.b.steps(otherwise) }

// For runs body for each number from first to last, both included.
func (s *Steps) For(first, last Value[int], body func(s *Steps, i Value[int])) {
	name := s.b.id("numberOfFor") // CurrentValue is that of the innermost loop
	s.b.declare(name, "Int64")
	s.put(map[string]any{"for": map[string]any{"start": first.written(), "end": last.written()}, "outputs": map[string]any{"currentValue": name}, "body": s.b.steps(func(s *Steps) {
		body(s, coded[int]("variables."+name))
	})}, "for")
}

// Dispatch starts w as an instance of its own, goes on at once, and gives the id of that
// instance.
func Dispatch[In, Out any](s *Steps, w *Workflow[In, Out], in In, opts ...Option) Value[string] {
	s.b.children[w.def.ID] = w.def
	id := s.add("dispatchWorkflow", map[string]any{"workflowDefinitionId": w.def.ID, "input": plainOf(reflect.ValueOf(&in).Elem())}, opts...)
	return coded[string](s.where(id, "instanceId"))
}

// Label gives the instance a label, by which people find it.
func (s *Steps) Label(name string, value Value[string]) {
	s.add("setLabel", map[string]any{"name": name, "value": value.written()})
}
