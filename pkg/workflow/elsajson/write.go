package elsajson

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson/custom"
)

// Write writes a definition as Elsa's JSON, indented by two spaces. Equal
// definitions give equal bytes.
func Write(def *workflow.Definition, types workflow.Types) ([]byte, error) {
	if def == nil {
		return nil, errors.New("elsajson: no definition")
	}
	w := &writer{types: types}
	fs := w.definition(def)
	if def.Root != nil {
		fs.set("root", w.activity(def.Root, rootPath(def.Root)))
	}
	var b bytes.Buffer
	if err := json.Indent(&b, fs.raw(), "", "  "); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// writer writes the domain's types as JSON.
type writer struct{ types workflow.Types }

func (w *writer) definition(def *workflow.Definition) fields {
	again := func(raw json.RawMessage) fields {
		return reread(raw, func(r *reader, c cur) fields { return definitionFields(r.definition(c)) })
	}
	canonical := definitionFields(def)
	if string(def.Extra["usableAsActivity"]) == "true" && def.Options.UsableAsActivity {
		// It stood beside the options; then it need not stand in them too.
		old := *def
		old.Options.UsableAsActivity = false
		fs := definitionFields(&old).restore(def.Extra, func(raw json.RawMessage) fields {
			return reread(raw, func(r *reader, c cur) fields {
				d := r.definition(c)
				d.Options.UsableAsActivity = false
				return definitionFields(d)
			})
		})
		if again(fs.raw()).equal(canonical) {
			return fs
		}
	}
	return canonical.restore(def.Extra, again)
}

// rootPath gives the nodeId's part before the root's id: as it was, or the
// designer's usual name of the workflow.
func rootPath(root *workflow.Activity) string {
	var id string
	if json.Unmarshal(root.Extra["nodeId"], &id) == nil {
		if path, ok := strings.CutSuffix(id, ":"+root.ID); ok && path != "" {
			return path
		}
	}
	return "Workflow1"
}

// activity writes an activity; path is its parent's nodeId.
func (w *writer) activity(a *workflow.Activity, path string) fields {
	nodeID := path + ":" + a.ID
	extra := a.Extra
	_, had := extra["nodeId"]
	if had {
		extra = maps.Clone(extra)
		delete(extra, "nodeId")
	}
	shallow := w.activityFields(a).restore(extra, func(raw json.RawMessage) fields {
		return reread(raw, func(r *reader, c cur) fields {
			r.types = w.types
			if again := r.activity(c); again != nil {
				return w.activityFields(again)
			}
			return fields{}
		})
	})
	var fs fields
	for _, f := range shallow.list {
		fs.set(f.name, f.raw)
		if f.name == "id" && (had || a.Place.Pointer == "") {
			fs.set("nodeId", nodeID)
		}
	}
	w.childFields(&fs, a, nodeID)
	return fs
}

// activityFields gives the canonical form of an activity without the fields that
// hold activities.
func (w *writer) activityFields(a *workflow.Activity) fields {
	var d *workflow.Descriptor
	if w.types != nil && a.Ref == nil {
		d = w.types.ByType(a.Type)
	}
	var fs fields
	fs.text("id", a.ID)
	fs.text("name", a.Name)
	fs.text("type", a.Type)
	version := a.Version
	if a.Ref != nil {
		fs.text("workflowDefinitionId", a.Ref.ID)
		fs.text("workflowDefinitionVersionId", a.Ref.VersionID)
		if version == 0 {
			version = a.Ref.Version
		}
	}
	if version != 0 {
		fs.set("version", version)
	}
	if m := custom.Write(a.CustomProperties, custom.Settings{CanStart: a.CanStart, Merge: a.MergeMode, Commit: a.CommitStrategy, Logs: a.LogPersistence}); m != nil {
		fs.set("customProperties", m)
	}
	if a.Metadata != nil {
		fs.set("metadata", a.Metadata)
	}
	for _, name := range inputOrder(a, d) {
		var want workflow.InputDescriptor
		if d != nil {
			want, _ = d.Input(name)
		}
		fs.set(inputKey(a, name), inputField(a.Inputs[name], want))
	}
	if elsas, other := waitsUnlessSaid[a.Type]; other && a.Ref == nil && a.Inputs[waitInput].IsZero() {
		fs.set(waitInput, inputField(workflow.Expression{Kind: workflow.Literal, Value: !elsas}, workflow.InputDescriptor{Type: "Boolean"}))
	}
	for _, name := range slices.Sorted(maps.Keys(a.Outputs)) {
		fs.set(outputKey(a, name), outputField(a.Outputs[name], name, d))
	}
	fs.text("start", a.Start)
	fs.text("initialState", a.Initial)
	setList(&fs, "variables", a.Variables, writeVariable)
	setList(&fs, "connections", a.Connections, writeConnection)
	return fs
}

// inputOrder lists the given inputs, those of the descriptor first.
func inputOrder(a *workflow.Activity, d *workflow.Descriptor) []string {
	var names []string
	if d != nil {
		for _, in := range d.Inputs {
			if _, ok := a.Inputs[in.Name]; ok {
				names = append(names, in.Name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.Inputs)) {
		if !slices.Contains(names, name) && !a.Inputs[name].IsZero() {
			names = append(names, name)
		}
	}
	return names
}

func inputField(e workflow.Expression, want workflow.InputDescriptor) any {
	if want.Type == "Variable" && e.Kind == workflow.VariableOf && e.Type == "" && e.Memory == "" {
		return map[string]any{"id": e.Value} // a plain property, not an Input<T>
	}
	return wrap(e, want)
}

func outputField(target, name string, d *workflow.Descriptor) fields {
	typ := "Object"
	if d != nil {
		for _, o := range d.Outputs {
			if o.Name == name && o.Type != "" {
				typ = o.Type
			}
		}
	}
	var fs fields
	fs.set("typeName", typ)
	fs.set("memoryReference", map[string]any{"id": target})
	return fs
}

// childFields adds the fields that hold activities.
func (w *writer) childFields(fs *fields, a *workflow.Activity, path string) {
	list, cases := "activities", "cases"
	if w.types != nil && a.Ref == nil {
		if d := w.types.ByType(a.Type); d != nil {
			list, cases = d.List, d.Cases
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.Ports)) {
		if p := a.Ports[name]; p != nil {
			fs.set(name, w.activity(p, path))
		}
	}
	if a.Activities != nil && list != "" {
		setList(fs, list, a.Activities, func(c *workflow.Activity) fields { return w.activity(c, path) })
	}
	if a.Cases != nil && cases != "" {
		setList(fs, cases, a.Cases, func(c workflow.Case) fields { return w.writeCase(c, cases, path) })
	}
	if a.States != nil {
		w.machine(fs, a.States, path)
	}
}

// machine writes states, and transitions in a list of their own as the designer
// keeps them.
func (w *writer) machine(fs *fields, states []workflow.State, path string) {
	transitions := []fields{}
	setList(fs, "states", states, func(s workflow.State) fields {
		out := stateFields(s).restore(s.Extra, func(raw json.RawMessage) fields {
			return reread(raw, func(r *reader, c cur) fields { return stateFields((&activityReader{reader: r}).state(c)) })
		})
		if s.Entry != nil {
			out.set("entry", w.activity(s.Entry, path))
		}
		if s.Exit != nil {
			out.set("exit", w.activity(s.Exit, path))
		}
		for _, t := range s.Transitions {
			transitions = append(transitions, w.transition(t, s.Name, path))
		}
		return out
	})
	fs.set("transitions", transitions)
}

func (w *writer) transition(t workflow.Transition, from, path string) fields {
	out := transitionFields(t).restore(t.Extra, func(raw json.RawMessage) fields {
		return reread(raw, func(r *reader, c cur) fields {
			got, _ := (&activityReader{reader: r}).transition(c)
			return transitionFields(got)
		})
	})
	out.set("from", from)
	if t.Trigger != nil {
		out.set("trigger", w.activity(t.Trigger, path))
	}
	if t.Action != nil {
		out.set("action", w.activity(t.Action, path))
	}
	return out
}
