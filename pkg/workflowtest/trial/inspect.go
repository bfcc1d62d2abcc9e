package trial

import (
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// Instance is the instance under test; its id is empty as long as it is not
// started.
func (r *Run) Instance() workflow.Instance {
	if !r.started() {
		return workflow.Instance{}
	}
	return r.instances[0].header
}

// Warnings are what may be a mistake in the definitions. Errors make [New] fail.
func (r *Run) Warnings() workflow.Problems { return slices.Clone(r.warnings) }

// Children are the child instances that really ran, in the order in which they
// began.
func (r *Run) Children() []workflow.Instance {
	var out []workflow.Instance
	for _, in := range r.instances[min(1, len(r.instances)):] {
		out = append(out, in.header)
	}
	return out
}

// MockedChildren are the starts of the children that did not really run.
func (r *Run) MockedChildren() []workflow.Start {
	var out []workflow.Start
	for _, c := range r.children {
		out = append(out, c.Start)
	}
	return out
}

// Lines are what WriteLine wrote, children included.
func (r *Run) Lines() []string { return slices.Clone(r.lines) }

// Published are the stimuli that the instances sent.
func (r *Run) Published() []workflow.Stimulus { return slices.Clone(r.published) }

// Response is what WriteHttpResponse wrote last; nil if nothing did.
func (r *Run) Response() *workflow.Response { return r.response }

// Journal is what the instance under test did.
func (r *Run) Journal() []workflow.JournalItem {
	if !r.started() {
		return nil
	}
	return slices.Clone(r.instances[0].journal)
}

// Calls are the executions of an activity, chosen by id, name or type, in the
// order in which they began, children included. Those that a fault ended before
// their inputs were known are not among them.
func (r *Run) Calls(activity string) []Call {
	var out []Call
	for _, c := range r.stage.calls {
		if c.is(activity) {
			out = append(out, c)
		}
	}
	return out
}

func (c *Call) is(activity string) bool {
	return c.ActivityID == activity || c.Name != "" && c.Name == activity || strings.EqualFold(c.Type, activity) || shortName(c.Type) == activity
}

func shortName(typ string) string { return (&workflow.Descriptor{Type: typ}).ShortName() }

// Outcomes are what an activity of the instance under test, by id or name,
// completed with the last time; nil if it never did.
func (r *Run) Outcomes(activity string) []string {
	id := r.activityID(activity)
	for _, it := range slices.Backward(r.Journal()) {
		if it.ActivityID != id || it.Event != engine.EventCompleted {
			continue
		}
		data, _ := it.Data.(map[string]any)
		list, ok := data["outcomes"].([]any)
		if !ok {
			return []string{engine.DoneOutcome}
		}
		var out []string
		for _, o := range list {
			out = append(out, engine.Text(o))
		}
		return out
	}
	return nil
}

// activityID finds an activity of the definition by its id or name; "" if there
// is none.
func (r *Run) activityID(activity string) string {
	if r.main.Node(activity) != nil {
		return activity
	}
	for _, n := range r.main.Nodes() {
		if n.Name() != "" && n.Name() == activity {
			return n.ID()
		}
	}
	return ""
}

// Told says what the instance under test did, and the variables that its workflow has.
func Told(r *Run) (journal []string, variables map[string]any) {
	for _, item := range r.Journal() {
		line := strings.TrimSpace(item.ActivityID + " " + item.Event + " " + item.Text)
		if item.Data != nil {
			if raw, err := workflow.Marshal(item.Data); err == nil {
				line += " " + workflow.CutBytes(string(raw), 200)
			}
		}
		journal = append(journal, line)
	}
	if r.started() {
		variables = r.instances[0].variables
	}
	return journal, variables
}
