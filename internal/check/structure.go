package check

import (
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// structure looks at how activities follow each other.
func (c *checker) structure(p place) {
	switch {
	case is(p.a, "Elsa.Break"):
		if !p.loop {
			c.report(p, workflow.Place{}, problem("break-outside-loop", "%s is in no loop: it would end the sequences and the flowchart around it, and with them the workflow; write finish or complete if that is meant", p.title()))
		}
	case is(p.a, "Elsa.Sequence"):
		c.sequence(p)
	case is(p.a, "Elsa.Flowchart"):
		c.flowchart(p)
	case is(p.a, "Elsa.StateMachine"):
		c.machine(p)
	case is(p.a, "Elsa.If"), is(p.a, "Elsa.While"):
		if p.a.Inputs["condition"].IsZero() {
			c.report(p, workflow.Place{}, warning("no-condition", "%s has no condition, which is false", p.title()))
		}
	case is(p.a, "Elsa.Switch"), is(p.a, "Elsa.FlowSwitch"):
		for _, cs := range p.a.Cases {
			if cs.Condition.IsZero() {
				c.report(p, cs.Place, warning("no-condition", "case %s of %s has no condition, which is false", cs.Label, p.title()))
			}
		}
	}
}

// sequence reports what stands behind an end.
func (c *checker) sequence(p place) {
	for i, kid := range p.a.Activities {
		if i+1 == len(p.a.Activities) || !ends(kid, 0) {
			continue
		}
		next := p.a.Activities[i+1]
		if next != nil && !next.CanStart && kid != nil {
			by := kid.ID
			if by == "" {
				by = kid.Type
			}
			c.report(place{a: next}, next.Place, warning("unreachable", "nothing runs here: %s goes nowhere else", by))
		}
		return
	}
}

// ends tells whether nothing goes on behind a.
func ends(a *workflow.Activity, depth int) bool {
	switch {
	case a == nil || depth > 200:
		return false
	case is(a, "Elsa.Finish"), is(a, "Elsa.Complete"), is(a, "Elsa.Break"), is(a, "Elsa.Fault"):
		return true
	case is(a, "Elsa.Sequence"):
		return slices.ContainsFunc(a.Activities, func(kid *workflow.Activity) bool { return ends(kid, depth+1) })
	case is(a, "Elsa.If"):
		return ends(a.Ports["then"], depth+1) && ends(a.Ports["else"], depth+1)
	}
	return false
}

// flowchart reports connections that are never taken, and activities that nothing leads
// to.
func (c *checker) flowchart(p place) {
	byID := map[string]*workflow.Activity{}
	for _, a := range p.a.Activities {
		if a != nil {
			byID[a.ID] = a
		}
	}
	for _, con := range p.a.Connections {
		if source := byID[con.Source]; source != nil && con.Source != "" {
			c.outcome(p, source, con)
		}
	}
	reached := reach(p.a, byID)
	for _, a := range p.a.Activities {
		if a != nil && a.ID != "" && !reached[a.ID] {
			c.report(place{a: a}, a.Place, warning("unreachable", "nothing in the flowchart leads to %s", a.ID))
		}
	}
}

func (c *checker) outcome(p place, source *workflow.Activity, con workflow.Connection) {
	port := con.SourcePort
	if port == "" {
		port = engine.DoneOutcome
	}
	known, open := c.outcomes(source, 0)
	known = slices.Compact(slices.Clone(known))
	if open || slices.Contains(known, port) {
		return
	}
	at := con.Place
	word := port
	if con.SourcePort == "" {
		word = con.Source
	}
	q := problem("unknown-outcome", "%s never goes on along %s; it has %s", strings.TrimSuffix(strings.TrimSuffix(con.Source, workflow.TimeoutSuffix), workflow.RetrySuffix), workflow.Shorten(port), strings.Join(known, ", "))
	q.Within = workflow.Within{Text: word}
	c.report(p, at, meant(q, port, known))
}

// outcomes lists the ways on from an activity; open if others are possible.
func (c *checker) outcomes(a *workflow.Activity, depth int) (known []string, open bool) {
	d := c.describe(a)
	switch {
	case d == nil || depth > 10:
		return nil, true
	case is(a, workflow.RetryType) && a.Ports["body"] != nil:
		known, open = c.outcomes(a.Ports["body"], depth+1)
		return append(slices.Clone(known), engine.DoneOutcome), open
	case is(a, "Elsa.Fork") && len(a.Activities) == 2 && a.Activities[0] != nil && a.ID == a.Activities[0].ID+workflow.TimeoutSuffix:
		known, open = c.outcomes(a.Activities[0], depth+1)
		return append(slices.Clone(known), engine.DoneOutcome), open
	case is(a, "Elsa.FlowSwitch"):
		for _, cs := range a.Cases {
			known, open = append(known, cs.Label), open || cs.Label == ""
		}
		return append(known, "Default"), open
	case is(a, "Elsa.FlowFork"):
		return literals(a.Inputs["branches"])
	case is(a, "Elsa.FlowSendHttpRequest"):
		known, open = []string{"200"}, false
		if e := a.Inputs["expectedStatusCodes"]; !e.IsZero() {
			known, open = literals(e)
		}
		return append(known, "Unmatched status code", "Failed to connect", "Timeout", engine.DoneOutcome), open
	case is(a, "Elsa.ExecuteWorkflow"), is(a, "Elsa.DispatchWorkflow"):
		return []string{engine.DoneOutcome, string(workflow.Finished), string(workflow.Faulted), string(workflow.Cancelled)}, false
	case d.AnyOutcome:
		return nil, true
	case len(d.Outcomes) == 0:
		return []string{engine.DoneOutcome}, false
	}
	return d.Outcomes, false
}

// literals gives a list that is written out; open if it is not known.
func literals(e workflow.Expression) (list []string, open bool) {
	if e.Kind != workflow.Literal && e.Kind != workflow.Object {
		return nil, !e.IsZero()
	}
	v, err := engine.Convert(e.Value, "String[]")
	items, ok := v.([]any)
	if err != nil || !ok {
		return nil, true
	}
	for _, it := range items {
		list = append(list, engine.Text(it))
	}
	return list, false
}

// reach tells which activities of a flowchart some way leads to, from where it starts.
func reach(chart *workflow.Activity, byID map[string]*workflow.Activity) map[string]bool {
	reached := map[string]bool{}
	var todo []string
	visit := func(id string) {
		if byID[id] != nil && !reached[id] {
			reached[id] = true
			todo = append(todo, id)
		}
	}
	visit(start(chart))
	for _, a := range chart.Activities {
		if a != nil && a.CanStart {
			visit(a.ID)
		}
	}
	for len(todo) > 0 {
		id := todo[0]
		todo = todo[1:]
		for _, con := range chart.Connections {
			if con.Source == id {
				visit(con.Target)
			}
		}
	}
	return reached
}

// start is where a flowchart begins: what it says, a Start, a trigger, what no connection
// leads to, the first.
func start(chart *workflow.Activity) string {
	entered := map[string]bool{}
	for _, con := range chart.Connections {
		entered[con.Target] = true
	}
	rules := []func(a *workflow.Activity) bool{
		func(a *workflow.Activity) bool { return a.ID == chart.Start && chart.Start != "" },
		func(a *workflow.Activity) bool { return is(a, "Elsa.Start") },
		func(a *workflow.Activity) bool { return a.CanStart },
		func(a *workflow.Activity) bool { return !entered[a.ID] },
		func(*workflow.Activity) bool { return true },
	}
	for _, rule := range rules {
		for _, a := range chart.Activities {
			if a != nil && rule(a) {
				return a.ID
			}
		}
	}
	return ""
}

// machine reports states that no transition leads to, and transitions behind one that is
// always taken.
func (c *checker) machine(p place) {
	if len(p.a.States) == 0 {
		return
	}
	byName := map[string]*workflow.State{}
	for i := range p.a.States {
		byName[p.a.States[i].Name] = &p.a.States[i]
	}
	initial := p.a.Initial
	if initial == "" {
		initial = p.a.States[0].Name
	}
	reached, todo := map[string]bool{initial: true}, []string{initial}
	for len(todo) > 0 {
		s := byName[todo[0]]
		todo = todo[1:]
		if s == nil {
			return // unknown names are the compiler's
		}
		for _, t := range s.Transitions {
			if !reached[t.To] {
				reached[t.To] = true
				todo = append(todo, t.To)
			}
		}
		if s.Final && len(s.Transitions) > 0 {
			c.report(p, s.Place, warning("unreachable", "state %s is final, so nothing leaves it", s.Name))
		}
	}
	for _, s := range p.a.States {
		if !reached[s.Name] {
			c.report(p, s.Place, warning("unreachable", "no transition leads to the state %s", s.Name))
		}
	}
}
