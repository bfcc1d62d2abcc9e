package check

import (
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// next is an activity that starts other definitions whenever its instance comes to its end.
type next struct {
	a  *workflow.Activity
	id string // of the definition that it starts; "": it publishes event
	// event is for all that it starts.
	event string
}

// circles are what starts a definition again and again.
type circles struct{ checker *checker }

// find warns of what starts this definition again and again: by activities and by events, over as many
// definitions as are known. What stands behind a condition may be meant, and is not told.
func (c circles) find() {
	for _, n := range nexts(c.checker.def) {
		if c.checker.full() {
			return
		}
		if n.id == c.checker.def.ID { // told where it is the first that happens; later it may be meant
			continue
		}
		steps := c.backFrom(n)
		if steps == nil {
			continue
		}
		at := n.a.Inputs["workflowDefinitionId"].Place
		if n.id == "" {
			at = n.a.Inputs["eventName"].Place
		}
		p := place{a: n.a, desc: c.checker.describe(n.a)}
		c.checker.report(p, at, warning("endless-loop", "%s %s: each starts the next, without a condition, until the last of %d that may start each other has an incident", p.title(), strings.Join(steps, ", which "), engine.MaxInstanceDepth))
	}
}

// backFrom is how a start leads to this definition again; nil: it does not, as far as is known.
func (c circles) backFrom(first next) []string {
	type way struct {
		def   *workflow.Definition
		steps []string
	}
	seen := map[string]bool{}
	var ways []way
	follow := func(n next, steps []string) (back []string) {
		for _, def := range c.started(n) {
			step := "starts " + def.ID
			if n.id == "" {
				step = "publishes event " + workflow.Shorten(n.event) + ", which starts " + def.ID
			}
			all := append(slices.Clone(steps), step)
			if def.ID == c.checker.def.ID {
				all[len(all)-1] += " again"
				return all
			}
			if !seen[def.ID] {
				seen[def.ID] = true
				ways = append(ways, way{def, all})
			}
		}
		return nil
	}
	if back := follow(first, nil); back != nil {
		return back
	}
	for ; len(ways) > 0; ways = ways[1:] {
		for _, n := range nexts(ways[0].def) {
			if back := follow(n, ways[0].steps); back != nil {
				return back
			}
		}
	}
	return nil
}

// started are the definitions that are started then.
func (c circles) started(n next) (defs []*workflow.Definition) {
	ids := []string{n.id}
	if n.id == "" {
		ids = nil
		if slices.Contains(triggersOf(c.checker.def), n.event) {
			ids = append(ids, c.checker.def.ID)
		}
		if c.checker.opts.Starts != nil {
			ids = append(ids, c.checker.opts.Starts(n.event)...)
		}
	}
	for _, id := range ids {
		def := c.checker.kid(id)
		// What is published now takes the place of what is known of this definition.
		if def != nil && (n.id != "" || def.ID != c.checker.def.ID || slices.Contains(triggersOf(c.checker.def), n.event)) {
			defs = append(defs, def)
		}
	}
	return defs
}

// StartedBy gives the ids of those definitions that an event starts, in order.
func StartedBy(defs map[string]*workflow.Definition, event string) (ids []string) {
	for id, def := range defs {
		if slices.Contains(triggersOf(def), event) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// triggersOf are the events that start a definition.
func triggersOf(def *workflow.Definition) (events []string) {
	if def.Root == nil {
		return nil
	}
	workflow.Walk(def.Root, func(a, _ *workflow.Activity, _ int) bool {
		if a.CanStart && is(a, workflow.EventType) {
			if name, ok := written(a, "eventName"); ok {
				events = append(events, name)
			}
		}
		return true
	})
	return events
}

func written(a *workflow.Activity, input string) (string, bool) {
	e := a.Inputs[input]
	text, ok := e.Value.(string)
	return text, ok && e.Kind == workflow.Literal && text != ""
}

// nexts are the starts of a definition that stand behind no condition.
func nexts(def *workflow.Definition) (all []next) {
	if def.Root == nil {
		return nil
	}
	workflow.Walk(def.Root, func(a, _ *workflow.Activity, _ int) bool {
		switch {
		case is(a, "Elsa.ExecuteWorkflow"), is(a, "Elsa.DispatchWorkflow"), is(a, "Elsa.BulkDispatchWorkflows"):
			if id, ok := written(a, "workflowDefinitionId"); ok {
				all = append(all, next{a: a, id: id})
			}
			return false
		case is(a, "Elsa.PublishEvent"):
			if name, ok := written(a, "eventName"); ok && a.Inputs["isLocalEvent"].IsZero() {
				all = append(all, next{a: a, event: name})
			}
		}
		return unconditional(a)
	})
	return all
}

// unconditional tells whether what is in an activity runs whenever that does.
func unconditional(a *workflow.Activity) bool {
	switch {
	case is(a, "Elsa.Sequence"), is(a, "Elsa.Parallel"):
		return !slices.ContainsFunc(a.Activities, mayLeave)
	case is(a, "Elsa.Fork"):
		mode, ok := written(a, "joinMode")
		return a.Inputs["joinMode"].IsZero() || ok && mode == "WaitAll"
	case is(a, "Elsa.ForEach"), is(a, "Elsa.ParallelForEach"), is(a, "Elsa.For"):
		return true
	}
	return false
}

// mayLeave tells whether an activity may end what is around it.
func mayLeave(a *workflow.Activity) bool {
	found := false
	workflow.Walk(a, func(a, _ *workflow.Activity, _ int) bool {
		found = found || slices.ContainsFunc([]string{"Elsa.Finish", "Elsa.End", "Elsa.Fault", "Elsa.Fail", "Elsa.Complete", "Elsa.Break"}, func(typ string) bool { return is(a, typ) })
		return !found
	})
	return found
}
