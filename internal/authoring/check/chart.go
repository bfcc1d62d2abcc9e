package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// chart looks over one flowchart. Each may have tens of thousands of connections, so what is
// asked of each of them is found once.
type chart struct {
	checker *checker
	place
	byID  map[string]*workflow.Activity
	from  map[string][]workflow.Connection // by their source
	exits map[*workflow.Activity]*exits    // that were asked for
}

// exits are the ways on from an activity.
type exits struct {
	list  []string
	known map[string]bool
	open  bool // others are possible
}

// flowchart reports connections that are never taken, and activities that nothing leads to.
func (c *checker) flowchart(p place) {
	ch := &chart{checker: c, place: p, byID: map[string]*workflow.Activity{}, from: map[string][]workflow.Connection{}, exits: map[*workflow.Activity]*exits{}}
	for _, a := range p.a.Activities {
		if a != nil {
			ch.byID[a.ID] = a
		}
	}
	for _, con := range p.a.Connections {
		ch.from[con.Source] = append(ch.from[con.Source], con)
	}
	ch.connections()
	for _, a := range p.a.Activities {
		if a != nil && is(a, "Elsa.FlowFork") {
			ch.branches(a)
		}
	}
	ch.rounds()
	ch.joins()
	reached := ch.reach("")
	for _, a := range p.a.Activities {
		if a != nil && a.ID != "" && !reached[a.ID] {
			c.report(place{a: a}, a.Place, warning("unreachable", "nothing in the flowchart leads to %s", a.ID))
		}
	}
}

// connections reports those that are never taken, and those that are there twice.
func (ch *chart) connections() {
	type way struct{ source, port, target string }
	ways := map[way]bool{}
	last := map[string]bool{} // sources that nothing goes on behind
	for id, a := range ch.byID {
		last[id] = ends(a, 0) || a != nil && is(a, "Elsa.End")
	}
	for _, con := range ch.a.Connections {
		source := ch.byID[con.Source]
		if source == nil || con.Source == "" {
			continue
		}
		ch.outcome(source, con)
		w := way{con.Source, con.SourcePort, con.Target}
		if ways[w] {
			ch.checker.report(ch.place, con.Place, warning("connected-twice", "this connection is here twice: %s → %s", con.Source, con.Target))
		}
		ways[w] = true
		if last[con.Source] {
			ch.checker.report(ch.place, con.Place, warning("unreachable", "nothing goes on behind %s, so this connection is never taken", con.Source))
		}
	}
}

// outcome reports a connection along a way that its source does not have.
func (ch *chart) outcome(source *workflow.Activity, con workflow.Connection) {
	port := con.SourcePort
	if port == "" {
		port = engine.DoneOutcome
	}
	w := ch.exitsOf(source)
	if w.open || w.known[port] || ch.checker.full() {
		return
	}
	word := port
	if con.SourcePort == "" {
		word = con.Source
	}
	q := problem("unknown-outcome", "%s never goes on along %s; it has %s", strings.TrimSuffix(strings.TrimSuffix(con.Source, workflow.TimeoutSuffix), workflow.RetrySuffix), workflow.Shorten(port), some(w.list))
	q.Within = workflow.Within{Text: word}
	ch.checker.report(ch.place, con.Place, meant(q, port, w.list))
}

func (ch *chart) exitsOf(a *workflow.Activity) *exits {
	w := ch.exits[a]
	if w == nil {
		list, open := ch.checker.outcomes(a, 0)
		w = &exits{list: slices.Compact(slices.Clone(list)), known: map[string]bool{}, open: open}
		for _, name := range list {
			w.known[name] = true
		}
		ch.exits[a] = w
	}
	return w
}

// branches reports branches of a fork that lead nowhere.
func (ch *chart) branches(fork *workflow.Activity) {
	e := fork.Inputs["branches"]
	names, open := literals(e)
	if open {
		return
	}
	leads := map[string]bool{}
	for _, con := range ch.from[fork.ID] {
		leads[con.SourcePort] = true
	}
	for _, name := range names {
		if leads[name] || ch.checker.full() {
			continue
		}
		q := warning("unreachable", "the branch %s of %s leads nowhere", workflow.Shorten(name), fork.ID)
		q.Within = workflow.Within{Text: name}
		ch.checker.report(place{a: fork}, e.Place, q)
	}
}

