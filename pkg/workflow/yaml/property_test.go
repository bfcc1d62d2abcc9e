package yaml_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson"
	"github.com/weft-run/weft/pkg/workflow/yaml"
)

func TestEveryDefinitionComesBackFromYAML(t *testing.T) {
	t.Parallel()
	types := testTypes(t)
	rapid.Check(t, func(r *rapid.T) {
		def := (&maker{T: r, types: types}).definition()
		out, err := yaml.Write(def, types)
		if err != nil {
			r.Fatal(err)
		}
		back, problems := yaml.Read(out, "", types)
		if len(problems) > 0 {
			r.Fatalf("%v\n%s", problems, out)
		}
		if d := diff(def, back); d != "" {
			r.Fatalf("%s\n%s", d, out)
		}
	})
}

// An input may have the name of a branch: its list is not taken for one.
func TestAnInputIsNotTakenForTheBranchOfItsName(t *testing.T) {
	t.Parallel()
	types := testTypes(t)
	for _, e := range []workflow.Expression{
		{Kind: workflow.Object, Value: []any{false, nil}},
		{Kind: workflow.Object, Value: map[string]any{"writeLine": "x"}},
		workflow.Tmpl([]any{"${{ 1 }}"}),
		workflow.Tmpl(map[string]any{"writeLine": "${{ 1 }}"}),
	} {
		def := &workflow.Definition{ID: "d", Root: &workflow.Activity{ID: "a", Type: "Elsa.SendHttpRequest", Inputs: map[string]workflow.Expression{"timeout": e}}}
		out, err := yaml.Write(def, types)
		if err != nil {
			t.Fatal(err)
		}
		back, problems := yaml.Read(out, "", types)
		if len(problems) > 0 {
			t.Errorf("%v\n%s", problems, out)
			continue
		}
		if d := diff(def, back); d != "" {
			t.Errorf("%s\n%s", d, out)
		}
	}
}

func TestEveryDefinitionComesBackFromJSON(t *testing.T) {
	t.Parallel()
	types := testTypes(t)
	rapid.Check(t, func(r *rapid.T) {
		def := (&maker{T: r, types: types}).definition()
		out, err := elsajson.Write(def, types)
		if err != nil {
			r.Fatal(err)
		}
		back, problems := elsajson.Read(out, "", types)
		if len(problems) > 0 {
			r.Fatalf("%v\n%s", problems, out)
		}
		again, err := elsajson.Write(back, types)
		if err != nil || string(again) != string(out) {
			r.Fatalf("written twice, it differs: %v\n%s\n%s", err, out, again)
		}
		if d := diff(def, back); d != "" {
			r.Fatalf("%s\n%s", d, out)
		}
	})
}

func TestAWalkThroughBothNotationsLosesNothing(t *testing.T) {
	t.Parallel()
	types := testTypes(t)
	rapid.Check(t, func(r *rapid.T) {
		def := (&maker{T: r, types: types}).definition()
		for range 2 {
			asJSON, err := elsajson.Write(def, types)
			if err != nil {
				r.Fatal(err)
			}
			fromJSON, problems := elsajson.Read(asJSON, "", types)
			if len(problems) > 0 {
				r.Fatalf("%v\n%s", problems, asJSON)
			}
			asYAML, err := yaml.Write(fromJSON, types)
			if err != nil {
				r.Fatal(err)
			}
			fromYAML, problems := yaml.Read(asYAML, "", types)
			if len(problems) > 0 {
				r.Fatalf("%v\n%s", problems, asYAML)
			}
			if d := diff(def, fromYAML); d != "" {
				r.Fatalf("%s\n%s", d, asYAML)
			}
			def = fromYAML
		}
	})
}

var _ workflow.Types = workflow.Descriptors{}
