package activities

import (
	"context"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

func setOutput() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type:        "Elsa.SetOutput",
		NoEffect:    true,
		Description: "Sets an output of the workflow, or of the definition that is used as an activity.",
		Inputs: []workflow.InputDescriptor{
			{Name: "outputName", Type: "String", Required: true, Description: "The output's name."},
			{Name: "outputValue", Type: "Object", Description: "The value."},
		},
	}, setOutputActivity{}
}

type setOutputActivity struct{}

func (setOutputActivity) Execute(_ context.Context, x *engine.Execution) error {
	x.SetWorkflowOutput(x.Text("outputName"), x.Value("outputValue"))
	return nil
}
