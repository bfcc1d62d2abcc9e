package activities

import (
	"context"
	"fmt"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

const (
	runTaskType = workflow.TaskType
	// The input keys of a resume.
	taskResult = "result"
	taskError  = "error"
	taskWorker = "worker" // who had claimed it; the runtime says so, and no caller
)

// TaskPayload is the hashed part of the stimulus that completes a task.
func TaskPayload(taskID string) map[string]any { return map[string]any{"taskId": taskID} }

func runTask() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type:     runTaskType,
		NoEffect: true,
		Description: "Waits for a worker outside, which claims the task by its name (POST /tasks/claim, or weft worker) and completes it with a result or an error. " +
			"An error is an incident.",
		Main: "taskName",
		Inputs: []workflow.InputDescriptor{
			{Name: "taskName", Type: "String", Required: true, Description: "The name that workers look for."},
			{Name: "payload", Type: "Object", Description: "What the worker needs to know."},
		},
		Outputs: []workflow.OutputDescriptor{
			{Name: "result", Type: "Object", Description: "What the worker reported."},
			{Name: "taskId", Type: "String", Description: "The task's id."},
		},
		Resume: []string{taskResult, taskError},
	}, runTaskActivity{}
}

type runTaskActivity struct{}

// Execute creates a bookmark whose name is the task's, whose payload is
// [TaskPayload] and whose metadata is what the worker needs to know.
func (runTaskActivity) Execute(_ context.Context, x *engine.Execution) error {
	name := x.Text("taskName")
	if err := workflow.CheckSendable("task name", name); err != nil {
		return err
	}
	id := x.NewID()
	x.SetOutput("taskId", id)
	_, err := x.Wait(engine.Wait{Name: name, Payload: TaskPayload(id), Metadata: x.Value("payload")})
	return err
}

func (runTaskActivity) Resume(_ context.Context, x *engine.Execution, r engine.Resume) error {
	if worker, ok := r.Input[taskWorker].(string); ok {
		x.Journal(workflow.TaskAnswered, "worker "+worker, map[string]any{"taskId": r.Bookmark.ID, "worker": worker})
	}
	if e, ok := r.Input[taskError]; ok && e != nil {
		return engine.BeginAgain(fmt.Errorf("task %s failed: %s", r.Bookmark.Name, engine.Text(e)))
	}
	return x.TakeOutput("result", r.Input[taskResult])
}
