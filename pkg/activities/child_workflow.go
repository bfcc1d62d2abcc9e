package activities

import (
	"context"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// The input keys with which a child's end resumes its parent.
const (
	childInstance = "WorkflowInstanceId"
	childStatus   = "WorkflowStatus"
	childSub      = "WorkflowSubStatus"
	childOutput   = "WorkflowOutput"
)

func childInputs(waitDefault bool) []workflow.InputDescriptor {
	return []workflow.InputDescriptor{
		{Name: "workflowDefinitionId", Type: "String", Required: true, Description: "The definition to run; its published version."},
		{Name: "correlationId", Type: "String", Description: "The child's correlation id."},
		{Name: "labels", Type: "Object", Description: "Labels by which the child is found, an object of texts; those of its own definition come over them."},
		{Name: "input", Type: "Object", Description: "The child's input, an object."},
		{Name: "waitForCompletion", Type: "Boolean", Default: waitDefault, Description: "Whether to wait for the child's end."},
		{Name: "startNewTrace", Type: "Boolean", Description: "Elsa's; has no effect."},
		{Name: "channelName", Type: "String", Description: "Elsa's; has no effect."},
	}
}

func executeWorkflow() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
			Type:     "Elsa.ExecuteWorkflow",
			NoEffect: true,
			Description: "Runs another workflow as an instance of its own and, unless told otherwise, waits for its end. " +
				"Completes with Done and the child's sub-status (Finished, Faulted, Cancelled).",
			Main:   "workflowDefinitionId",
			Inputs: childInputs(true),
			Outputs: []workflow.OutputDescriptor{
				{Name: "result", Type: "Object", Fields: bothStyles("workflowInstanceId", "status", "subStatus", "output"), Description: "The child and its end."},
			},
			AnyOutcome: true,
		}, childActivity{result: func(id string, in map[string]any) any {
			return inBothStyles(map[string]any{"workflowInstanceId": id, "status": in[childStatus], "subStatus": in[childSub], "output": in[childOutput]})
		}}
}

func dispatchWorkflow() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type:     "Elsa.DispatchWorkflow",
		NoEffect: true,
		Description: "Starts another workflow as an instance of its own and goes on, or, if told so, waits for its end. " +
			"Then it completes with Done and the child's sub-status (Finished, Faulted, Cancelled).",
		Main:   "workflowDefinitionId",
		Inputs: childInputs(false),
		Outputs: []workflow.OutputDescriptor{
			{Name: "result", Type: "Object", Description: "The child's outputs, once it ended."},
			{Name: "instanceId", Type: "String", Description: "The child's instance id."},
		},
		AnyOutcome: true,
	}, childActivity{instance: "instanceId", result: func(_ string, in map[string]any) any { return in[childOutput] }}
}

// childLabels are those with a value.
func childLabels(x *engine.Execution) map[string]string {
	var labels map[string]string
	for name, v := range x.Object("labels") {
		if text := engine.Text(v); text != "" {
			if labels == nil {
				labels = map[string]string{}
			}
			labels[name] = text
		}
	}
	return labels
}

// childActivity starts one child.
type childActivity struct {
	instance string // the output that takes the child's id; "" means none
	result   func(id string, in map[string]any) any
}

func (a childActivity) Execute(_ context.Context, x *engine.Execution) error {
	wait := x.Bool("waitForCompletion")
	id, err := x.StartChild(workflow.Start{
		DefinitionID: x.Text("workflowDefinitionId"), CorrelationID: x.Text("correlationId"), Labels: childLabels(x), Input: x.Object("input"),
	}, wait, "")
	if err != nil {
		return err
	}
	if a.instance != "" {
		x.SetOutput(a.instance, id)
	}
	if !wait {
		x.SetOutput("result", a.result(id, map[string]any{childStatus: string(workflow.StatusRunning), childSub: string(workflow.Pending)}))
	}
	return nil
}

func (a childActivity) Resume(_ context.Context, x *engine.Execution, r engine.Resume) error {
	payload, _ := r.Bookmark.Payload.(map[string]any)
	id := engine.Text(payload["childInstanceId"])
	x.SetOutput("result", a.result(id, r.Input))
	if sub := engine.Text(r.Input[childSub]); sub != "" {
		x.SetOutcomes(engine.DoneOutcome, sub)
	}
	return nil
}
