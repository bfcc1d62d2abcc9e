package write

import (
	"strconv"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml/notation"
)

var conditionInput = workflow.InputDescriptor{Type: "Boolean"}

// statusCases is the list whose labels are HTTP status codes.
const statusCases = "expectedStatusCodes"

// caseList writes cases as a list of {label, when, then}.
func (w *writer) caseList(cases []workflow.Case, d *workflow.Descriptor, prefix string) *yaml.Node {
	n := list()
	for i, c := range cases {
		n.Content = append(n.Content, w.oneCase(c, d, notation.Branch(prefix, "case"+strconv.Itoa(i+1))))
	}
	if len(cases) == 0 {
		flow(n)
	}
	return n
}

func (w *writer) oneCase(c workflow.Case, d *workflow.Descriptor, at notation.Scope) *yaml.Node {
	if c.Label != "" && c.Condition.IsZero() && c.Activity == nil {
		return text(c.Label)
	}
	m := mapping()
	label := "label"
	if d.Cases == statusCases {
		label = "status"
	}
	putText(m, label, c.Label)
	if !c.Condition.IsZero() {
		put(m, "when", w.expression(c.Condition, conditionInput))
	}
	if c.Activity != nil {
		put(m, "then", w.activity(c.Activity, at))
	}
	if len(m.Content) == 0 || c.Activity == nil && isSmall(m) {
		flow(m)
	}
	return m
}

// casesBeside writes cases under a key of their own: as a mapping from labels
// where labels say it all.
func (w *writer) casesBeside(cases []workflow.Case, d *workflow.Descriptor, prefix string) *yaml.Node {
	seen := map[string]bool{}
	for _, c := range cases {
		if c.Label == "" || seen[c.Label] || !c.Condition.IsZero() || c.Activity == nil || !d.CaseBodies {
			return w.caseList(cases, d, prefix)
		}
		seen[c.Label] = true
	}
	m := mapping()
	for i, c := range cases {
		put(m, c.Label, w.activity(c.Activity, notation.Branch(prefix, "case"+strconv.Itoa(i+1))))
	}
	if len(cases) == 0 {
		flow(m)
	}
	return m
}

func (w *writer) machine(a *workflow.Activity, prefix string) *yaml.Node {
	m := mapping()
	putText(m, "initial", a.Initial)
	if a.States == nil {
		if len(m.Content) == 0 {
			return empty()
		}
		return m
	}
	seen := map[string]bool{}
	keyed := true
	for _, s := range a.States {
		keyed = keyed && s.Name != "" && !seen[s.Name]
		seen[s.Name] = true
	}
	states := mapping()
	if !keyed {
		states = list()
	}
	for _, s := range a.States {
		n := w.state(s, notation.Join(prefix, notation.CleanID(s.Name)))
		if keyed {
			if len(n.Content) == 0 {
				n = empty()
			}
			put(states, s.Name, n)
			continue
		}
		named := mapping()
		putText(named, "name", s.Name)
		named.Content = append(named.Content, n.Content...)
		if len(named.Content) == 0 {
			flow(named)
		}
		states.Content = append(states.Content, named)
	}
	if len(states.Content) == 0 {
		flow(states)
	}
	put(m, "states", states)
	return m
}

func (w *writer) state(s workflow.State, prefix string) *yaml.Node {
	m := mapping()
	if s.Entry != nil {
		put(m, "entry", w.activity(s.Entry, notation.Branch(prefix, "entry")))
	}
	if s.Exit != nil {
		put(m, "exit", w.activity(s.Exit, notation.Branch(prefix, "exit")))
	}
	if s.Final {
		put(m, "final", plain("true"))
	}
	if len(s.Transitions) > 0 {
		n := list()
		for i, t := range s.Transitions {
			n.Content = append(n.Content, w.transition(t, notation.Join(prefix, "transition"+strconv.Itoa(i+1))))
		}
		put(m, "transitions", n)
	}
	return m
}

func (w *writer) transition(t workflow.Transition, prefix string) *yaml.Node {
	m := mapping()
	putText(m, "name", t.Name)
	if t.Trigger != nil {
		put(m, "on", w.activity(t.Trigger, notation.Branch(prefix, "on")))
	}
	if !t.Condition.IsZero() {
		put(m, "when", w.expression(t.Condition, conditionInput))
	}
	if t.Action != nil {
		put(m, "then", w.activity(t.Action, notation.Branch(prefix, "then")))
	}
	put(m, "to", text(t.To))
	return m
}
