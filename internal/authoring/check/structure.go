package check

import (
	"slices"
	"strconv"
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
	case is(p.a, "Elsa.Complete"):
		c.completes(p)
	case is(p.a, "Elsa.Switch"), is(p.a, "Elsa.FlowSwitch"):
		c.shadowed(p)
		for _, cs := range p.a.Cases {
			if cs.Condition.IsZero() {
				c.report(p, cs.Place, warning("no-condition", "case %s of %s has no condition, which is false", cs.Label, p.title()))
			}
		}
	}
}

// shadowed reports cases that are never taken, since one before them always is.
func (c *checker) shadowed(p place) {
	if mode := p.a.Inputs["mode"]; !mode.IsZero() && !strings.EqualFold(engine.Text(mode.Value), "MatchFirst") {
		return
	}
	always, seen := "", map[string]bool{}
	for i, cs := range p.a.Cases {
		name := cs.Label
		if name == "" {
			name = strconv.Itoa(i + 1)
		}
		text, code := cs.Condition.Value.(string)
		code = code && cs.Condition.Kind == workflow.Expr
		switch {
		case always != "":
			c.report(p, cs.Place, warning("unreachable", "case %s of %s is never taken: case %s before it always is", name, p.title(), always))
		case code && seen[text]:
			c.report(p, cs.Place, warning("unreachable", "case %s of %s is never taken: a case before it has the same condition", name, p.title()))
		}
		if yes, err := engine.Convert(cs.Condition.Value, "Boolean"); cs.Condition.Kind == workflow.Literal && err == nil && yes == true {
			always = name
		}
		seen[text] = seen[text] || code
	}
}

// completes looks at outcomes that do not leave the definition, since it does not declare them.
func (c *checker) completes(p place) {
	if p.composite || len(c.def.Outcomes) == 0 {
		return
	}
	e := p.a.Inputs["outcomes"]
	names, open := literals(e)
	if open {
		return
	}
	for _, name := range names {
		if name != "" && !c.full() && !slices.Contains(c.def.Outcomes, name) {
			q := warning("unknown-outcome", "the definition declares no outcome %s, so that none leaves it; it has %s", workflow.Shorten(name), some(c.def.Outcomes))
			q.Within = workflow.Within{Text: name}
			c.report(p, e.Place, meant(q, name, c.def.Outcomes))
		}
	}
}

// completions lists the outcomes that a composite may be completed with; open if others are
// possible.
func completions(a *workflow.Activity) (known []string, open bool) {
	workflow.Walk(a, func(kid, parent *workflow.Activity, _ int) bool {
		if is(kid, "Elsa.Complete") {
			names, more := literals(kid.Inputs["outcomes"])
			known, open = append(known, names...), open || more
		}
		return parent == nil || !is(kid, "Elsa.Composite") && kid.Ref == nil
	})
	return known, open
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
	case is(a, "Elsa.Finish"), is(a, "Elsa.Complete"), is(a, "Elsa.Break"), is(a, "Elsa.Fault"), is(a, "Elsa.Fail"):
		return true
	case is(a, "Elsa.End"):
		return depth == 0 // it ends the sequence that it stands in, and none around that
	case is(a, "Elsa.Sequence"):
		return slices.ContainsFunc(a.Activities, func(kid *workflow.Activity) bool { return ends(kid, depth+1) })
	case is(a, "Elsa.If"):
		return ends(a.Ports["then"], depth+1) && ends(a.Ports["else"], depth+1)
	}
	return false
}

// instant tells whether an activity surely neither waits nor chooses, and goes on at once.
func instant(a *workflow.Activity) bool {
	for _, typ := range []string{"WriteLine", "SetVariable", "SetOutput", "SetName", "SetLabel", "Correlate", "PublishEvent", "WriteHttpResponse"} {
		if is(a, "Elsa."+typ) {
			return true
		}
	}
	return false
}

// machine reports states that no transition leads to or leaves, and transitions behind one
// that is always taken.
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
	}
	for i := range p.a.States {
		s := &p.a.States[i]
		switch {
		case !reached[s.Name]:
			c.report(p, s.Place, warning("unreachable", "no transition leads to the state %s", s.Name))
		case s.Final && len(s.Transitions) > 0:
			c.report(p, s.Place, warning("unreachable", "state %s is final, so nothing leaves it", s.Name))
		case !s.Final && len(s.Transitions) == 0 && !c.elsa(): // Elsa writes final states so
			c.report(p, s.Place, warning("no-way-out", "nothing leaves the state %s, so the machine ends there; write final: true if that is meant", s.Name))
		case !s.Final:
			c.transitions(p, s)
		}
	}
	c.statesRound(p, byName)
}

// always is the transition that is taken as soon as a state was entered; -1 if none is. Those
// without a trigger are looked at first.
func always(s *workflow.State) int {
	return slices.IndexFunc(s.Transitions, func(t workflow.Transition) bool { return t.Trigger == nil && t.Condition.IsZero() })
}

func (c *checker) transitions(p place, s *workflow.State) {
	first := always(s)
	waits := map[string]bool{}
	for i, t := range s.Transitions {
		if first >= 0 && i != first && (t.Trigger != nil || i > first) {
			c.report(p, t.Place, warning("unreachable", "the transition from %s to %s is never taken: the one to %s, which waits for nothing and has no condition, always is", s.Name, t.To, s.Transitions[first].To))
			continue
		}
		if t.Trigger == nil {
			continue
		}
		if instant(t.Trigger) || is(t.Trigger, "Elsa.RunJavaScript") || is(t.Trigger, "Elsa.RunCSharp") {
			c.report(place{a: t.Trigger}, t.Trigger.Place, warning("waits-for-nothing", "on: says what the transition from %s to %s waits for, and %s waits for nothing; what it does stands in then:", s.Name, t.To, shortName(t.Trigger)))
		}
		if e := t.Trigger.Inputs["eventName"]; is(t.Trigger, "Elsa.Event") && e.Kind == workflow.Literal && t.Condition.IsZero() {
			name := engine.Text(e.Value)
			if waits[name] {
				c.report(p, t.Place, warning("unreachable", "the transition from %s to %s is never taken: another one before it takes the event %s", s.Name, t.To, workflow.Shorten(name)))
			}
			waits[name] = true
		}
	}
}

func shortName(a *workflow.Activity) string {
	return (&workflow.Descriptor{Type: a.Type}).ShortName()
}

// statesRound reports states that follow each other for ever, without a wait.
func (c *checker) statesRound(p place, byName map[string]*workflow.State) {
	at := func(a *workflow.Activity) bool { return a == nil || instant(a) }
	next := func(s *workflow.State) string {
		i := always(s)
		if s.Final || i < 0 || slices.ContainsFunc(s.Transitions[:i], func(t workflow.Transition) bool { return t.Trigger == nil }) {
			return ""
		}
		if t := s.Transitions[i]; at(s.Entry) && at(s.Exit) && at(t.Action) {
			return t.To
		}
		return ""
	}
	gone := map[string]bool{}
	for i := range p.a.States {
		var path []string
		seen := map[string]bool{} // those of path
		name := p.a.States[i].Name
		for byName[name] != nil && !gone[name] && !seen[name] {
			path, seen[name] = append(path, name), true
			if name = next(byName[name]); name == "" {
				break
			}
		}
		if at := slices.Index(path, name); name != "" && at >= 0 {
			c.report(p, byName[name].Place, warning("endless-loop", "the states %s follow each other for ever: none of them waits", strings.Join(append(path[at:], name), " → ")))
		}
		for _, n := range path {
			gone[n] = true
		}
	}
}
