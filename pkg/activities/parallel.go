package activities

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/weft-run/weft/pkg/activities/flowchart"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

func parallel() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type:        "Elsa.Parallel",
		NoEffect:    true,
		Container:   true,
		Description: "Starts all its activities and completes when all of them have. Calls to the outside are in flight together; everything else takes turns.",
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

// firstSuccess is the mode of a fork in which a branch that fails loses.
const firstSuccess = "FirstSuccess"

func forkActivity() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type:        "Elsa.Fork",
		NoEffect:    true,
		Container:   true,
		Description: "Starts all its branches and completes when all of them have, or with the first one, which cancels the others. Calls to the outside are in flight together.",
		Inputs: []workflow.InputDescriptor{{
			Name: "joinMode", Type: "String", Default: flowchart.JoinAll, Options: []string{flowchart.JoinAll, flowchart.JoinAny, firstSuccess},
			Description: "WaitAll needs every branch; WaitAny completes with the first and cancels the others; FirstSuccess too, and a branch that fails only loses: when all have failed, the fork does, with each reason.",
		}},
		List:   "branches",
		Resume: []string{},
	}, forkCode{}
}

type forkCode struct{ parallelActivity }

// forkState keeps the mode, which is evaluated once, and why branches failed.
type forkState struct {
	Any    bool     `json:"any,omitempty"`
	Wins   bool     `json:"wins,omitempty"` // a branch that fails loses
	Failed []string `json:"failed,omitempty"`
}

const (
	allFailed  = "failed" // the callback when no branch is left
	maxReason  = 300      // bytes of why one branch failed
	maxReasons = 20       // of them in the fork's own error
)

func (f forkCode) Execute(ctx context.Context, x *engine.Execution) error {
	s, mode := engine.Scratch[forkState](x), x.Text("joinMode")
	s.Any, s.Wins = mode != flowchart.JoinAll, mode == firstSuccess
	return f.parallelActivity.Execute(ctx, x)
}

// Signal takes a branch that failed out of the race.
func (forkCode) Signal(_ context.Context, x *engine.Execution, sig engine.Signal) (bool, error) {
	s := engine.Scratch[forkState](x)
	if sig.Name != engine.SignalFault || !s.Wins {
		return false, nil
	}
	why := sig.Child.Node().LocalID() + ": " + workflow.CutBytes(x.Redact(sig.Err.Error()), maxReason)
	s.Failed = append(s.Failed, why)
	x.Journal("BranchFailed", why, map[string]any{"failed": len(s.Failed), "branches": len(x.Node().List())})
	x.CancelChildren(func(k *engine.Execution) bool { return k == sig.Child })
	if len(s.Failed) >= len(x.Node().List()) {
		x.Yield(allFailed, false)
	}
	return true, nil
}

// Resume fails with all reasons. A retry begins the race again.
func (forkCode) Resume(_ context.Context, x *engine.Execution, r engine.Resume) error {
	if r.Callback != allFailed {
		return nil
	}
	failed := engine.Scratch[forkState](x).Failed
	text := fmt.Sprintf("each of the %d branches failed: %s", len(failed), strings.Join(failed[:min(len(failed), maxReasons)], "; "))
	if more := len(failed) - maxReasons; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return engine.BeginAgain(errors.New(text))
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
