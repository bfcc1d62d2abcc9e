package find

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
)

// param is a word as a parameter of a URL.
type param struct {
	name, word string
	take       func(*Filter, string) error // nil: the word's own
	code       string                      // of a bad value; "": bad-parameter
}

func params() []param {
	after := func(span func(*Filter) *Span) func(*Filter, string) error {
		return func(f *Filter, value string) error { return takeMoment(&span(f).After, value) }
	}
	before := func(span func(*Filter) *Span) func(*Filter, string) error {
		return func(f *Filter, value string) error { return takeMoment(&span(f).Before, value) }
	}
	created, updated, finished := func(f *Filter) *Span { return &f.Created }, func(f *Filter) *Span { return &f.Updated }, func(f *Filter) *Span { return &f.Finished }
	return []param{
		{name: "status", take: takeStatus}, {name: "subStatus", take: takeSubStatus},
		{name: "definitionId", word: "def", code: "bad-id"}, {name: "version", word: "version", code: "bad-version"},
		{name: "name", word: "name", code: "bad-name"}, {name: "correlationId", word: "corr", code: "bad-name"}, {name: "parent", word: "parent", code: "bad-id"},
		{name: "createdAfter", take: after(created)}, {name: "createdBefore", take: before(created)},
		{name: "updatedAfter", take: after(updated)}, {name: "updatedBefore", take: before(updated)},
		{name: "finishedAfter", take: after(finished)}, {name: "finishedBefore", take: before(finished)},
		{name: "waitsFor", word: "waits"}, {name: "incident", word: "incident"}, {name: "hasIncidents", take: takeHasIncidents},
		{name: "sort", word: sortName},
	}
}

func takeStatus(f *Filter, value string) error {
	if s := workflow.Status(value); s != workflow.StatusRunning && s != workflow.StatusFinished {
		return oneOf("status", value, []string{string(workflow.StatusRunning), string(workflow.StatusFinished)})
	}
	return set(&f.Status, workflow.Status(value))
}

func takeSubStatus(f *Filter, value string) error {
	if s := workflow.SubStatus(value); !s.Known() {
		return fmt.Errorf("%q is no sub-status", value)
	}
	return set(&f.SubStatus, workflow.SubStatus(value))
}

func takeMoment(into *Moment, value string) error {
	m, err := parseMoment(value)
	if err != nil {
		return err
	}
	return set(into, m)
}

func takeHasIncidents(f *Filter, value string) error {
	switch value {
	case "true":
		f.HasIncidents = true
	case "false":
		f.Not = append(f.Not, Filter{HasIncidents: true})
	default:
		return errors.New("hasIncidents must be true or false")
	}
	return nil
}

// FromParams gives the filter that the parameters of a URL ask for; those that are no words
// of a filter are left to others, and an empty one asks for nothing. In a parameter of a time a duration is
// how long ago the time is. The error is of [workflow.CodeInvalid], and names each parameter.
func FromParams(values url.Values) (Filter, error) {
	var f Filter
	var problems workflow.Problems
	fail := func(name, code string, err error) {
		problems = append(problems, workflow.Problem{Code: code, Detail: err.Error(), Place: workflow.Place{Pointer: "/" + name}})
	}
	for _, p := range params() {
		value := values.Get(p.name)
		if value == "" {
			continue
		}
		take := p.take
		if take == nil {
			w, _ := wordNamed(p.word)
			take = func(f *Filter, value string) error { return w.take(f, term{op: ':', value: value}) }
		}
		if err := take(&f, value); err != nil {
			fail(p.name, cmp.Or(p.code, "bad-parameter"), err)
		}
	}
	w := labelWord()
	for _, name := range slices.Sorted(labelParams(values)) {
		label := strings.TrimPrefix(name, labelPrefix)
		if err := w.take(&f, term{label: label, op: ':', value: values.Get(name)}); err != nil {
			fail(workflow.CutBytes(name, 100), "bad-label", err)
		}
	}
	if f.Version > 0 && f.DefinitionID == "" {
		problems = append(problems, workflow.Problem{Code: "missing-parameter", Detail: "version goes with definitionId: versions are numbered by definition", Place: workflow.Place{Pointer: "/version"}})
	}
	if problems != nil {
		return Filter{}, &workflow.Error{Code: workflow.CodeInvalid, Detail: problems.Error(), Problems: problems}
	}
	return f, nil
}

func labelParams(values url.Values) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for name := range values {
			if strings.HasPrefix(name, labelPrefix) && !yield(name) {
				return
			}
		}
	}
}
