package yaml

import (
	"strconv"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
)

var caseKeys = []string{"label", "status", "when", "then", "do"}

// cases reads the cases of a Switch and its like: a list of {when, then}, or a
// mapping from labels to what they run.
func (b *activityBuilder) cases(n *yaml.Node) {
	if b.a.Cases != nil {
		b.r.problem("duplicate-key", n, "the cases are given twice")
		return
	}
	b.a.Cases = []workflow.Case{}
	switch {
	case isNull(n):
	case n.Kind == yaml.SequenceNode:
		for _, c := range n.Content {
			b.oneCase(c)
		}
	case n.Kind == yaml.MappingNode:
		for _, p := range b.r.pairs(n) {
			c := workflow.Case{Label: p.name, Place: b.r.place(p.key)}
			if b.d.CaseBodies {
				c.Activity = b.r.activity(p.val, branch(b.prefix, b.caseName()))
			} else {
				c.Condition = b.r.expression(p.val, workflow.InputDescriptor{Type: "Boolean"})
			}
			b.a.Cases = append(b.a.Cases, c)
		}
	default:
		b.r.shape(n, b.d.Cases, "a list of cases")
	}
}

func (b *activityBuilder) caseName() string { return "case" + strconv.Itoa(len(b.a.Cases)+1) }

func (b *activityBuilder) oneCase(n *yaml.Node) {
	c := workflow.Case{Place: b.r.place(n)}
	switch n.Kind {
	case yaml.ScalarNode: // only a label, such as a status code
		c.Label = n.Value
	case yaml.MappingNode:
		b.r.order(n, caseKeys)
		for _, p := range b.r.pairs(n) {
			switch p.name {
			case "label", "status":
				c.Label = b.r.text(p.val, p.name)
			case "when":
				c.Condition = b.r.expression(p.val, workflow.InputDescriptor{Type: "Boolean"})
			case "then", "do":
				if !b.d.CaseBodies {
					b.r.problem("wrong-shape", p.key, "a case of %s has no %s; connect its label to an activity", b.d.ShortName(), p.name)
					continue
				}
				c.Activity = b.r.activity(p.val, branch(b.prefix, b.caseName()))
			default:
				b.r.unknown(p, "a case", caseKeys)
			}
		}
	default:
		b.r.shape(n, "a case", "a mapping with when and then")
		return
	}
	b.a.Cases = append(b.a.Cases, c)
}

var (
	stateKeys      = []string{"name", "entry", "exit", "final", "transitions"}
	transitionKeys = []string{"name", "on", "when", "then", "to"}
)

// states reads the states of a StateMachine: a mapping from names, or a list of
// states with names.
func (b *activityBuilder) states(n *yaml.Node) {
	b.a.States = []workflow.State{}
	switch {
	case isNull(n):
	case n.Kind == yaml.MappingNode:
		for _, p := range b.r.pairs(n) {
			b.a.States = append(b.a.States, b.state(p.val, workflow.State{Name: p.name, Place: b.r.place(p.key)}))
		}
	case n.Kind == yaml.SequenceNode:
		for _, c := range n.Content {
			b.a.States = append(b.a.States, b.state(c, workflow.State{Place: b.r.place(c)}))
		}
	default:
		b.r.shape(n, "states", "a mapping from names to states")
	}
}

func (b *activityBuilder) state(n *yaml.Node, s workflow.State) workflow.State {
	if isNull(n) {
		return s
	}
	if n.Kind != yaml.MappingNode {
		b.r.shape(n, "a state", "a mapping with entry, exit, transitions or final")
		return s
	}
	b.r.order(n, stateKeys)
	ps := b.r.pairs(n)
	for _, p := range ps {
		if p.name == "name" {
			s.Name = b.r.text(p.val, p.name)
		}
	}
	prefix := join(b.prefix, cleanID(s.Name))
	for _, p := range ps {
		switch p.name {
		case "name":
		case "entry":
			s.Entry = b.r.activity(p.val, branch(prefix, p.name))
		case "exit":
			s.Exit = b.r.activity(p.val, branch(prefix, p.name))
		case "final":
			s.Final = b.r.truth(p.val, p.name)
		case "transitions":
			if isNull(p.val) {
				continue
			}
			if p.val.Kind != yaml.SequenceNode {
				b.r.shape(p.val, p.name, "a list of transitions")
				continue
			}
			for i, t := range p.val.Content {
				s.Transitions = append(s.Transitions, b.transition(t, join(prefix, "transition"+strconv.Itoa(i+1))))
			}
		default:
			b.r.unknown(p, "a state", stateKeys)
		}
	}
	return s
}

func (b *activityBuilder) transition(n *yaml.Node, prefix string) workflow.Transition {
	t := workflow.Transition{Place: b.r.place(n)}
	if n.Kind != yaml.MappingNode {
		b.r.shape(n, "a transition", "a mapping with on and to")
		return t
	}
	b.r.order(n, transitionKeys)
	for _, p := range b.r.pairs(n) {
		switch p.name {
		case "name":
			t.Name = b.r.text(p.val, p.name)
		case "to":
			t.To = b.r.text(p.val, p.name)
		case "on":
			t.Trigger = b.r.activity(p.val, branch(prefix, p.name))
		case "when":
			t.Condition = b.r.expression(p.val, workflow.InputDescriptor{Type: "Boolean"})
		case "then":
			t.Action = b.r.activity(p.val, branch(prefix, p.name))
		default:
			b.r.unknown(p, "a transition", transitionKeys)
		}
	}
	if t.To == "" {
		b.r.problem("wrong-shape", n, "a transition needs to, the state that it leads to")
	}
	return t
}
