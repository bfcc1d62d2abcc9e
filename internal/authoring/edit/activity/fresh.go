package activity

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weft-run/weft/internal/authoring/edit/text"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson"
	"github.com/weft-run/weft/pkg/workflow/yaml"
)

// Fresh is an activity that is not there yet.
type Fresh struct {
	Type, ID string
	Inputs   map[string]any
}

// Check refuses a type that is not known, and inputs that it does not have.
func (d *Sites) Check(f Fresh) (*workflow.Descriptor, error) {
	if f.ID != "" {
		if err := workflow.CheckID("id", f.ID); err != nil {
			return nil, text.Bad("%v", err)
		}
		if slices.ContainsFunc(d.Order, func(s *Site) bool { return s.Activity.ID == f.ID }) {
			return nil, text.Bad("there is an activity %q already", workflow.Shorten(f.ID))
		}
	}
	if f.Type == "workflow" && !d.JSON {
		return nil, nil
	}
	t := d.Types.ByShortName(f.Type)
	if t == nil {
		t = d.Types.ByType(f.Type)
	}
	if t == nil {
		var names []string
		for _, k := range d.Types.All() {
			names = append(names, k.ShortName())
		}
		return nil, text.Bad("there is no activity type %q%s", workflow.Shorten(f.Type), workflow.DidYouMean(f.Type, names))
	}
	for _, name := range slices.Sorted(maps.Keys(f.Inputs)) {
		if in, ok := t.Input(name); !ok || in.Name != name {
			var names []string
			for _, in := range t.Inputs {
				names = append(names, in.Name)
			}
			return nil, text.Bad("%s has no input %q%s", t.ShortName(), workflow.Shorten(name), workflow.DidYouMean(name, names))
		}
	}
	return t, nil
}

// YAML writes an activity in lines that begin at the first column; between brackets it is one.
func (d *Sites) YAML(f Fresh, flow bool) (string, error) {
	t, err := d.Check(f)
	if err != nil {
		return "", err
	}
	name := f.Type
	if t != nil {
		name = t.ShortName()
	}
	key, err := text.Value(name, text.InFlow)
	if err != nil {
		return "", err
	}
	body, err := inputsOf(t, f, flow)
	if err != nil {
		return "", err
	}
	if body != "" && body[0] != '\n' {
		body = " " + body
	}
	var parts []string
	if f.ID != "" {
		id, err := text.Value(f.ID, text.InFlow)
		if err != nil {
			return "", err
		}
		parts = append(parts, "id: "+id)
	}
	parts = append(parts, key+":"+body)
	if flow {
		return "{" + strings.Join(parts, ", ") + "}", nil
	}
	return strings.Join(parts, "\n"), nil
}

// inputsOf writes the inputs of a new activity behind its type.
func inputsOf(t *workflow.Descriptor, f Fresh, flow bool) (body string, err error) {
	inputs := slices.Sorted(maps.Keys(f.Inputs))
	if t != nil && len(inputs) == 1 && inputs[0] == t.Main && !structured(f.Inputs[t.Main]) {
		if body, err = text.Value(f.Inputs[t.Main], text.Between(flow)); err != nil {
			return "", err
		}
		inputs = nil
	}
	switch {
	case len(inputs) > 0 && flow:
		if body, err = text.Value(f.Inputs, text.InFlow); err != nil {
			return "", err
		}
	case len(inputs) > 0:
		for _, in := range inputs {
			v, err := text.Value(f.Inputs[in], text.InBlock)
			if err != nil {
				return "", err
			}
			k, err := text.Value(in, text.InFlow)
			if err != nil {
				return "", err
			}
			body += "\n  " + k + ": " + strings.ReplaceAll(v, "\n", "\n  ")
		}
	case body == "" && t != nil && t.List != "":
		body = "[]"
	}
	return body, nil
}

func structured(v any) bool {
	switch v.(type) {
	case []any, map[string]any:
		return true
	}
	return false
}

// Elsa makes an activity as Elsa's JSON has it.
func (d *Sites) Elsa(f Fresh) (map[string]json.RawMessage, error) {
	t, err := d.Check(f)
	if err != nil {
		return nil, err
	}
	inputs := f.Inputs
	if inputs == nil {
		inputs = map[string]any{}
	}
	return d.Exported(map[string]any{t.ShortName(): inputs, "id": f.ID})
}

// Exported gives the fields that an activity, as YAML has it, gets in Elsa's JSON.
func (d *Sites) Exported(activity map[string]any) (map[string]json.RawMessage, error) {
	raw, err := json.Marshal(map[string]any{"id": "x", "root": []any{activity}})
	if err != nil {
		return nil, text.Bad("this is no value of JSON: %v", err)
	}
	def, problems := yaml.Read(raw, "", d.Types)
	if len(problems) > 0 {
		return nil, text.Bad("%s", problems[0].Detail)
	}
	if def.Root == nil || len(def.Root.Activities) != 1 {
		return nil, text.Bad("this cannot be written in Elsa's JSON")
	}
	workflow.Walk(def.Root, func(a, _ *workflow.Activity, _ int) bool {
		a.Place.Pointer = "/" // one that was read so gets no nodeId: it is made of the places above
		return true
	})
	out, err := elsajson.Write(&workflow.Definition{ID: "x", Root: def.Root.Activities[0]}, d.Types)
	if err != nil {
		return nil, fmt.Errorf("write an activity as Elsa's JSON: %w", err)
	}
	var whole struct{ Root map[string]json.RawMessage }
	if err := json.Unmarshal(out, &whole); err != nil {
		return nil, fmt.Errorf("write an activity as Elsa's JSON: %w", err)
	}
	return whole.Root, nil
}
