package read

import (
	"strconv"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml/notation"
	"github.com/weft-run/weft/pkg/workflow/yaml/tree"
)

var caseKeys = []string{"label", "status", "when", "then", "do"}

// cases reads the cases of a Switch and its like: a list of {when, then}, or a
// mapping from labels to what they run.
func (b *activityBuilder) cases(n *yaml.Node) {
	if b.a.Cases != nil {
		b.r.Problem("duplicate-key", n, "the cases are given twice")
		return
	}
	b.a.Cases = []workflow.Case{}
	switch {
	case tree.IsNull(n):
	case n.Kind == yaml.SequenceNode:
		for _, c := range n.Content {
			b.oneCase(c)
		}
	case n.Kind == yaml.MappingNode:
		for _, p := range b.r.Pairs(n) {
			c := workflow.Case{Label: p.Name, Place: b.r.Place(p.Key)}
			if b.d.CaseBodies {
				c.Activity = b.r.activity(p.Value, notation.Branch(b.prefix, b.caseName()))
			} else {
				c.Condition = b.r.expression(p.Value, workflow.InputDescriptor{Type: "Boolean"})
			}
			b.a.Cases = append(b.a.Cases, c)
		}
	default:
		b.r.Shape(n, b.d.Cases, "a list of cases")
	}
}

func (b *activityBuilder) caseName() string { return "case" + strconv.Itoa(len(b.a.Cases)+1) }

func (b *activityBuilder) oneCase(n *yaml.Node) {
	c := workflow.Case{Place: b.r.Place(n)}
	switch n.Kind {
	case yaml.ScalarNode: // only a label, such as a status code
		c.Label = n.Value
	case yaml.MappingNode:
		b.r.order(n, caseKeys)
		for _, p := range b.r.Pairs(n) {
			switch p.Name {
			case "label", "status":
				c.Label = b.r.Text(p.Value, p.Name)
			case "when":
				c.Condition = b.r.expression(p.Value, workflow.InputDescriptor{Type: "Boolean"})
			case "then", "do":
				if !b.d.CaseBodies {
					b.r.Problem("wrong-shape", p.Key, "a case of %s has no %s; connect its label to an activity", b.d.ShortName(), p.Name)
					continue
				}
				c.Activity = b.r.activity(p.Value, notation.Branch(b.prefix, b.caseName()))
			default:
				b.r.Unknown(p, "a case", caseKeys)
			}
		}
	default:
		b.r.Shape(n, "a case", "a mapping with when and then")
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
	case tree.IsNull(n):
	case n.Kind == yaml.MappingNode:
		for _, p := range b.r.Pairs(n) {
			b.a.States = append(b.a.States, b.state(p.Value, workflow.State{Name: p.Name, Place: b.r.Place(p.Key)}))
		}
	case n.Kind == yaml.SequenceNode:
		for _, c := range n.Content {
			b.a.States = append(b.a.States, b.state(c, workflow.State{Place: b.r.Place(c)}))
		}
	default:
		b.r.Shape(n, "states", "a mapping from names to states")
	}
}

func (b *activityBuilder) state(n *yaml.Node, s workflow.State) workflow.State {
	if tree.IsNull(n) {
		return s
	}
	if n.Kind != yaml.MappingNode {
		b.r.Shape(n, "a state", "a mapping with entry, exit, transitions or final")
		return s
	}
	b.r.order(n, stateKeys)
	ps := b.r.Pairs(n)
	for _, p := range ps {
		if p.Name == "name" {
			s.Name = b.r.Text(p.Value, p.Name)
		}
	}
	prefix := notation.Join(b.prefix, notation.CleanID(s.Name))
	for _, p := range ps {
		switch p.Name {
		case "name":
		case "entry":
			s.Entry = b.r.activity(p.Value, notation.Branch(prefix, p.Name))
		case "exit":
			s.Exit = b.r.activity(p.Value, notation.Branch(prefix, p.Name))
		case "final":
			s.Final = b.r.Truth(p.Value, p.Name)
		case "transitions":
			if tree.IsNull(p.Value) {
				continue
			}
			if p.Value.Kind != yaml.SequenceNode {
				b.r.Shape(p.Value, p.Name, "a list of transitions")
				continue
			}
			for i, t := range p.Value.Content {
				s.Transitions = append(s.Transitions, b.transition(t, notation.Join(prefix, "transition"+strconv.Itoa(i+1))))
			}
		default:
			b.r.Unknown(p, "a state", stateKeys)
		}
	}
	return s
}

func (b *activityBuilder) transition(n *yaml.Node, prefix string) workflow.Transition {
	t := workflow.Transition{Place: b.r.Place(n)}
	if n.Kind != yaml.MappingNode {
		b.r.Shape(n, "a transition", "a mapping with on and to")
		return t
	}
	b.r.order(n, transitionKeys)
	for _, p := range b.r.Pairs(n) {
		switch p.Name {
		case "name":
			t.Name = b.r.Text(p.Value, p.Name)
		case "to":
			t.To = b.r.Text(p.Value, p.Name)
		case "on":
			t.Trigger = b.r.activity(p.Value, notation.Branch(prefix, p.Name))
		case "when":
			t.Condition = b.r.expression(p.Value, workflow.InputDescriptor{Type: "Boolean"})
		case "then":
			t.Action = b.r.activity(p.Value, notation.Branch(prefix, p.Name))
		default:
			b.r.Unknown(p, "a transition", transitionKeys)
		}
	}
	if t.To == "" {
		b.r.Problem("wrong-shape", n, "a transition needs to, the state that it leads to")
	}
	return t
}
