package activities

import (
	"context"

	"github.com/weft-run/weft/pkg/activities/branch"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

func switchActivity() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type:        "Elsa.Switch",
		NoEffect:    true,
		Description: "Runs the activities of the cases whose condition holds, or the default when none does.",
		Inputs: []workflow.InputDescriptor{{
			Name: "mode", Type: "String", Default: branch.MatchFirst, Options: []string{branch.MatchFirst, branch.MatchAny},
			Description: "MatchFirst runs the first case that holds, MatchAny every one.",
		}},
		Ports:      []string{"default"},
		Cases:      "cases",
		CaseBodies: true,
	}, switchCode{}
}

type switchCode struct{ branch.OneBranch }

func (switchCode) Execute(_ context.Context, x *engine.Execution) error {
	matched, err := branch.MatchingCases(x)
	if err != nil {
		return err
	}
	for _, c := range matched {
		x.Schedule(c.Node, engine.Child{})
	}
	if len(matched) == 0 {
		x.Schedule(x.Node().Port("default"), engine.Child{})
	}
	return nil
}
