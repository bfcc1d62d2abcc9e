package engine

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson/names"
	"github.com/weft-run/weft/pkg/workflow/value"
)

// strategy is how a definition treats incidents and when its bursts commit
// before their end.
type strategy struct {
	continueOnIncident bool
	first              bool          // a commit before the first activity of a command
	before, after      bool          // around every activity
	joins              bool          // several of these may be one
	every              time.Duration // periodically
	calls              int           // in flight beside each other at most; 0: as many as [Limits] says
}

// commitPoints say whether a commit is asked for around one activity, and whether it may be one with those
// of the activities that follow.
type commitPoints struct{ before, after, joins bool }

func (c *compiler) workflowStrategy(def *workflow.Definition) strategy {
	var s strategy
	// A strategy that is not known would run without a gate: two instances where the
	// author wants one.
	gates := []string{"Always", "Singleton", "CorrelatedSingleton", "Correlation"}
	if name := def.Options.ActivationStrategy; name != "" && !slices.Contains(gates, name) {
		c.problem("bad-option", def.Place, "activation strategy %q is not one of %s%s", name, strings.Join(gates, ", "), suggest(shortName(name, "Strategy"), gates))
		c.problems[len(c.problems)-1].Within = workflow.Within{Text: name}
	}
	switch name := shortName(def.Options.IncidentStrategy, "Strategy"); strings.ToLower(name) {
	case "", "fault":
	case "continuewithincidents":
		s.continueOnIncident = true
	default:
		c.problem("bad-option", def.Place, "incident strategy %q is not one of Fault, ContinueWithIncidents", def.Options.IncidentStrategy)
		c.problems[len(c.problems)-1].Within = workflow.Within{Text: def.Options.IncidentStrategy}
	}
	known := []string{"WorkflowExecuting", "WorkflowExecuted", "ActivityExecuting", "ActivityExecuted", "ActivityExecutingStrict", "ActivityExecutedStrict", "Periodic"}
	switch name := shortName(def.Options.CommitStrategy, "WorkflowStrategy"); strings.ToLower(strings.TrimSuffix(name, "Strategy")) {
	case "", "default", "workflowexecuted":
	case "workflowexecuting":
		s.first = true
	case "activityexecuting":
		s.before, s.joins = true, true
	case "activityexecuted":
		s.after, s.joins = true, true
	case "activityexecutingstrict":
		s.before = true
	case "activityexecutedstrict":
		s.after = true
	case "periodic":
		s.every = 10 * time.Second
	default:
		c.problem("bad-option", def.Place, "commit strategy %q is not one of %s%s", def.Options.CommitStrategy, strings.Join(known, ", "), suggest(name, known))
		c.problems[len(c.problems)-1].Within = workflow.Within{Text: def.Options.CommitStrategy}
	}
	var ok bool
	if s.calls, ok = def.Options.CallsAtOnce(); !ok || s.calls > MaxCalls {
		c.problem("bad-option", def.Place, "calls: %q is neither turns nor a number from 1 to %d of calls that may be in flight at once", def.Options.Calls, MaxCalls)
		c.problems[len(c.problems)-1].Within = workflow.Within{Text: "calls"}
	}
	if iv := def.Options.CommitInterval; iv != "" {
		d, err := value.ParseDuration(iv)
		if err != nil || d <= 0 {
			c.problem("bad-literal", def.Place, "commit interval: %q is not a positive duration such as 10s", iv)
			c.problems[len(c.problems)-1].Within = workflow.Within{Text: "commitInterval"}
		} else if s.every > 0 {
			s.every = d
		}
	}
	return s
}

// shortName takes the class out of a .NET type name and drops the suffix.
func shortName(name, suffix string) string {
	name, _, _ = strings.Cut(name, ",")
	return strings.TrimSuffix(name[strings.LastIndexByte(name, '.')+1:], suffix)
}

func (c *compiler) commitPoints(n *Node) commitPoints {
	if n.parent == nil { // the workflow itself
		return commitPoints{}
	}
	s := c.prog.strategy
	switch name := shortName(n.activity.CommitStrategy, "ActivityStrategy"); strings.ToLower(strings.TrimSuffix(name, "Activity")) {
	case "", "default":
		return commitPoints{before: s.before, after: s.after && !n.desc.Container, joins: s.joins}
	case "never":
		return commitPoints{}
	case "always":
		return commitPoints{before: true, after: true}
	case "executing":
		return commitPoints{before: true}
	case "executed":
		return commitPoints{after: true}
	}
	c.problem("bad-option", n.activity.Place, "commit strategy %q of activity %s is not one of Always, Never, Executing, Executed", n.activity.CommitStrategy, n.local)
	return commitPoints{}
}

// logging is what of a node reaches the journal.
type logging struct {
	inputs, outputs bool
	hiddenOutputs   map[string]bool
	started         any // the journal's data at the start, if all inputs are constant
}

// logging finds the log persistence mode of n: its own, else that of the
// nearest container that has one, else the workflow's, else Include. Single
// inputs and outputs have theirs in customProperties.logPersistenceMode, as
// Elsa's designer writes it: {"default": …, "inputs": {"text": "Exclude"}}.
func (c *compiler) logging(n *Node) logging {
	defer func() {
		for i := range n.inputs {
			n.inputs[i].hidden = n.inputs[i].hidden || n.inputs[i].desc.Sensitive
		}
	}()
	mode := ""
	var single map[string]any
	for p := n; p != nil && mode == ""; p = p.parent {
		mode = c.logMode(p.activity.LogPersistence, p)
		for _, key := range []string{"logPersistenceMode", "LogPersistenceMode", "logPersistenceConfig"} {
			switch v := p.activity.CustomProperties[key].(type) {
			case string:
				mode = cmp.Or(mode, c.logMode(v, p))
			case map[string]any:
				if d, ok := names.Field(v, "default").(string); ok {
					mode = cmp.Or(mode, c.logMode(d, p))
				}
				if p == n {
					single = v
				}
			}
		}
		if mode == "" && p.inner != nil {
			mode = c.logMode(p.inner.def.Options.LogPersistence, p)
		}
	}
	include := mode != "Exclude"
	out := logging{inputs: include, outputs: include}
	ins, _ := names.Field(single, "inputs").(map[string]any)
	outs, _ := names.Field(single, "outputs").(map[string]any)
	out.inputs = include || len(ins) > 0
	for i := range n.inputs {
		n.inputs[i].hidden = names.Excluded(ins, n.inputs[i].desc.Name, include)
	}
	for _, o := range n.desc.Outputs {
		if o.Sensitive || names.Excluded(outs, o.Name, include) {
			if out.hiddenOutputs == nil {
				out.hiddenOutputs = map[string]bool{}
			}
			out.hiddenOutputs[o.Name] = true
		} else {
			out.outputs = true
		}
	}
	return out
}

func (c *compiler) logMode(mode string, n *Node) string {
	switch strings.ToLower(mode) {
	case "", "inherit", "default":
		return ""
	case "include":
		return "Include"
	case "exclude":
		return "Exclude"
	}
	c.problem("bad-option", n.activity.Place, "log persistence mode %q is not one of Include, Exclude, Inherit", mode)
	return "Exclude"
}