// rounds reports activities of a flowchart that lead to each other for ever: each has one way on, and none waits.
func (ch *chart) rounds() {
	const going, gone = 1, 2
	state := map[string]int{}
	for _, a := range ch.a.Activities {
		var path []string
		at := ""
		if a != nil {
			at = a.ID
		}
		for at != "" && ch.byID[at] != nil && state[at] == 0 && len(ch.from[at]) == 1 && instant(ch.byID[at]) {
			state[at] = going
			path = append(path, at)
			at = ch.from[at][0].Target
		}
		if state[at] == going && slices.Contains(path, at) {
			round := path[slices.Index(path, at):]
			ch.checker.report(place{a: ch.byID[at]}, ch.byID[at].Place, warning("endless-loop", "%s lead to each other for ever: none of them waits, or has another way on", strings.Join(append(round, at), " → ")))
		}
		for _, id := range path {
			state[id] = gone
		}
	}
}

// joins reports those that wait for every branch, of which a decision takes one only: nothing goes on behind them.
func (ch *chart) joins() {
	const most = 100 // decisions that are looked at
	var decisions []*workflow.Activity
	into := map[string][]workflow.Connection{} // joins that wait for all
	for _, a := range ch.a.Activities {
		switch {
		case a == nil:
		case is(a, "Elsa.FlowDecision"):
			decisions = append(decisions, a)
		case is(a, "Elsa.FlowJoin") && a.Inputs["mode"].Value == "WaitAll" && a.Inputs["mode"].Kind == workflow.Literal:
			into[a.ID] = nil
		}
	}
	if len(into) == 0 {
		return
	}
	for _, con := range ch.a.Connections {
		if _, waits := into[con.Target]; waits {
			into[con.Target] = append(into[con.Target], con)
		}
	}
	for _, d := range decisions[:min(most, len(decisions))] {
		side := ch.sides(d)
		for _, j := range ch.a.Activities {
			if j == nil {
				continue
			}
			first := ""
			for _, con := range into[j.ID] {
				s := side(con)
				if first = cmp.Or(first, s); s != "" && s != first {
					ch.checker.report(place{a: j}, j.Place, warning("unreachable", "%s waits for every branch, and %s takes only one of %s and %s: it never goes on; WaitAllActive waits for those that were taken", j.ID, d.ID, first, s))
					delete(into, j.ID)
					break
				}
			}
		}
	}
}

// sides gives the outcome of a decision behind which alone a connection is taken; "" for none.
func (ch *chart) sides(d *workflow.Activity) func(workflow.Connection) string {
	besides := ch.reach(d.ID) // without this decision
	sides := map[string]map[string]bool{}
	for _, con := range ch.from[d.ID] {
		if sides[con.SourcePort] == nil {
			sides[con.SourcePort] = map[string]bool{}
		}
		ch.walk(sides[con.SourcePort], d.ID, con.Target)
	}
	return func(con workflow.Connection) (only string) {
		if con.Source == d.ID {
			return con.SourcePort
		}
		for port, reached := range sides {
			switch {
			case !reached[con.Source]:
			case only != "" || besides[con.Source]:
				return ""
			default:
				only = port
			}
		}
		return only
	}
}

// reach tells which activities some way leads to, from where the flowchart starts, and not through one; "" leaves none out.
func (ch *chart) reach(not string) map[string]bool {
	from := []string{start(ch.a)}
	for _, a := range ch.a.Activities {
		if a != nil && a.CanStart {
			from = append(from, a.ID)
		}
	}
	reached := map[string]bool{}
	ch.walk(reached, not, from...)
	return reached
}

// walk adds to reached what some way leads to from activities, and not through one.
func (ch *chart) walk(reached map[string]bool, not string, from ...string) {
	var todo []string
	visit := func(id string) {
		if ch.byID[id] != nil && !reached[id] && (not == "" || id != not) {
			reached[id] = true
			todo = append(todo, id)
		}
	}
	for _, id := range from {
		visit(id)
	}
	for len(todo) > 0 {
		id := todo[0]
		todo = todo[1:]
		for _, con := range ch.from[id] {
			visit(con.Target)
		}
	}
}

// start is where a flowchart begins: what it says, a Start, a trigger, what no connection leads to, the first.
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
	case is(a, "Elsa.Composite"):
		known, open = completions(a.Ports["root"])
		return append(known, engine.DoneOutcome), open
	case is(a, "Elsa.FlowFork"):
		if a.Inputs["branches"].IsZero() {
			return []string{engine.DoneOutcome}, false
		}
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

// some lists the first of some names.
func some(names []string) string {
	const most = 20
	if len(names) == 0 {
		return "none"
	}
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d others", strings.Join(names[:most], ", "), len(names)-most)
}
