package engine

import (
	"cmp"

	"github.com/weft-run/weft/pkg/workflow"
)

// conditions compiles the conditions of cases and transitions.
func (c *compiler) conditions(n *Node) {
	d := workflow.InputDescriptor{Name: "condition", Type: "Boolean", Raw: true}
	for i, cs := range n.activity.Cases {
		if !cs.Condition.IsZero() {
			n.cases[i].cond = c.input(n, d, cs.Condition)
		}
		n.cases[i].cond.desc.Name = "condition of case " + cs.Label
	}
	for i, s := range n.activity.States {
		for j, t := range s.Transitions {
			n.states[i].Transitions[j].cond = c.input(n, d, t.Condition)
		}
	}
}

// connections checks that every connection of n joins two of its children.
func (c *compiler) connections(n *Node) {
	known := make([]string, 0, len(n.list))
	for _, k := range n.list {
		known = append(known, k.local)
	}
	if len(n.activity.Connections) > 0 && len(n.list) == 0 && n.impl != nil {
		c.problem("unknown-connection", n.activity.Place, "%s %s has connections and no activities", n.desc.ShortName(), n.local)
		return
	}
	has := make(map[string]bool, len(known))
	for _, k := range known {
		has[k] = true
	}
	for _, con := range n.activity.Connections {
		for _, end := range []string{con.Source, con.Target} {
			if !has[end] {
				c.problem("unknown-connection", cmp.Or(con.Place, n.activity.Place), "the connection %s → %s leads to %q, which is no activity of %s %s%s", con.Source, con.Target, end, n.desc.ShortName(), n.local, suggest(end, known))
			}
		}
	}
}
