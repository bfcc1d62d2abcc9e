package standin

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml"
)

// stranger is an activity of a type that this program does not have: what its author
// wrote, and what its mock gives, is all that is known of the type.
type stranger struct {
	typ     string
	names   []string // by which it may be mocked
	inputs  []string
	scalar  bool // one value stands behind the type
	outputs []string
	result  bool // the first output goes somewhere
}

// scalarInput is the name of the input that stands alone behind an unknown type.
const scalarInput = "value"

var dotted = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)+$`)

// Gives is what the mock of an activity gives, as far as it is known before it runs.
type Gives struct {
	Result  bool     // the first output
	Outputs []string // by their names
}

// Types are the activities of types that are not among known and that a definition's source uses, as a value of YAML or
// JSON; mocked is asked for each with the names by which it may be mocked and its type: false leaves it out. into has them
// by their types in lower case.
func Types(into map[string]*workflow.Descriptor, source any, known workflow.Types, mocked func(names []string, typ string) (Gives, bool)) {
	for _, s := range strangers(source, known) {
		if gives, ok := mocked(s.names, s.typ); ok {
			s.describe(into, gives)
		}
	}
}

// Activity is the code of a type that this program does not have: it says so, if it is reached.
func Activity(typ string) engine.Activity { return standIn{typ} }

// strangers finds the activities of unknown types in a source: a key with a dot that
// names no type, in YAML, or such a type, in JSON.
func strangers(v any, known workflow.Types) (out []stranger) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			out = append(out, strangers(item, known)...)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if dotted.MatchString(key) && known.ByType(key) == nil {
				out = append(out, inYAML(v, key))
			}
			out = append(out, strangers(v[key], known)...)
		}
		if typ, ok := v["type"].(string); ok && dotted.MatchString(typ) && known.ByType(typ) == nil {
			out = append(out, inJSON(v, typ))
		}
	}
	return out
}

func inYAML(m map[string]any, typ string) stranger {
	s := stranger{typ: typ, names: namesIn(m, typ), result: m["result"] != nil}
	switch body := m[typ].(type) {
	case nil:
	case map[string]any:
		s.inputs = slices.Collect(maps.Keys(body))
	default:
		s.scalar = true
	}
	common := yaml.CommonKeys()
	for key := range m {
		if key != typ && (key == "variables" || !slices.Contains(common, key)) {
			s.inputs = append(s.inputs, key)
		}
	}
	if outputs, ok := m["outputs"].(map[string]any); ok {
		s.outputs = slices.Collect(maps.Keys(outputs))
	}
	return s
}

func inJSON(m map[string]any, typ string) stranger {
	s := stranger{typ: typ, names: namesIn(m, typ)}
	for key, v := range m {
		field, _ := v.(map[string]any)
		switch {
		case field["expression"] != nil:
			s.inputs = append(s.inputs, key)
		case field["memoryReference"] != nil:
			s.outputs = append(s.outputs, key)
		}
	}
	return s
}

func namesIn(m map[string]any, typ string) []string {
	names := []string{typ}
	for _, key := range []string{"id", "name"} {
		if name, ok := m[key].(string); ok {
			names = append(names, name)
		}
	}
	return names
}

// describe adds what is known of the type.
func (s stranger) describe(types map[string]*workflow.Descriptor, gives Gives) {
	d := types[strings.ToLower(s.typ)]
	if d == nil {
		d = &workflow.Descriptor{Type: s.typ, Description: "An activity that only another program has.", AnyOutcome: true}
		types[strings.ToLower(s.typ)] = d
	}
	if s.scalar {
		d.Main = scalarInput
		s.inputs = append(s.inputs, scalarInput)
	}
	slices.Sort(s.inputs)
	for _, name := range s.inputs {
		if _, ok := d.Input(name); !ok {
			d.Inputs = append(d.Inputs, workflow.InputDescriptor{Name: name, Type: "Object"})
		}
	}
	outputs := append(s.outputs, gives.Outputs...)
	s.result = s.result || gives.Result
	slices.Sort(outputs)
	if s.result && (len(d.Outputs) == 0 || d.Outputs[0].Name != "result") {
		d.Outputs = append([]workflow.OutputDescriptor{{Name: "result", Type: "Object"}}, d.Outputs...)
	}
	for _, name := range outputs {
		if !slices.ContainsFunc(d.Outputs, func(o workflow.OutputDescriptor) bool { return strings.EqualFold(o.Name, name) }) {
			d.Outputs = append(d.Outputs, workflow.OutputDescriptor{Name: name, Type: "Object"})
		}
	}
}

// standIn is the code of a type that this program does not have.
type standIn struct{ typ string }

// Execute is not reached where the activity is mocked.
func (s standIn) Execute(context.Context, *engine.Execution) error {
	return fmt.Errorf("this program has no activity %s: mock it", s.typ)
}
