package check

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/weft-run/weft/internal/authoring/check/ignored"
	"github.com/weft-run/weft/pkg/workflow"
)

// Fields of Elsa's JSON that mean something. What has another name is kept, since it may be
// of a newer version; what has nearly one of these names was probably meant to be that.
var (
	definitionFields = []string{"id", "definitionId", "name", "description", "createdAt", "version", "toolVersion", "variables", "inputs", "outputs", "outcomes", "labels", "customProperties", "isReadonly", "isSystem", "isLatest", "isPublished", "options", "root", "usableAsActivity", "tenantId", "links"}
	optionFields     = []string{"activationStrategyType", "incidentStrategyType", "commitStrategyName", "commitInterval", "calls", "usableAsActivity", "autoUpdateConsumingWorkflows", "activityCategory", "additionalInputs", "catchUp"}
	activityFields   = []string{"id", "nodeId", "name", "type", "version", "customProperties", "metadata", "synthetic", "canStartWorkflow", "runAsynchronously", "applicationProperties", "source", "line", "workflowDefinitionId", "workflowDefinitionVersionId", "latestAvailablePublishedVersion", "latestAvailablePublishedVersionId"}
	containerFields  = []string{"activities", "variables", "connections", "start"}
	machineFields    = []string{"states", "transitions", "initialState", "currentState"}
	wrapperFields    = []string{"typeName", "expression", "memoryReference"}
	expressionFields = []string{"type", "value"}
)

// fields looks at what Elsa's JSON has beside what is known: names that are nearly known ones.
func (c *checker) fields() {
	if !c.elsa() {
		return
	}
	at := place{}
	for _, s := range ignored.Settings(c.def, c.opts.Registry) {
		p, of := at, ""
		if s.Activity != nil {
			p = place{a: s.Activity, desc: c.describe(s.Activity)}
			of = p.title() + ": "
		}
		q := warning("ignored-setting", "%s%s", of, s.Detail)
		q.Within = workflow.Within{Text: s.Name}
		c.report(p, s.Place, q)
	}
	for _, d := range ignored.Differences(c.def) {
		p := place{a: d.Activity, desc: c.describe(d.Activity)}
		c.report(p, d.Activity.Place, warning("differs-from-elsa", "%s %s", p.title(), d.Detail))
	}
	c.strange(at, c.def.Place, "the definition", c.def.Extra, definitionFields)
	c.strange(at, c.def.Place, "options", c.def.Options.Extra, optionFields)
	workflow.Walk(c.def.Root, func(a, _ *workflow.Activity, _ int) bool {
		c.activityFields(a)
		return len(c.problems) < workflow.MaxProblems
	})
}

// strange reports names that are nearly known ones, where those are not there themselves, and those of an activity that
// say something and are unknown.
func (c *checker) strange(p place, at workflow.Place, what string, extra map[string]json.RawMessage, known []string) {
	for _, name := range sortedKeys(extra) {
		if slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) {
			continue
		}
		q := meant(warning("unknown-field", "%s has a field %s, which says nothing here", what, workflow.Shorten(name)), name, known)
		if q.Meant != "" || p.a != nil && !ignored.Inert(extra[name]) {
			q.Within = workflow.Within{Text: name}
			c.report(p, at, q)
		}
	}
}

func (c *checker) activityFields(a *workflow.Activity) {
	d := c.describe(a)
	p := place{a: a, desc: d}
	if d == nil {
		return
	}
	known := slices.Clone(activityFields)
	for _, in := range d.Inputs {
		known = append(known, in.Name)
	}
	for _, out := range d.Outputs {
		known = append(known, out.Name)
	}
	known = append(known, d.Ports...)
	if d.Cases != "" {
		known = append(known, d.Cases)
	}
	if d.List != "" {
		known = append(append(known, d.List), containerFields...)
	}
	if is(a, "Elsa.StateMachine") {
		known = append(known, machineFields...)
	}
	c.strange(p, a.Place, p.title(), a.Extra, known)
	for _, name := range sortedKeys(a.Inputs) {
		if _, ok := d.Input(name); ok {
			continue
		}
		q := warning("unknown-input", "%s has no input %s, so what it is given has no effect", p.title(), workflow.Shorten(name))
		q.Within = workflow.Within{Text: name}
		if q = meant(q, name, known); q.Meant != "" || a.Ref != nil || !ignored.Inert(a.Inputs[name].Value) {
			c.report(p, a.Inputs[name].Place, q)
		}
	}
	for _, in := range d.Inputs {
		if raw := a.Extra[in.Name]; raw != nil && a.Inputs[in.Name].IsZero() {
			c.unread(p, in.Name, raw)
		}
	}
	c.lost(p)
}

// unread looks at the value of an input that none could be read from.
func (c *checker) unread(p place, name string, raw json.RawMessage) {
	var wrapper map[string]json.RawMessage
	if json.Unmarshal(raw, &wrapper) != nil {
		return
	}
	for field, inner := range wrapper {
		var expression map[string]json.RawMessage
		if strings.EqualFold(field, "expression") && json.Unmarshal(inner, &expression) == nil {
			c.strange(p, p.a.Place, "the expression of "+name+" of "+p.title(), expression, expressionFields)
		}
	}
	c.strange(p, p.a.Place, name+" of "+p.title(), wrapper, wrapperFields)
}

// lost reports connections that lead from or to what is not there, which Elsa's designer
// puts aside.
func (c *checker) lost(p place) {
	list, _ := p.a.CustomProperties["notFoundConnections"].([]any)
	ids := make([]string, 0, len(p.a.Activities))
	for _, a := range p.a.Activities {
		if a != nil {
			ids = append(ids, a.ID)
		}
	}
	for _, v := range list {
		con, _ := v.(map[string]any)
		from, to := ignored.EndOf(con["source"]), ignored.EndOf(con["target"])
		for _, id := range []string{from, to} {
			if c.full() || slices.Contains(ids, id) {
				continue
			}
			if id == "" {
				c.report(p, workflow.Place{}, warning("unknown-connection", "a connection of %s has no source or no target, so it is put aside", p.title()))
				break
			}
			q := warning("unknown-connection", "the connection %s → %s leads to %q, which is no activity of %s, so it is put aside", workflow.Shorten(from), workflow.Shorten(to), workflow.Shorten(id), p.title())
			q.Within = workflow.Within{Text: id}
			c.report(p, workflow.Place{}, meant(q, id, ids))
			break
		}
	}
}
