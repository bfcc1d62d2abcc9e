package activities

import (
	"context"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

func writeLine() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type:        "Elsa.WriteLine",
		NoEffect:    true, // the node's output is a log of what ran: a burst that is repeated writes there again
		Description: "Writes a line of text to the node's output and to the journal.",
		Main:        "text",
		Inputs: []workflow.InputDescriptor{
			{Name: "text", Type: "String", Description: "The text to write."},
		},
	}, writeLineActivity{}
}

type writeLineActivity struct{}

func (writeLineActivity) Execute(_ context.Context, x *engine.Execution) error {
	x.WriteLine(x.Text("text"))
	return nil
}
