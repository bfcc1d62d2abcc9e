package suite

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflowtest/trial"
)

// expectation is an [Expect] with the lines of its fields.
type expectation struct {
	line  int
	lines map[string]int // by [Mismatch].Field, or the beginning of it up to a dot
	want  trial.Expect
}

// check gives the differences, each with the line that is nearest to it.
func (e *expectation) check(r *trial.Run) []Failure {
	var out []Failure
	for _, m := range r.Check(e.want) {
		out = append(out, Failure{Line: e.at(m.Field), Field: m.Field, Message: m.Detail})
	}
	slices.SortStableFunc(out, compareFailures)
	return out
}

func (e *expectation) at(field string) int {
	for field != "" {
		if line := e.lines[field]; line > 0 {
			return line
		}
		field = field[:max(0, strings.LastIndexByte(field, '.'))]
	}
	return e.line
}

func (r *fileReader) expectation(key, n *yaml.Node) *expectation {
	e := &expectation{line: key.Line, lines: map[string]int{}}
	w := &e.want
	known := reading{
		"status":        func(_, v *yaml.Node) { w.Status = r.status(v, states) },
		"correlationId": func(_, v *yaml.Node) { w.CorrelationID = r.text(v, "correlationId") },
		"name":          func(_, v *yaml.Node) { w.Name = r.text(v, "name") },
		"lines":         func(_, v *yaml.Node) { w.Lines = r.texts(v, "lines") },
		"output":        func(_, v *yaml.Node) { w.Output = r.object(v, "output"); e.mark("output", v) },
		"outcomes":      func(_, v *yaml.Node) { r.outcomes(v, e) },
		"incidents":     func(_, v *yaml.Node) { w.Incidents = r.texts(v, "incidents") },
		"undone":        func(_, v *yaml.Node) { w.Undone = r.texts(v, "undone") },
		"waits":         func(_, v *yaml.Node) { w.Waits = r.texts(v, "waits") },
		"calls":         func(_, v *yaml.Node) { r.calls(v, e) },
		"events":        func(_, v *yaml.Node) { r.events(v, e) },
		"children":      func(_, v *yaml.Node) { r.started(v, e) },
		"response":      func(_, v *yaml.Node) { r.response(v, e) },
	}
	for name, read := range known {
		known[name] = func(key, v *yaml.Node) {
			e.lines[name] = key.Line
			read(key, v)
		}
	}
	r.fields(n, "what is expected", known)
	return e
}

// mark notes the lines of the keys of a mapping, or the items of a list.
func (e *expectation) mark(field string, n *yaml.Node) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			name := field + "." + n.Content[i].Value
			e.lines[name] = n.Content[i].Line
			e.mark(name, n.Content[i+1])
		}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			name := fmt.Sprintf("%s.%d", field, i)
			e.lines[name] = item.Line
			e.mark(name, item)
		}
	}
}

func (r *fileReader) outcomes(n *yaml.Node, e *expectation) {
	e.want.Outcomes = map[string][]string{}
	e.mark("outcomes", n)
	r.pairs(n, "outcomes", func(key, value *yaml.Node) {
		e.want.Outcomes[key.Value] = r.texts(value, "outcomes of "+key.Value)
	})
}

// calls reads how often activities ran, or with which inputs.
func (r *fileReader) calls(n *yaml.Node, e *expectation) {
	e.want.Calls = map[string][]map[string]any{}
	e.mark("calls", n)
	r.pairs(n, "calls", func(key, value *yaml.Node) {
		var inputs []map[string]any
		if value.Kind == yaml.ScalarNode {
			const most = 100_000
			count := r.number(value, "the number of calls")
			if count < 0 || count > most {
				r.problem(value, "the number of calls is from 0 to %d", most)
				count = 0
			}
			for range count {
				inputs = append(inputs, nil)
			}
		} else {
			r.list(value, "calls of "+key.Value, func(_ int, item *yaml.Node) {
				inputs = append(inputs, r.object(item, "a call"))
			})
		}
		e.want.Calls[key.Value] = inputs
	})
}

func (r *fileReader) events(n *yaml.Node, e *expectation) {
	e.want.Events = []trial.Published{}
	e.mark("events", n)
	r.list(n, "events", func(_ int, item *yaml.Node) {
		var p trial.Published
		if item.Kind == yaml.ScalarNode {
			p.Name = r.text(item, "an event")
		} else {
			r.fields(item, "an event", reading{
				"name":          func(_, v *yaml.Node) { p.Name = r.text(v, "name") },
				"correlationId": func(_, v *yaml.Node) { p.CorrelationID = r.text(v, "correlationId") },
				"payload":       func(_, v *yaml.Node) { p.Payload = r.value(v) },
			})
		}
		e.want.Events = append(e.want.Events, p)
	})
}

func (r *fileReader) started(n *yaml.Node, e *expectation) {
	e.want.Children = []trial.Started{}
	e.mark("children", n)
	r.list(n, "children", func(_ int, item *yaml.Node) {
		var s trial.Started
		if item.Kind == yaml.ScalarNode {
			s.DefinitionID = r.text(item, "a child")
		} else {
			r.fields(item, "a child", reading{
				"definition":    func(_, v *yaml.Node) { s.DefinitionID = r.text(v, "definition") },
				"correlationId": func(_, v *yaml.Node) { s.CorrelationID = r.text(v, "correlationId") },
				"input":         func(_, v *yaml.Node) { s.Input = r.object(v, "input") },
			})
		}
		e.want.Children = append(e.want.Children, s)
	})
}

func (r *fileReader) response(n *yaml.Node, e *expectation) {
	resp := &trial.Response{}
	e.want.Response = resp
	e.mark("response", n)
	r.fields(n, "a response", reading{
		"status":      func(_, v *yaml.Node) { resp.Status = r.number(v, "status") },
		"contentType": func(_, v *yaml.Node) { resp.ContentType = r.text(v, "contentType") },
		"headers":     func(_, v *yaml.Node) { resp.Headers = r.textMap(v, "headers") },
		"body":        func(_, v *yaml.Node) { resp.Body = r.value(v) },
	})
}
