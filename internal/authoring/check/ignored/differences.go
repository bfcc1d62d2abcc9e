package ignored

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
)

// A Difference is an activity that goes another way here than in Elsa, and nothing in the definition asks for that.
type Difference struct {
	Activity *workflow.Activity
	Detail   string // for people, behind the name of the activity
}

// Differences finds the activities of a definition of Elsa's JSON that run, and do what
// docs/differences-from-elsa.md says, in the order in which they are written.
func Differences(def *workflow.Definition) (found []Difference) {
	add := func(a *workflow.Activity, format string, args ...any) {
		found = append(found, Difference{a, fmt.Sprintf(format, args...)})
	}
	around := map[*workflow.Activity]*workflow.Activity{}
	workflow.Walk(def.Root, func(a, parent *workflow.Activity, _ int) bool {
		around[a] = parent
		all := scripts(a)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if variable, way := changedList(all[name]); way != "" {
				add(a, "changes the list of the variable %s by %s in its %s, and the variable keeps that, where Elsa changes a copy: change a copy, [...list].%s(…), or set the variable", workflow.Shorten(variable), way, name, way)
			}
		}
		switch {
		case is(a, "Elsa.Break") && breaksBody(a, around):
			add(a, "ends the run of the body for its item, and the others go on, where Elsa ends the loop, or the sequence, around the ParallelForEach when that is done")
		case is(a, "Elsa.Flowchart") && startsElsewhere(a):
			add(a, "begins at %s, its start, which Elsa reads over: there it begins at %s", workflow.Shorten(a.Start), workflow.Shorten(elsaBegins(a)))
		}
		switch {
		case is(a, "Elsa.ExecuteWorkflow") && !waitsForChildren(a):
			add(a, "goes on at once, and its result says Running, where Elsa first runs the child up to where that waits: with waitForCompletion: true it waits for the child's end, and has its output")
		case is(a, "Elsa.Flowchart"):
			for _, j := range races(a) {
				add(j, "goes on with the branch that is first there, and takes back what leads to it and has not begun, where Elsa runs that too: with the mode WaitAllActive all branches that were taken run")
			}
		case is(a, "Elsa.StateMachine"):
			for i := range a.States {
				for _, t := range a.States[i].Transitions {
					if t.Trigger == nil {
						add(a, "goes from %s to %s without a trigger, as soon as the condition holds, where Elsa never does: take the transition out, or give it a trigger", workflow.Shorten(a.States[i].Name), workflow.Shorten(t.To))
					}
				}
			}
		}
		return len(found) < workflow.MaxProblems
	})
	return found
}

// breaksBody reports whether the nearest loop around a break is a ParallelForEach, which takes no break in Elsa.
func breaksBody(a *workflow.Activity, around map[*workflow.Activity]*workflow.Activity) bool {
	for p := around[a]; p != nil; p = around[p] {
		switch {
		case is(p, "Elsa.ParallelForEach"):
			return true
		case is(p, "Elsa.For"), is(p, "Elsa.ForEach"), is(p, "Elsa.While"):
			return false
		}
	}
	return false
}

// startsElsewhere reports whether a flowchart says that it starts at one of its activities, and Elsa begins at another one.
func startsElsewhere(chart *workflow.Activity) bool {
	there := func(a *workflow.Activity) bool { return a != nil && a.ID == chart.Start }
	return chart.Start != "" && slices.ContainsFunc(chart.Activities, there) && elsaBegins(chart) != chart.Start
}

// elsaBegins is the id of the activity at which a flowchart begins in Elsa, which reads no start from JSON: "" if there is none.
func elsaBegins(chart *workflow.Activity) string {
	entered := map[string]bool{}
	for _, c := range chart.Connections {
		entered[c.Target] = true
	}
	for _, first := range []func(a *workflow.Activity) bool{
		func(a *workflow.Activity) bool { return is(a, "Elsa.Start") },
		func(a *workflow.Activity) bool { return a.CanStart },
		func(a *workflow.Activity) bool { return !entered[a.ID] },
		func(*workflow.Activity) bool { return true },
	} {
		for _, a := range chart.Activities {
			if a != nil && first(a) {
				return a.ID
			}
		}
	}
	return ""
}

func is(a *workflow.Activity, typ string) bool { return a.Ref == nil && strings.EqualFold(a.Type, typ) }

// mostRaces is how many joins of one flowchart are looked at: each costs a look at all its connections.
const mostRaces = 100

// races gives the joins that wait for any of several branches which begin together, where one of them may be there before
// the others begin: it does not wait.
func races(chart *workflow.Activity) (found []*workflow.Activity) {
	byID := map[string]*workflow.Activity{}
	var joins []*workflow.Activity
	for _, a := range chart.Activities {
		if a == nil {
			continue
		}
		byID[a.ID] = a
		if mode := a.Inputs["mode"]; is(a, "Elsa.FlowJoin") && (mode.IsZero() || mode.Kind == workflow.Literal && (Inert(mode.Value) || mode.Value == "WaitAny")) {
			joins = append(joins, a)
		}
	}
	into, forks := map[string][]string{}, map[[2]string][]string{} // of a fork the outcome, of which there may be one name only
	for _, c := range chart.Connections {
		into[c.Target] = append(into[c.Target], c.Source)
		port := c.SourcePort
		if byID[c.Source] != nil && is(byID[c.Source], "Elsa.FlowFork") || strings.EqualFold(port, "Done") {
			port = ""
		}
		at := [2]string{c.Source, port}
		if !slices.Contains(forks[at], c.Target) {
			forks[at] = append(forks[at], c.Target)
		}
	}
	for _, j := range joins[:min(len(joins), mostRaces)] {
		leads := reaching(j.ID, into, func(string) bool { return true })
		atOnce := reaching(j.ID, into, func(id string) bool { return byID[id] != nil && !waits(byID[id]) })
		for _, targets := range forks {
			lead := slices.DeleteFunc(slices.Clone(targets), func(id string) bool { return !leads[id] })
			if len(lead) > 1 && slices.ContainsFunc(lead, func(id string) bool { return atOnce[id] }) {
				found = append(found, j)
				break
			}
		}
	}
	return found
}

// reaching are the activities from which there is a way to one, through those that may be passed; it is one of them itself.
func reaching(to string, into map[string][]string, passes func(id string) bool) map[string]bool {
	seen, todo := map[string]bool{to: true}, []string{to}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, from := range into[at] {
			if !seen[from] && passes(from) {
				seen[from] = true
				todo = append(todo, from)
			}
		}
	}
	return seen
}

// waiting are the activities that wait for something from outside, or for a time.
var waiting = []string{"Elsa.Event", "Elsa.Delay", "Elsa.Timer", "Elsa.StartAt", "Elsa.Cron", "Elsa.RunTask", workflow.EndpointType}

// waits reports whether an activity, or one in it, waits.
func waits(a *workflow.Activity) (does bool) {
	workflow.Walk(a, func(in, _ *workflow.Activity, _ int) bool {
		does = does || waitsForChildren(in) || slices.ContainsFunc(waiting, func(typ string) bool { return is(in, typ) })
		return !does
	})
	return does
}

// waitsForChildren reports whether an activity that starts others waits for their end, or may: by an expression.
func waitsForChildren(a *workflow.Activity) bool {
	wait := a.Inputs["waitForCompletion"]
	if wait.IsZero() { // what Elsa's JSON leaves out has been read: it is there
		return is(a, "Elsa.ExecuteWorkflow")
	}
	return wait.Kind != workflow.Literal || !Inert(wait.Value)
}
