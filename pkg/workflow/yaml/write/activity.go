package write

import (
	"maps"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml/notation"
	"github.com/weft-run/weft/pkg/workflow/yaml/wrap"
)

// activity writes an activity, leaving out the id that at would derive.
func (w *writer) activity(a *workflow.Activity, at notation.Scope) *yaml.Node {
	if core := wrap.CoreOf(w.types, a); core != a {
		m := w.mapped(core, at, at.Derive(core.Type))
		if a.Type == workflow.RetryType {
			w.retry(m, a)
			a = a.Ports[wrap.BodyPort]
		}
		if core != a {
			w.timeout(m, a)
		}
		return m
	}
	if a.Type == notation.SequenceType && a.Activities != nil && wrap.IsPlain(a) && a.Version <= 1 && len(a.Inputs) == 0 {
		if at.Port && a.ID != at.Path {
			return w.mapped(a, at, at.Derive(a.Type))
		}
		id := at.ListID()
		if a.ID == id {
			return w.children(a.Activities, at.Prefix(a.ID))
		}
		return w.mapped(a, at, id)
	}
	return w.mapped(a, at, at.Derive(a.Type))
}

func (w *writer) children(as []*workflow.Activity, prefix string) *yaml.Node {
	n := list()
	seen := map[string]int{}
	for _, a := range as {
		n.Content = append(n.Content, w.activity(a, notation.Scope{Path: prefix, Seen: seen}))
	}
	if len(as) == 0 {
		flow(n)
	}
	return n
}

func (w *writer) descriptor(a *workflow.Activity) *workflow.Descriptor {
	return wrap.TypeOf(w.types, a)
}

// mapped writes an activity as a mapping.
func (w *writer) mapped(a *workflow.Activity, at notation.Scope, derived string) *yaml.Node {
	m := mapping()
	d := w.descriptor(a)
	prefix := at.Prefix(a.ID)
	beside := mapping()
	if d != nil {
		key := d.ShortName()
		if w.types.ByShortName(key) != d {
			key = d.Type
		}
		put(m, key, w.body(a, d, prefix, beside))
	} else {
		w.free(m, a, prefix, beside)
	}
	who := mapping()
	if a.ID != "" && a.ID != derived {
		put(who, "id", text(a.ID))
	}
	putText(who, "name", a.Name)
	if v := m.Content[1]; v.Kind == yaml.ScalarNode || v.Style&yaml.FlowStyle != 0 {
		m.Content = append(m.Content, who.Content...)
	} else { // below a long value no one would find them
		m.Content = append(who.Content, m.Content...)
	}
	if a.CanStart {
		put(m, "trigger", plain("true"))
	}
	w.targets(m, a, d)
	m.Content = append(m.Content, beside.Content...)
	if len(a.Variables) > 0 {
		put(m, "variables", w.variables(a.Variables))
	}
	putText(m, "commit", a.CommitStrategy)
	putText(m, "logging", a.LogPersistence)
	putText(m, "mergeMode", a.MergeMode)
	if a.Version > 1 && a.Ref == nil {
		put(m, "version", data(a.Version))
	}
	custom := notation.WrittenProperties(a.CustomProperties)
	if a.Type == notation.FlowchartType {
		takeMode(custom)
	}
	if len(custom) > 0 {
		put(m, "customProperties", data(custom))
	}
	if meta := notation.WrittenMetadata(a.Metadata); len(meta) > 0 {
		put(m, "metadata", data(meta))
	}
	return m
}

// targets writes which variables take the outputs.
func (w *writer) targets(m *yaml.Node, a *workflow.Activity, d *workflow.Descriptor) {
	outs := maps.Clone(a.Outputs)
	maps.DeleteFunc(outs, func(_, to string) bool { return to == "" })
	var known []string
	if d != nil {
		for i, o := range d.Outputs {
			if to := outs[o.Name]; i == 0 && to != "" {
				put(m, "result", text(w.variable(to)))
				delete(outs, o.Name)
			}
			known = append(known, o.Name)
		}
	}
	n := mapping()
	for _, name := range sortedNames(outs, known, d == nil) {
		put(n, name, text(w.variable(outs[name])))
	}
	if len(n.Content) > 0 {
		put(m, "outputs", flow(n))
	}
}

// free writes an activity without a descriptor: a definition that is run, or an
// unknown type.
func (w *writer) free(m *yaml.Node, a *workflow.Activity, prefix string, beside *yaml.Node) {
	inputs := mapping()
	for _, name := range sortedNames(a.Inputs, nil, true) {
		put(inputs, name, w.expression(a.Inputs[name], workflow.InputDescriptor{}))
	}
	for _, name := range sortedNames(a.Ports, nil, true) {
		put(beside, name, w.activity(a.Ports[name], notation.Branch(prefix, name)))
	}
	if len(a.Activities) > 0 {
		put(beside, "activities", w.children(a.Activities, prefix))
	}
	ref := mapping()
	if a.Ref != nil {
		putText(ref, "id", a.Ref.ID)
		putText(ref, "versionId", a.Ref.VersionID)
		if a.Ref.Version != 0 {
			put(ref, "version", data(a.Ref.Version))
		}
		flow(ref)
	}
	var target *yaml.Node
	if len(ref.Content) > 0 {
		target = ref
		if a.Ref.ID != "" && a.Ref.VersionID == "" && a.Ref.Version == 0 {
			target = text(a.Ref.ID)
		}
	}
	if a.Ref != nil && (a.Type == notation.Pascal(a.Ref.ID) || !notation.IsDefinitionName(a.Type) || notation.Lookup(w.types, a.Type) != nil) {
		put(m, notation.WorkflowKey, target)
		if len(inputs.Content) > 0 {
			put(beside, "inputs", inputs)
		}
		return
	}
	if len(inputs.Content) == 0 {
		inputs = empty()
	}
	put(m, a.Type, inputs)
	if target != nil {
		put(m, notation.WorkflowKey, target)
	}
}
