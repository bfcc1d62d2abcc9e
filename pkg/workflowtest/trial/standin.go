package trial

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

// withStandIns gives the registry of cfg, with the types that its definitions use, that it
// does not have, and that are mocked: an activity of another program can be tested around.
func withStandIns(cfg Config) (*engine.Registry, error) {
	types := map[string]*workflow.Descriptor{}
	for _, file := range append([]string{cfg.File}, cfg.OtherFiles...) {
		if file == "" {
			continue
		}
		src, err := cfg.bounds.read(file)
		if err != nil {
			continue // it is read again, and reported
		}
		v, err := yaml.Value(src) // JSON is YAML too
		if err != nil {
			continue
		}
		for _, s := range strangers(v, cfg.Registry) {
			if mock := s.mock(cfg.Mocks); mock != nil {
				s.describe(types, mock)
			}
		}
	}
	if len(types) == 0 {
		return cfg.Registry, nil
	}
	registry := cfg.Registry.Wrapped(func(_ *workflow.Descriptor, a engine.Activity) engine.Activity { return a })
	for _, typ := range slices.Sorted(maps.Keys(types)) {
		if err := registry.Register(*types[typ], standIn{typ}); err != nil {
			return nil, err
		}
	}
	return registry, nil
}

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

// mock is what replaces it; nil if nothing does.
func (s stranger) mock(mocks Mocks) Mock {
	for name, m := range mocks {
		if slices.Contains(s.names, name) || strings.EqualFold(name, s.typ) {
			return m
		}
	}
	return nil
}

// describe adds what is known of the type.
func (s stranger) describe(types map[string]*workflow.Descriptor, mock Mock) {
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
	outputs := s.outputs
	for _, reply := range mock.known() {
		outputs = slices.AppendSeq(outputs, maps.Keys(reply.Outputs))
		s.result = s.result || reply.Result != nil
	}
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
