package elsajson

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson/custom"
	"github.com/weft-run/weft/pkg/workflow/elsajson/jsontree"
	"github.com/weft-run/weft/pkg/workflow/elsajson/names"
)

// holdsRoot names the field of a definition that keeps its own form.
var holdsRoot = map[string]bool{"root": true}

// definition reads a definition object.
func (r *reader) definition(c cur) *workflow.Definition {
	d := &workflow.Definition{Place: r.place(c)}
	fs := r.fields(c)
	for _, f := range fs {
		switch f.name {
		case "id":
			d.VersionID = r.str(f)
		case "definitionId":
			d.ID = r.str(f)
		case "version":
			d.Version = r.whole(f)
		case "name":
			d.Name = r.str(f)
		case "description":
			d.Description = r.str(f)
		case "inputs":
			d.Inputs = each(r, f.cur, r.defInput)
		case "outputs":
			d.Outputs = each(r, f.cur, r.defOutput)
		case "variables":
			d.Variables = each(r, f.cur, r.variable)
		case "outcomes":
			d.Outcomes = each(r, f.cur, func(c cur) string { return r.str(field{"an outcome", c}) })
		case "labels": // Weft's own: evaluated when the instance starts
			d.Labels = r.labels(f)
		case "customProperties":
			d.CustomProperties = r.dict(f)
		case "options":
			d.Options = r.options(f)
		case "toolVersion":
			r.madeBy(f)
		case "root":
			d.Root = r.activity(f.cur)
		}
	}
	r.optionsElsewhere(d, fs)
	d.Extra = r.keep(fs, definitionFields(d), holdsRoot)
	return d
}

// madeBy refuses what another major version of Elsa wrote.
func (r *reader) madeBy(f field) {
	if f.Kind == jsontree.String && names.OtherMajor(f.Text) {
		r.problem("other-version", f.cur, "this was written by Elsa %s, and definitions of Elsa 3 are read: export it from Elsa 3, or take toolVersion away if it is one of those", workflow.Shorten(f.Text))
	}
}

// optionsElsewhere reads the options that do not stand among the options.
func (r *reader) optionsElsewhere(d *workflow.Definition, fs []field) {
	for _, f := range fs {
		if f.name == "usableAsActivity" && r.truth(f) { // where it was before there were options
			d.Options.UsableAsActivity = true
		}
	}
	if logs := custom.Read(d.CustomProperties).Logs; logs != "" && d.Options.LogPersistence == "" {
		d.Options.LogPersistence = logs
	}
}

// each reads the items of a list; an empty list gives an empty slice, null nil.
func each[T any](r *reader, c cur, read func(cur) T) []T {
	if c.Kind == jsontree.Null {
		return nil
	}
	out := []T{}
	for _, it := range r.list(c) {
		out = append(out, read(it))
	}
	return out
}

// definitionFields gives the canonical form without the root.
func definitionFields(d *workflow.Definition) fields {
	var fs fields
	fs.text("id", d.VersionID)
	fs.text("definitionId", d.ID)
	fs.text("name", d.Name)
	fs.text("description", d.Description)
	if d.Version != 0 {
		fs.set("version", d.Version)
	}
	setList(&fs, "variables", d.Variables, writeVariable)
	setList(&fs, "inputs", d.Inputs, writeInput)
	setList(&fs, "outputs", d.Outputs, writeOutput)
	if d.Outcomes != nil {
		fs.set("outcomes", d.Outcomes)
	}
	if len(d.Labels) > 0 {
		fs.set("labels", labelFields(d.Labels))
	}
	c := custom.Peek(d.CustomProperties)
	c.Logs = d.Options.LogPersistence
	if m := custom.Write(d.CustomProperties, c); m != nil {
		fs.set("customProperties", m)
	}
	if o := writeOptions(d.Options); len(o.list) > 0 {
		fs.set("options", o)
	}
	return fs
}

func (r *reader) labels(f field) map[string]workflow.Expression {
	if f.Kind != jsontree.Object {
		return nil // it is somebody else's
	}
	var out map[string]workflow.Expression
	for _, m := range f.Members {
		if e := r.input(f.in(m), label); m.Name != "$id" && !e.IsZero() {
			if out == nil {
				out = map[string]workflow.Expression{}
			}
			out[m.Name] = e
		}
	}
	return out
}

// label is what the value of a label is.
var label = workflow.InputDescriptor{Type: "String"}

func labelFields(labels map[string]workflow.Expression) fields {
	var fs fields
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		fs.set(name, conditionFields(labels[name]))
	}
	return fs
}

func setList[T any](fs *fields, name string, items []T, write func(T) fields) {
	if items == nil {
		return
	}
	out := make([]fields, len(items))
	for i, it := range items {
		out[i] = write(it)
	}
	fs.set(name, out)
}

func (r *reader) options(f field) workflow.Options {
	var o workflow.Options
	if f.Kind == jsontree.Null {
		return o
	}
	if f.Kind != jsontree.Object {
		r.shape(f.cur, "options", "an object")
		return o
	}
	fs := r.fields(f.cur)
	for _, f := range fs {
		switch f.name {
		case "activationStrategyType":
			o.ActivationStrategy = names.Activations.Name(r.str(f))
		case "incidentStrategyType":
			o.IncidentStrategy = names.Incidents.Name(r.str(f))
		case "commitStrategyName":
			o.CommitStrategy = r.str(f)
		case "commitInterval":
			o.CommitInterval = r.str(f)
		case "calls":
			o.Calls = r.str(f)
		case "usableAsActivity":
			o.UsableAsActivity = r.truth(f)
		case "autoUpdateConsumingWorkflows":
			o.AutoUpdate = r.truth(f)
		case "additionalInputs":
			o.AdditionalInputs = r.truth(f)
		case "catchUp":
			o.CatchUp = r.str(f)
		}
	}
	o.Extra = r.keep(fs, optionFields(o), nil)
	return o
}

func optionFields(o workflow.Options) fields {
	var fs fields
	if o.ActivationStrategy != "" {
		fs.set("activationStrategyType", names.Activations.Type(o.ActivationStrategy))
	}
	if o.UsableAsActivity {
		fs.set("usableAsActivity", true)
	}
	if o.AutoUpdate {
		fs.set("autoUpdateConsumingWorkflows", true)
	}
	if o.IncidentStrategy != "" {
		fs.set("incidentStrategyType", names.Incidents.Type(o.IncidentStrategy))
	}
	fs.text("commitStrategyName", o.CommitStrategy)
	fs.text("commitInterval", o.CommitInterval)
	fs.text("calls", o.Calls)
	if o.AdditionalInputs {
		fs.set("additionalInputs", true)
	}
	fs.text("catchUp", o.CatchUp)
	return fs
}

func writeOptions(o workflow.Options) fields {
	return optionFields(o).restore(o.Extra, func(raw json.RawMessage) fields {
		return reread(raw, func(r *reader, c cur) fields { return optionFields(r.options(field{"options", c})) })
	})
}

// reread reads an object again and gives what read makes of it.
func reread(raw json.RawMessage, read func(*reader, cur) fields) fields {
	root, _, err := jsontree.Parse(raw)
	if err != nil {
		return fields{}
	}
	r := newReader(raw, "", nil)
	r.shallow = true
	return read(r, cur{root, ""})
}
