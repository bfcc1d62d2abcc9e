package flowchart

import (
	"context"

	"github.com/weft-run/weft/pkg/activities/branch"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

const flowJoinType = "Elsa.FlowJoin"

// The modes of a FlowJoin.
const (
	JoinAny       = "WaitAny"
	JoinAll       = "WaitAll"
	joinAllActive = "WaitAllActive"
)

// StartActivity is where a flowchart begins.
func StartActivity() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{Type: "Elsa.Start", NoEffect: true, Description: "Marks where a flowchart begins."}, passActivity{}
}

// EndActivity is where a way through it ends.
func EndActivity() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{Type: "Elsa.End", NoEffect: true, Description: "Ends the sequence or flowchart that it stands in.", Terminal: true}, passActivity{}
}

// Join waits for one of its ways in, or for all.
func Join() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type:        flowJoinType,
		NoEffect:    true,
		Description: "Brings branches of a flowchart together.",
		Main:        "mode",
		Inputs: []workflow.InputDescriptor{{
			Name: "mode", Type: "String", Default: JoinAny, Options: []string{JoinAny, JoinAll, joinAllActive},
			Description: "WaitAny goes on with the first branch and cancels the others; WaitAll needs every branch; WaitAllActive those that were taken.",
		}},
	}, passActivity{}
}

// passActivity completes at once; the flowchart does what there is to do.
type passActivity struct{}

func (passActivity) Execute(context.Context, *engine.Execution) error { return nil }

// Node runs a body within a flowchart.
func Node() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type:        "Elsa.FlowNode",
		NoEffect:    true,
		Description: "Holds another activity in a flowchart.",
		MainPort:    "body",
		Ports:       []string{"body"},
	}, bodyActivity{}
}

// bodyActivity runs its body once.
type bodyActivity struct{ branch.OneBranch }

func (bodyActivity) Execute(_ context.Context, x *engine.Execution) error {
	x.Schedule(x.Node().Port("body"), engine.Child{})
	return nil
}

// Decision goes one of two ways.
func Decision() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type:        "Elsa.FlowDecision",
		NoEffect:    true,
		Description: "Goes on along True or False.",
		Main:        "condition",
		Inputs:      []workflow.InputDescriptor{{Name: "condition", Type: "Boolean", Description: "Which way to go.", Default: false}},
		Outputs:     []workflow.OutputDescriptor{{Name: "result", Type: "Boolean", Description: "The condition's value."}},
		Outcomes:    []string{"True", "False"},
	}, flowDecisionActivity{}
}

type flowDecisionActivity struct{}

func (flowDecisionActivity) Execute(_ context.Context, x *engine.Execution) error {
	outcome := "False"
	if x.Bool("condition") {
		outcome = "True"
	}
	x.SetOutput("result", x.Bool("condition"))
	x.SetOutcomes(outcome)
	return nil
}

// Fork goes several ways at once.
func Fork() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type:        "Elsa.FlowFork",
		NoEffect:    true,
		Description: "Goes on along several branches at once; each branch's name is a port.",
		Main:        "branches",
		Inputs:      []workflow.InputDescriptor{{Name: "branches", Type: "String[]", Description: "The names of the branches; an empty list goes nowhere, none at all along Done."}},
		AnyOutcome:  true,
	}, flowForkActivity{}
}

type flowForkActivity struct{}

// nowhere is an outcome that no connection follows: one without a port follows Done.
const nowhere = ""

func (flowForkActivity) Execute(_ context.Context, x *engine.Execution) error {
	branches := x.Texts("branches")
	if len(branches) == 0 && x.Value("branches") != nil {
		branches = []string{nowhere}
	}
	x.SetOutcomes(branches...)
	return nil
}

// Switch goes the ways of the cases that match.
func Switch() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type:        "Elsa.FlowSwitch",
		NoEffect:    true,
		Description: "Goes on along the cases whose condition holds; each case's label is a port, and Default is taken when none does.",
		Inputs: []workflow.InputDescriptor{{
			Name: "mode", Type: "String", Default: branch.MatchFirst, Options: []string{branch.MatchFirst, branch.MatchAny},
			Description: "MatchFirst takes the first case that holds, MatchAny every one.",
		}},
		Cases:      "cases",
		AnyOutcome: true,
	}, flowSwitchActivity{}
}

type flowSwitchActivity struct{}

func (flowSwitchActivity) Execute(_ context.Context, x *engine.Execution) error {
	matched, err := branch.MatchingCases(x)
	if err != nil {
		return err
	}
	var outcomes []string
	for _, c := range matched {
		outcomes = append(outcomes, c.Label)
	}
	if len(outcomes) == 0 {
		outcomes = []string{"Default"}
	}
	x.SetOutcomes(outcomes...)
	return nil
}
