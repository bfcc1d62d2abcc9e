package check

import (
	"regexp"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// loops looks at loops that do nothing, never run, or never end.
func (c *checker) loops(p place) {
	switch {
	case is(p.a, "Elsa.For"):
		c.counts(p)
	case is(p.a, "Elsa.While"):
		c.endless(p)
	case is(p.a, "Elsa.ForEach"), is(p.a, "Elsa.ParallelForEach"):
	case is(p.a, "Elsa.If"):
		if p.a.Ports["then"] == nil && p.a.Ports["else"] == nil && len(p.a.Outputs) == 0 {
			c.report(p, workflow.Place{}, warning("no-body", "%s has neither then nor else, so it does nothing", p.title()))
		}
		return
	default:
		return
	}
	if p.a.Ports["body"] == nil {
		c.report(p, workflow.Place{}, warning("no-body", "%s has no body, so it does nothing", p.title()))
	}
}

// counts looks at a loop whose numbers are all written out.
func (c *checker) counts(p place) {
	number := func(name string, usual int64) (int64, bool) {
		e := p.a.Inputs[name]
		if e.IsZero() {
			return usual, true
		}
		v, err := engine.Convert(e.Value, "Int64")
		n, ok := v.(int64)
		return n, ok && err == nil && e.Kind == workflow.Literal
	}
	start, ok1 := number("start", 0)
	end, ok2 := number("end", 0)
	step, ok3 := number("step", 1)
	if !ok1 || !ok2 || !ok3 || step == 0 {
		return
	}
	inclusive := true
	if e := p.a.Inputs["outerBoundInclusive"]; !e.IsZero() {
		v, err := engine.Convert(e.Value, "Boolean")
		yes, known := v.(bool)
		if inclusive = yes; err != nil || !known || e.Kind != workflow.Literal {
			return
		}
	}
	runs := step > 0 && start < end || step < 0 && start > end || inclusive && start == end
	if !runs {
		c.report(p, p.a.Inputs["end"].Place, warning("unreachable", "the body of %s never runs: from %d by %d there is no way to %d", p.title(), start, step, end))
	}
}

var (
	// readsMore is what a condition reads that changes by itself, or that is not looked at here.
	readsMore = regexp.MustCompile(`\b(outputs|lastResult|now|newId|name|correlationId)\b|\$env|variables\s*[^.\s]|variables\s*$|inputs\s*\[`)
	reads     = regexp.MustCompile(`\bvariables\.([A-Za-z_]\w*)`)
)

// endless reports a loop whose condition stays what it is: nothing in the body changes what
// it reads, waits, or leads out.
func (c *checker) endless(p place) {
	e := p.a.Inputs["condition"]
	body := p.a.Ports["body"]
	if body == nil || p.beside {
		return
	}
	read := map[string]bool{}
	switch e.Kind {
	case workflow.Literal:
		if yes, err := engine.Convert(e.Value, "Boolean"); err != nil || yes != true {
			return
		}
	case workflow.Expr:
		text, ok := e.Value.(string)
		if !ok || readsMore.MatchString(text) {
			return
		}
		for _, m := range reads.FindAllStringSubmatch(text, -1) {
			read[m[1]] = true
		}
	default:
		return
	}
	open := false
	workflow.Walk(body, func(a, _ *workflow.Activity, _ int) bool {
		open = open || c.leadsOut(a) || c.changes(a, read)
		return !open
	})
	if open {
		return
	}
	q := warning("endless-loop", "%s never ends once it runs: nothing in its body changes its condition, waits, or leaves it by break", p.title())
	if len(read) > 0 {
		q.Detail = strings.Replace(q.Detail, "its condition", strings.Join(sortedKeys(read), " or "), 1)
	}
	c.report(p, e.Place, q)
}

// leadsOut tells whether a loop may end, or wait, by an activity of its body.
func (c *checker) leadsOut(a *workflow.Activity) bool {
	d := c.describe(a)
	if d == nil || a.Ref != nil || !strings.HasPrefix(d.Type, "Elsa.") || d.Trigger || d.Terminal {
		return true
	}
	for _, typ := range []string{"Break", "Finish", "Complete", "Fault", "Delay", "RunTask", "ExecuteWorkflow", "DispatchWorkflow", "BulkDispatchWorkflows", "RunJavaScript", "RunCSharp", "SendHttpRequest", "FlowSendHttpRequest", "StateMachine", "Inline"} {
		if is(a, "Elsa."+typ) {
			return true
		}
	}
	return false
}

// changes tells whether an activity may change one of some variables.
func (c *checker) changes(a *workflow.Activity, names map[string]bool) bool {
	written := func(name string) bool { return names[name] || c.byID[name] != "" && names[c.byID[name]] }
	for _, to := range a.Outputs {
		if written(to) {
			return true
		}
	}
	if is(a, "Elsa.SetVariable") {
		name, ok := a.Inputs["variable"].Value.(string)
		if !ok || written(name) {
			return true
		}
	}
	script := func(e workflow.Expression) bool { return e.Kind == workflow.JavaScript }
	for _, e := range a.Inputs {
		if script(e) {
			return true
		}
	}
	return slices.ContainsFunc(a.Cases, func(cs workflow.Case) bool { return script(cs.Condition) })
}

// beside tells whether what is in an activity runs beside other things.
func beside(a *workflow.Activity) bool {
	if is(a, "Elsa.Parallel") || is(a, "Elsa.Fork") || is(a, "Elsa.ParallelForEach") {
		return true
	}
	if !is(a, "Elsa.Flowchart") {
		return false
	}
	type port struct{ source, port string }
	seen := map[port]bool{}
	for _, con := range a.Connections {
		at := port{con.Source, con.SourcePort}
		if seen[at] {
			return true
		}
		seen[at] = true
	}
	return slices.ContainsFunc(a.Activities, func(kid *workflow.Activity) bool { return kid != nil && is(kid, "Elsa.FlowFork") })
}
