package activities

import (
	"context"

	"github.com/weft-run/weft/pkg/activities/branch"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

func ifActivity() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type:        "Elsa.If",
		NoEffect:    true,
		Description: "Runs one of two branches.",
		Main:        "condition",
		Inputs: []workflow.InputDescriptor{
			{Name: "condition", Type: "Boolean", Description: "Which branch to run.", Default: false},
		},
		Outputs:  []workflow.OutputDescriptor{{Name: "result", Type: "Boolean", Description: "The condition's value."}},
		MainPort: "then",
		Ports:    []string{"then", "else"},
		Outcomes: []string{engine.DoneOutcome, "True", "False"},
	}, ifCode{}
}

type ifCode struct{ branch.OneBranch }

func (ifCode) Execute(_ context.Context, x *engine.Execution) error {
	port, outcome := "else", "False"
	if x.Bool("condition") {
		port, outcome = "then", "True"
	}
	x.SetOutput("result", x.Bool("condition"))
	// Elsa's flowcharts connect an If by True and False as well as by Done.
	x.SetOutcomes(engine.DoneOutcome, outcome)
	x.Schedule(x.Node().Port(port), engine.Child{})
	return nil
}
