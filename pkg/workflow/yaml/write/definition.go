package write

import (
	"bytes"
	"errors"
	"maps"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml/notation"
	"github.com/weft-run/weft/pkg/workflow/yaml/tree"
)

// Definition writes a definition as YAML. Equal definitions give equal bytes. What YAML leaves
// out is lost.
func Definition(def *workflow.Definition, types workflow.Types) ([]byte, error) {
	if def == nil {
		return nil, errors.New("yaml: no definition")
	}
	if types == nil {
		types = workflow.Descriptors{}
	}
	w := &writer{types: types, names: variableNames(def)}
	var b bytes.Buffer
	d, err := yaml.NewDumper(&b, yaml.WithIndent(2), yaml.WithCompactSeqIndent(false), yaml.WithLineWidth(-1))
	if err != nil {
		return nil, err
	}
	if err := d.Dump(w.definition(def)); err != nil {
		return nil, err
	}
	if err := d.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// writer makes nodes of the domain's types.
type writer struct {
	types workflow.Types
	names map[string]string // variable id → name, where the name says it all
}

// variableNames finds the variables that a name is enough for: no other variable
// of the definition has it.
func variableNames(def *workflow.Definition) map[string]string {
	owners := map[string]int{}
	names := map[string]string{}
	collect := func(vs []workflow.Variable) {
		for _, v := range vs {
			owners[v.Name]++
			if v.ID != "" && v.Name != "" {
				names[v.ID] = v.Name
			}
		}
	}
	collect(def.Variables)
	if def.Root != nil {
		workflow.Walk(def.Root, func(a, _ *workflow.Activity, _ int) bool {
			collect(a.Variables)
			return true
		})
	}
	maps.DeleteFunc(names, func(id, name string) bool { return owners[name] > 1 || owners[id] > 0 && id != name })
	return names
}

// variable gives the name that YAML uses for a variable's id or name.
func (w *writer) variable(ref string) string {
	if name := w.names[ref]; name != "" {
		return name
	}
	return ref
}

func (w *writer) definition(d *workflow.Definition) *yaml.Node {
	m := mapping()
	putText(m, "id", d.ID)
	putText(m, "name", d.Name)
	putText(m, "description", d.Description)
	if len(d.Inputs) > 0 {
		put(m, "inputs", writeInputs(d.Inputs))
	}
	if len(d.Variables) > 0 {
		put(m, "variables", w.variables(d.Variables))
	}
	if len(d.Outputs) > 0 {
		put(m, "outputs", w.outputs(d.Outputs))
	}
	if len(d.Outcomes) > 0 {
		n := list()
		for _, o := range d.Outcomes {
			n.Content = append(n.Content, text(o))
		}
		put(m, "outcomes", flow(n))
	}
	if len(d.Labels) > 0 {
		n := mapping()
		for _, name := range slices.Sorted(maps.Keys(d.Labels)) {
			put(n, name, w.expression(d.Labels[name], notation.Label))
		}
		put(m, "labels", n)
	}
	custom := maps.Clone(d.CustomProperties)
	maps.DeleteFunc(custom, func(k string, v any) bool {
		list, ok := v.([]any)
		return v == nil || ok && len(list) == 0
	})
	options := d.Options
	if options.Calls == "" && w.turns(d.Root) {
		options.Calls = "turns"
	}
	if o := writeOptions(options, takeMode(custom)); len(o.Content) > 0 {
		put(m, "options", o)
	}
	if len(custom) > 0 {
		put(m, "customProperties", data(custom))
	}
	if d.Root != nil {
		put(m, "root", w.activity(d.Root, notation.Scope{ID: "root", Root: true}))
	}
	return m
}

// turns tells whether two calls below a take turns, which they would not in YAML, and none runs beside others.
func (w *writer) turns(a *workflow.Activity) bool {
	calls, beside := 0, false
	if a != nil {
		workflow.Walk(a, func(a, _ *workflow.Activity, _ int) bool {
			if d := w.types.ByType(a.Type); d != nil && d.Asks != "" {
				calls, beside = calls+1, beside || !a.TakesTurns()
			}
			return !beside
		})
	}
	return calls > 1 && !beside
}

// takeMode takes the flowchart engine's setting out of custom properties.
func takeMode(m map[string]any) string {
	for name, v := range notation.Modes {
		if m[notation.ModeProperty] == v {
			delete(m, notation.ModeProperty)
			return name
		}
	}
	return ""
}

func writeOptions(o workflow.Options, mode string) *yaml.Node {
	m := mapping()
	putText(m, "activation", o.ActivationStrategy)
	putText(m, "incidents", o.IncidentStrategy)
	putText(m, "commit", o.CommitStrategy)
	putText(m, "commitInterval", o.CommitInterval)
	putText(m, "calls", o.Calls)
	if o.UsableAsActivity {
		put(m, "usableAsActivity", plain("true"))
	}
	if o.AutoUpdate {
		put(m, "autoUpdate", plain("true"))
	}
	if o.AdditionalInputs {
		put(m, "additionalInputs", plain("true"))
	}
	putText(m, "catchUp", o.CatchUp)
	putText(m, "logging", o.LogPersistence)
	putText(m, "flowcharts", mode)
	return m
}

// declaration writes {type, …} on one line, or the type alone.
func declaration(typ string, m *yaml.Node) *yaml.Node {
	switch {
	case len(m.Content) == 0 && typ == "":
		return empty()
	case len(m.Content) == 0:
		return text(typ)
	}
	n := mapping()
	putText(n, "type", typ)
	n.Content = append(n.Content, m.Content...)
	if isSmall(n) {
		flow(n)
	}
	return n
}

func writeInputs(ins []workflow.Input) *yaml.Node {
	out := mapping()
	for _, in := range ins {
		m := mapping()
		if in.Required {
			put(m, "required", plain("true"))
		}
		if in.Default != nil {
			put(m, "default", data(in.Default))
		}
		putText(m, "description", in.Description)
		putText(m, "storage", in.StorageDriver)
		put(out, in.Name, declaration(notation.WriteType(in.Type, in.IsArray), m))
	}
	return out
}

func (w *writer) variables(vs []workflow.Variable) *yaml.Node {
	out := mapping()
	for _, v := range vs {
		m := mapping()
		if v.Value != nil {
			put(m, "value", data(v.Value))
		}
		putText(m, "storage", v.StorageDriver)
		name := v.Name
		if name == "" {
			name = v.ID
		} else if v.ID != "" && w.names[v.ID] == "" {
			put(m, "id", text(v.ID))
		}
		if isObvious(v) && len(m.Content) == 2 {
			put(out, name, data(v.Value))
			continue
		}
		put(out, name, declaration(notation.WriteType(v.Type, v.IsArray), m))
	}
	return out
}

// isObvious tells whether a variable's value tells its type.
func isObvious(v workflow.Variable) bool {
	if v.IsArray {
		return false
	}
	switch v.Value.(type) {
	case bool:
		return v.Type == "Boolean"
	case float64, int64:
		return v.Type == "Double"
	}
	return false
}

func (w *writer) outputs(os []workflow.Output) *yaml.Node {
	out := mapping()
	for _, o := range os {
		typ := notation.WriteType(o.Type, o.IsArray)
		m := mapping()
		var value *yaml.Node
		if o.Value != nil && !o.Value.IsZero() {
			value = w.expression(*o.Value, workflow.InputDescriptor{})
			put(m, "value", value)
		}
		putText(m, "description", o.Description)
		switch {
		case typ == "" && len(m.Content) == 2 && value != nil && !notation.Declares(value) && !(tree.IsText(value) && notation.IsTypeName(value.Value)):
			put(out, o.Name, value)
		case typ != "" && len(m.Content) == 0 && !notation.IsTypeName(typ):
			put(out, o.Name, flow(single("type", text(typ))))
		default:
			put(out, o.Name, declaration(typ, m))
		}
	}
	return out
}

// sortedNames lists the keys of a map that are among known in that order, and
// then, if rest, the others.
func sortedNames[V any](m map[string]V, known []string, rest bool) []string {
	var out []string
	for _, k := range known {
		if _, ok := m[k]; ok && !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	if rest {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !slices.Contains(known, k) {
				out = append(out, k)
			}
		}
	}
	return out
}
