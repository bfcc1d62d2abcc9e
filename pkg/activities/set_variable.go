package activities

import (
	"context"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

func setVariable() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type:        "Elsa.SetVariable",
		NoEffect:    true,
		Description: "Sets a variable.",
		Inputs: []workflow.InputDescriptor{
			{Name: "variable", Type: "Variable", Description: "The variable, by name or id.", Required: true},
			{Name: "value", Type: "Object", Description: "The value; none sets the variable to null."},
		},
	}, setVariableActivity{}
}

type setVariableActivity struct{}

func (setVariableActivity) Execute(_ context.Context, x *engine.Execution) error {
	return x.SetVariable(x.Text("variable"), x.Value("value"))
}
