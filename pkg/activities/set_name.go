package activities

import (
	"context"
	"errors"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

func setName() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type:        "Elsa.SetName",
		NoEffect:    true,
		Description: "Names the running instance.",
		Main:        "value",
		Inputs:      []workflow.InputDescriptor{{Name: "value", Type: "String", Description: "The name."}},
	}, setNameActivity{}
}

type setNameActivity struct{}

func (setNameActivity) Execute(_ context.Context, x *engine.Execution) error {
	name := x.Text("value")
	if err := workflow.CheckName("name", name); err != nil {
		return err
	}
	x.SetInstanceName(name)
	return nil
}

func correlate() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type:        "Elsa.Correlate",
		NoEffect:    true,
		Description: "Gives the running instance a correlation id, by which events find it.",
		Main:        "correlationId",
		Inputs:      []workflow.InputDescriptor{{Name: "correlationId", Type: "String", Description: "The correlation id.", Required: true}},
	}, correlateActivity{}
}

type correlateActivity struct{}

func (correlateActivity) Execute(_ context.Context, x *engine.Execution) error {
	id := x.Text("correlationId")
	if id == "" && x.Computed("correlationId") {
		return errors.New("correlationId came out empty, and no event would find the instance by it: see why its expression gives nothing")
	}
	return x.SetCorrelationID(id)
}
