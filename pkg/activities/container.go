package activities

import (
	"context"

	"github.com/weft-run/weft/pkg/activities/branch"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

func container() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type:        "Elsa.Container",
		NoEffect:    true,
		Container:   true,
		Description: "Holds activities and variables of their own; runs them one after the other.",
		List:        "activities",
	}, sequenceActivity{}
}

func compositeActivity() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type:        "Elsa.Composite",
		NoEffect:    true,
		Container:   true,
		Description: "Holds an activity and variables of its own. A Complete inside completes it, with outcomes.",
		MainPort:    "root",
		Ports:       []string{"root"},
		AnyOutcome:  true,
	}, compositeCode{}
}

type compositeCode struct{ branch.OneBranch }

func (compositeCode) Execute(_ context.Context, x *engine.Execution) error {
	x.Schedule(x.Node().Port("root"), engine.Child{})
	return nil
}

func (compositeCode) Signal(_ context.Context, x *engine.Execution, s engine.Signal) (bool, error) {
	if s.Name != engine.SignalComplete {
		return false, nil
	}
	s.Sender.Complete(s.Outcomes...)
	x.Complete(s.Outcomes...)
	return true, nil
}
