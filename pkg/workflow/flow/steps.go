package flow

import (
	"reflect"
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/engine"
)

// Steps is a list of activities that run one after the other.
type Steps struct {
	b    *builder
	list []any
}

// Option is something that any step may have beside its inputs.
type Option func(b *builder, step map[string]any)

// ID names a step, for events, alterations and the journal. Without it the step gets one
// from its type and its number.
func ID(id string) Option {
	return func(_ *builder, step map[string]any) { step["id"] = id }
}

// Timeout bounds how long a step may take; after that the step is ended, and late runs.
func Timeout(after time.Duration, late func(s *Steps)) Option {
	return func(b *builder, step map[string]any) {
		step["timeout"], step["onTimeout"] = span(after), b.steps(late)
	}
}

// Retry tries a step again when it fails, up to so many attempts in all; delay comes
// before the second and doubles with each.
func Retry(attempts int, delay time.Duration) Option {
	return func(_ *builder, step map[string]any) {
		step["retry"] = map[string]any{"attempts": attempts, "delay": span(delay), "factor": 2}
	}
}

// span writes a duration as people do: 48h, and not 48h0m0s.
func span(d time.Duration) string {
	text := d.String()
	if short, ok := strings.CutSuffix(text, "m0s"); ok {
		text = short + "m"
	}
	if short, ok := strings.CutSuffix(text, "h0m"); ok {
		text = short + "h"
	}
	return text
}

// add writes a step down and gives its id.
func (s *Steps) add(typ string, inputs map[string]any, opts ...Option) string {
	return s.put(map[string]any{typ: inputs}, typ, opts...)
}

func (s *Steps) put(step map[string]any, typ string, opts ...Option) string {
	id := s.b.id(typ)
	step["id"] = id
	for _, o := range opts {
		o(s.b, step)
	}
	if own, ok := step["id"].(string); ok {
		id = own
	}
	s.b.places[id] = caller()
	s.list = append(s.list, step)
	return id
}

// steps writes a branch down.
func (b *builder) steps(body func(s *Steps)) []any {
	inner := &Steps{b: b, list: []any{}}
	if body != nil {
		body(inner)
	}
	return inner.list
}

// WriteLine writes a line.
func (s *Steps) WriteLine(text Value[string]) {
	s.add("writeLine", map[string]any{"text": text.written()})
}

// Correlate says which case the instance belongs to: events with that correlation find it.
func (s *Steps) Correlate(id Value[string]) {
	s.add("correlate", map[string]any{"correlationId": id.written()})
}

// Name gives the instance a name for people.
func (s *Steps) Name(name Value[string]) { s.add("setName", map[string]any{"value": name.written()}) }

// Fault ends the workflow as faulted.
func (s *Steps) Fault(message Value[string]) {
	s.add("fault", map[string]any{"message": message.written()})
}

// Fail ends the workflow as failed for good: nothing tries again by itself, and an operator's retry is refused unless
// it says `again`.
func (s *Steps) Fail(message Value[string]) {
	s.add("fault", map[string]any{"message": message.written(), "final": true})
}

// Finish ends the workflow.
func (s *Steps) Finish() { s.add("finish", nil) }

// Break leaves the nearest loop.
func (s *Steps) Break() { s.add("break", nil) }

// Delay waits.
func (s *Steps) Delay(d time.Duration, opts ...Option) {
	s.add("delay", map[string]any{"timeSpan": span(d)}, opts...)
}

// If runs then if a condition holds.
func (s *Steps) If(condition Value[bool], then func(s *Steps)) *Choice {
	step := map[string]any{"if": map[string]any{"condition": condition.written()}, "then": s.b.steps(then)}
	s.put(step, "if")
	return &Choice{s.b, step}
}

// Choice is an If that may get its other branch.
type Choice struct {
	b    *builder
	step map[string]any
}

// Else runs otherwise if the condition does not hold.
func (c *Choice) Else(otherwise func(s *Steps)) { c.step["else"] = c.b.steps(otherwise) }

