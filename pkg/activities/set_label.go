package activities

import (
	"context"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

func setLabel() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type:        "Elsa.SetLabel",
		NoEffect:    true,
		Description: "Gives the running instance a label, by which people find it.",
		Inputs: []workflow.InputDescriptor{
			{Name: "name", Type: "String", Description: "The label's name.", Required: true},
			{Name: "value", Type: "String", Description: "Its value; none takes the label away."},
		},
	}, setLabelActivity{}
}

type setLabelActivity struct{}

func (setLabelActivity) Execute(_ context.Context, x *engine.Execution) error {
	return x.SetLabel(x.Text("name"), x.Text("value"))
}
