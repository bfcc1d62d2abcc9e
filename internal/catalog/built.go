package catalog

import (
	"fmt"

	"github.com/weft-run/weft/internal/catalog/notation"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// Write makes a request that publishes a definition which was built in Go, if
// its content was never published before. It is stored as YAML, as every node
// and every later version of the program can read it. A definition that holds Go
// code or other values without a JSON form is definition-invalid.
func (c *Catalog) Write(def *workflow.Definition) (PublishRequest, error) {
	if err := workflow.CheckID("the id of a definition", def.ID); err != nil {
		return PublishRequest{}, &workflow.Error{Code: workflow.CodeDefinitionInvalid, Detail: err.Error()}
	}
	if problems := valuesOf(def); len(problems) > 0 {
		return PublishRequest{}, invalid(def.ID, problems)
	}
	src, err := notation.Write(notation.YAML, def, c.types.Now().Registry)
	if err != nil {
		return PublishRequest{}, &workflow.Error{Code: workflow.CodeDefinitionInvalid, Detail: "definition " + def.ID + " cannot be written as YAML", Err: err}
	}
	return PublishRequest{Source: src, ContentType: notation.YAML.ContentType(), Publish: true, OnlyNew: true}, nil
}

// valuesOf finds the values that have no form outside of this program.
func valuesOf(def *workflow.Definition) (problems workflow.Problems) {
	check := func(v any, format string, args ...any) {
		if _, err := engine.Normalize(v); err != nil {
			problems = append(problems, workflow.Problem{Code: "not-json", Detail: fmt.Sprintf(format, args...) +
				" has no JSON form, so other nodes could not read it; put Go code into an activity type of your own"})
		}
	}
	for _, in := range def.Inputs {
		check(in.Default, "the default of input %s", in.Name)
	}
	for _, v := range def.Variables {
		check(v.Value, "the variable %s", v.Name)
	}
	if def.Root == nil {
		return problems
	}
	workflow.Walk(def.Root, func(a, _ *workflow.Activity, _ int) bool {
		for name, e := range a.Inputs {
			check(e.Value, "the input %s of the activity %s (%s)", name, a.ID, a.Type)
		}
		return true
	})
	return problems
}
