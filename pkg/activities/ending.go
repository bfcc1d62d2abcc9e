package activities

import (
	"context"
	"strings"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

func breakActivity() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type: "Elsa.Break", NoEffect: true, Terminal: true,
		Description: "Leaves the nearest loop; outside a loop, ends the sequences and the flowchart around it.",
	}, breakCode{}
}

type breakCode struct{}

func (breakCode) Execute(ctx context.Context, x *engine.Execution) error {
	x.Complete()
	_, err := x.Send(ctx, engine.Signal{Name: engine.SignalBreak})
	return err
}

func complete() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type: "Elsa.Complete", NoEffect: true, Terminal: true, Main: "outcomes",
		Description: "Completes the enclosing composite activity, definition or workflow, with outcomes.",
		Inputs:      []workflow.InputDescriptor{{Name: "outcomes", Type: "Object", Description: "An outcome, or a list of them."}},
	}, completeCode{}
}

type completeCode struct{}

func (completeCode) Execute(ctx context.Context, x *engine.Execution) error {
	var outcomes []string
	switch v := x.Value("outcomes").(type) {
	case nil:
	case []any:
		for _, o := range v {
			outcomes = append(outcomes, engine.Text(o))
		}
	case string:
		if list, err := engine.Convert(v, "String[]"); err == nil && strings.HasPrefix(strings.TrimSpace(v), "[") {
			for _, o := range list.([]any) {
				outcomes = append(outcomes, engine.Text(o))
			}
		} else if v != "" {
			outcomes = []string{v}
		}
	default:
		outcomes = []string{engine.Text(v)}
	}
	x.SetOutcomes(outcomes...)
	_, err := x.Send(ctx, engine.Signal{Name: engine.SignalComplete, Outcomes: outcomes})
	return err
}

func finish() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type: "Elsa.Finish", NoEffect: true, Terminal: true,
		Description: "Finishes the whole instance at once; all that still runs or waits is cancelled.",
	}, finishCode{}
}

type finishCode struct{}

// Prepare refuses it in what undoes: the rest would not be undone, and what failed would be forgotten.
func (finishCode) Prepare(p *engine.Preparation) {
	for n := p.Node; n.Parent() != nil; n = n.Parent() {
		if n.Parent().Port(workflow.UndoPort) == n {
			p.Problem("finish-in-undo", workflow.Place{}, "a finish in the undo of %s would end the instance with the rest not undone; an undo ends by itself", n.Parent().LocalID())
			return
		}
	}
}

func (finishCode) Execute(_ context.Context, x *engine.Execution) error {
	x.Complete()
	x.FinishInstance()
	return nil
}

func fault() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type: "Elsa.Fault", NoEffect: true, Main: "message",
		Description: "Raises an incident.",
		Inputs: []workflow.InputDescriptor{
			{Name: "message", Type: "String", Description: "What is wrong."},
			{Name: "code", Type: "String", Description: "A code for programs."},
			{Name: "category", Type: "String", Description: "What kind of fault it is, such as HTTP."},
			{Name: "faultType", Type: "String", Description: "The type, such as System."},
			{Name: "final", Type: "Boolean", Description: "The instance has failed for good: no retry around it tries again, what runs beside it stops, and a retry by an operator is refused unless it says `again`."},
		},
	}, faultCode{}
}

func fail() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type: "Elsa.Fail", NoEffect: true, Main: "message",
		Description: "Ends the instance as failed for good, as a final Fault does: what was done is undone, no retry around it tries again, what runs beside it stops, and a retry by an operator is refused unless it says `again`.",
		Inputs: []workflow.InputDescriptor{
			{Name: "message", Type: "String", Description: "What is wrong."},
			{Name: "code", Type: "String", Description: "A code for programs."},
			{Name: "category", Type: "String", Description: "What kind of failure it is."},
		},
	}, failCode{}
}

type failCode struct{}

func (failCode) Execute(_ context.Context, x *engine.Execution) error {
	return &engine.FaultError{Code: x.Text("code"), Category: x.Text("category"), Message: x.Text("message"), Final: true}
}

type faultCode struct{}

func (faultCode) Execute(_ context.Context, x *engine.Execution) error {
	return &engine.FaultError{Code: x.Text("code"), Category: x.Text("category"), Type: x.Text("faultType"), Message: x.Text("message"), Final: x.Bool("final")}
}
