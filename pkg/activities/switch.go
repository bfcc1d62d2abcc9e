package activities

import (
	"context"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// The modes of Switch and FlowSwitch.
const (
	matchFirst = "MatchFirst"
	matchAny   = "MatchAny"
)

func switchActivity() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type:        "Elsa.Switch",
		NoEffect:    true,
		Description: "Runs the activities of the cases whose condition holds, or the default when none does.",
		Inputs: []workflow.InputDescriptor{{
			Name: "mode", Type: "String", Default: matchFirst, Options: []string{matchFirst, matchAny},
			Description: "MatchFirst runs the first case that holds, MatchAny every one.",
		}},
		Ports:      []string{"default"},
		Cases:      "cases",
		CaseBodies: true,
	}, switchCode{}
}

type switchCode struct{ oneBranch }

func (switchCode) Execute(_ context.Context, x *engine.Execution) error {
	matched, err := matchingCases(x)
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

// matchingCases evaluates the conditions in order, as far as the mode needs.
func matchingCases(x *engine.Execution) ([]*engine.NodeCase, error) {
	var out []*engine.NodeCase
	cases := x.Node().Cases()
	for i := range cases {
		ok, err := x.Condition(&cases[i])
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, &cases[i])
			if x.Text("mode") == matchFirst {
				break
			}
		}
	}
	return out, nil
}