// While runs body as long as a condition holds.
func (s *Steps) While(condition Value[bool], body func(s *Steps)) {
	s.put(map[string]any{"while": map[string]any{"condition": condition.written()}, "body": s.b.steps(body)}, "while")
}

// Parallel runs branches beside each other, and goes on when all have ended.
func (s *Steps) Parallel(branches ...func(s *Steps)) {
	list := []any{}
	for _, branch := range branches {
		list = append(list, s.b.steps(branch))
	}
	s.put(map[string]any{"parallel": list}, "parallel")
}

// Publish sends an event to all that wait for it. Its payload is a record.
func Publish[T any](s *Steps, event string, payload T, opts ...Option) {
	s.add("publishEvent", map[string]any{"eventName": event, "payload": plainOf(reflect.ValueOf(&payload).Elem())}, opts...)
}

// Each runs body for each item of a list, one after the other.
func Each[T any](s *Steps, list Value[[]T], body func(s *Steps, item Value[T])) {
	name := s.b.id("itemOfEach") // CurrentValue is that of the innermost loop
	s.b.declare(name, "Object")
	s.put(map[string]any{"forEach": map[string]any{"items": list.written()}, "outputs": map[string]any{"currentValue": name}, "body": s.b.steps(func(s *Steps) {
		body(s, coded[T]("variables."+name))
	})}, "forEach")
}

// Wait waits for an event, and gives where its payload, a record or a [Value], will stand:
// nothing, if [Timeout] ended the wait.
func Wait[T any](s *Steps, event string, opts ...Option) T {
	id := s.add("event", map[string]any{"eventName": event}, opts...)
	return standing[T](s.where(id, ""))
}

// Task waits for a worker outside to complete a task, and gives where its result will
// stand. The payload is a record.
func Task[T, P any](s *Steps, name string, payload P, opts ...Option) T {
	id := s.add("runTask", map[string]any{"taskName": name, "payload": plainOf(reflect.ValueOf(&payload).Elem())}, opts...)
	return standing[T](s.where(id, "result"))
}

// Variable is a value that steps set.
type Variable[T any] struct {
	Value[T]
	name string
}

// Var declares a variable of the workflow, with the value that it begins with.
func Var[T any](s *Steps, name string, initial Value[T]) Variable[T] {
	declared := map[string]any{"type": engine.AliasFor(reflect.TypeFor[T]())}
	if initial.plain != nil {
		declared["value"] = *initial.plain
	} else if initial.code != "" {
		panic("flow: the variable " + name + " begins with what is known only later; set it in a step")
	}
	if s.b.variables[name] != nil {
		panic("flow: the variable " + name + " is declared twice")
	}
	s.b.variables[name] = declared
	return Variable[T]{coded[T]("variables." + name), name}
}

// Set gives a variable another value.
func (v Variable[T]) Set(s *Steps, to Value[T]) {
	s.add("setVariable", map[string]any{"variable": v.name, "value": to.written()})
}

// HTTPRequest is a request to another server.
type HTTPRequest struct {
	URL           Value[string] `json:"url" required:"true"`
	Method        Value[string]
	Content       Value[any]
	Authorization Value[string]
	Retries       Value[int]
	Expect        Value[[]string] // such as 2xx: another answer fails the step
}

// HTTPResponse is its answer.
type HTTPResponse struct {
	StatusCode Value[int]
	Body       Value[any] `json:"parsedContent"`
}

// Send sends a request. An answer with any status is one, if Expect does not say more; [HTTPResponse.StatusCode] tells.
func (s *Steps) Send(r HTTPRequest, opts ...Option) HTTPResponse {
	id := s.add("sendHttpRequest", writtenOf(reflect.ValueOf(&r).Elem()), opts...)
	return HTTPResponse{coded[int](s.where(id, "statusCode")), coded[any](s.where(id, "parsedContent"))}
}
