package activities

import (
	"context"
	"maps"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

func bulkDispatch() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type:     "Elsa.BulkDispatchWorkflows",
		NoEffect: true,
		Description: "Starts another workflow once for each item and goes on, or, if told so, waits for the end of all of them. " +
			"The branches childCompleted and childFaulted run for each child that ends, with the variables ChildInstanceId, ChildSubStatus and ChildOutput.",
		Main: "workflowDefinitionId",
		Inputs: append(childInputs(false),
			workflow.InputDescriptor{Name: "items", Type: "Object[]", Required: true, Null: true, Description: "The items; null is none. An object's fields are input of its child."},
			workflow.InputDescriptor{Name: "defaultItemInputKey", Type: "String", Default: "Item", Description: "The name of the input that takes an item which is no object."},
			workflow.InputDescriptor{Name: "correlationIdFunction", Type: "String", Raw: true, Description: "The correlation id of each child; the variables Item and Index are in scope."},
		),
		Outputs: []workflow.OutputDescriptor{
			{Name: "result", Type: "Object", Fields: bothStyles("dispatched", "finished", "faulted", "cancelled"), Description: "How many children."},
		},
		Gives: []workflow.OutputDescriptor{
			{Name: "ChildInstanceId", Type: "String", Description: "The child, in the branches."},
			{Name: "ChildStatus", Type: "String", Description: "Its status, in the branches."},
			{Name: "ChildSubStatus", Type: "String", Description: "Its sub-status, in the branches."},
			{Name: "ChildOutput", Type: "Object", Description: "Its outputs, in the branches."},
			{Name: "Item", Type: "Object", Description: "The item, in correlationIdFunction."},
			{Name: "Index", Type: "Int64", Description: "Its position from 0, in correlationIdFunction."},
		},
		Ports:    []string{"childCompleted", "childFaulted"},
		Outcomes: []string{engine.DoneOutcome, "Completed", "Canceled"},
	}, bulkActivity{}
}

type bulkActivity struct{}

// bulkState is what a bulk dispatch remembers. Which children are still awaited
// is told by its bookmarks, one for each: a set, not a count.
type bulkState struct {
	Items      []any             `json:"items,omitempty"` // not dispatched yet
	Index      int               `json:"index"`           // of the first of them
	Definition string            `json:"definition"`
	Common     any               `json:"common,omitempty"`
	Key        string            `json:"key"`
	Wait       bool              `json:"wait,omitempty"`
	Labels     map[string]string `json:"labels,omitempty"`
	Finished   int               `json:"finished,omitempty"`
	Faulted    int               `json:"faulted,omitempty"`
	Cancelled  int               `json:"cancelled,omitempty"`
}

func (b bulkActivity) Execute(_ context.Context, x *engine.Execution) error {
	s := engine.Scratch[bulkState](x)
	*s = bulkState{
		Items: x.List("items"), Definition: x.Text("workflowDefinitionId"), Common: x.Value("input"),
		Key: x.Text("defaultItemInputKey"), Wait: x.Bool("waitForCompletion"), Labels: childLabels(x),
	}
	if m := x.Object("input"); m != nil {
		s.Common = m
	}
	return b.dispatch(x, s)
}

// dispatch starts as many children as one commit should carry, and goes on
// after it.
func (b bulkActivity) dispatch(x *engine.Execution, s *bulkState) error {
	n := 0
	for ; n < len(s.Items) && x.Room() > 0; n++ {
		item := s.Items[n]
		input := map[string]any{}
		common, _ := s.Common.(map[string]any)
		maps.Copy(input, common)
		if m, ok := item.(map[string]any); ok {
			maps.Copy(input, m)
		} else {
			input[s.Key] = item
		}
		correlation, err := b.correlation(x, item, s.Index+n)
		if err != nil {
			return err
		}
		if _, err := x.StartChild(workflow.Start{DefinitionID: s.Definition, CorrelationID: correlation, Labels: s.Labels, Input: input}, s.Wait, ""); err != nil {
			return err
		}
	}
	s.Items, s.Index = s.Items[n:], s.Index+n
	if len(s.Items) > 0 {
		x.Yield("dispatch", true)
		return nil
	}
	b.report(x, s)
	return nil
}

func (bulkActivity) correlation(x *engine.Execution, item any, index int) (string, error) {
	if x.Given("correlationIdFunction") {
		v, err := x.EvaluateWith("correlationIdFunction", map[string]any{"Item": item, "Index": index})
		return engine.Text(v), err
	}
	return x.Text("correlationId"), nil
}

func (b bulkActivity) Resume(_ context.Context, x *engine.Execution, r engine.Resume) error {
	s := engine.Scratch[bulkState](x)
	if r.Callback == "dispatch" {
		return b.dispatch(x, s)
	}
	port := "childCompleted"
	switch workflow.SubStatus(engine.Text(r.Input[childSub])) {
	case workflow.Faulted:
		s.Faulted++
		port = "childFaulted"
	case workflow.Cancelled:
		s.Cancelled++
	default:
		s.Finished++
	}
	payload, _ := r.Bookmark.Payload.(map[string]any)
	x.Schedule(x.Node().Port(port), engine.Child{Variables: map[string]any{
		"ChildInstanceId": payload["childInstanceId"], "ChildStatus": r.Input[childStatus],
		"ChildSubStatus": r.Input[childSub], "ChildOutput": r.Input[childOutput],
	}})
	b.report(x, s)
	return nil
}

// report keeps the output and the outcomes as they are now.
func (bulkActivity) report(x *engine.Execution, s *bulkState) {
	x.SetOutput("result", inBothStyles(map[string]any{"dispatched": s.Index, "finished": s.Finished, "faulted": s.Faulted, "cancelled": s.Cancelled}))
	if s.Wait {
		x.SetOutcomes("Completed", engine.DoneOutcome)
	}
}
