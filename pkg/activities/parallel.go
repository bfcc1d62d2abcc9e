package activities

import (
	"context"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

func parallel() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type:        "Elsa.Parallel",
		NoEffect:    true,
		Container:   true,
		Description: "Starts all its activities and completes when all of them have. They take turns; none runs on a thread of its own.",
		List:        "activities",
	}, parallelActivity{}
}

type parallelActivity struct{}

func (parallelActivity) Execute(_ context.Context, x *engine.Execution) error {
	for _, n := range x.Node().List() {
		x.Schedule(n, engine.Child{})
	}
	return nil
}

func forkActivity() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type:        "Elsa.Fork",
		NoEffect:    true,
		Container:   true,
		Description: "Starts all its branches and completes when all of them have, or with the first one, which cancels the others.",
		Inputs: []workflow.InputDescriptor{{
			Name: "joinMode", Type: "String", Default: joinAll, Options: []string{joinAll, joinAny},
			Description: "WaitAll needs every branch; WaitAny completes with the first and cancels the others.",
		}},
		List: "branches",
	}, forkCode{}
}

type forkCode struct{ parallelActivity }

// forkState keeps the mode, which is evaluated once.
type forkState struct {
	Any bool `json:"any,omitempty"`
}

func (f forkCode) Execute(ctx context.Context, x *engine.Execution) error {
	engine.Scratch[forkState](x).Any = x.Text("joinMode") == joinAny
	return f.parallelActivity.Execute(ctx, x)
}

func (forkCode) ChildCompleted(_ context.Context, x *engine.Execution, done engine.Completed) error {
	switch {
	case !engine.Scratch[forkState](x).Any:
	case x.Node().LocalID() == done.Node.LocalID()+workflow.TimeoutSuffix:
		x.Complete(done.Outcomes...) // it stands for the activity that has the timeout
	default:
		x.Complete()
	}
	return nil
}
