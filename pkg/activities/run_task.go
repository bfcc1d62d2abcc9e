package activities

import (
	"context"
	"fmt"
	"time"

	"github.com/weft-run/weft/pkg/activities/retry"
	"github.com/weft-run/weft/pkg/activities/taskjournal"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/task"
)

const (
	runTaskType = workflow.TaskType
	// The input keys of a resume that anybody may give.
	taskResult = "result"
	taskError  = task.Error

	mostTaskTime = 3660 * 24 * time.Hour // of its limits
)

// TaskPayload is the hashed part of the stimulus that completes a task.
func TaskPayload(taskID string) map[string]any { return map[string]any{"taskId": taskID} }

func runTask() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type:     runTaskType,
		NoEffect: true,
		Description: "Waits for a worker outside, which claims the task by its name (POST /tasks/claim, or weft worker) and completes it with a result or an error. " +
			"An error is an incident. With a retry beside it the worker's failures, and leases that end, are attempts of that: the task comes again after the pause.",
		Main: "taskName",
		Inputs: []workflow.InputDescriptor{
			{Name: "taskName", Type: "String", Required: true, Description: "The name that workers look for."},
			{Name: "payload", Type: "Object", Description: "What the worker needs to know."},
			{Name: "priority", Type: "Int64", Description: "From 0 to 9, the most urgent; 5, if it is not given. A step counts as much as an hour of waiting."},
			{Name: "fairBy", Type: "String", Description: "Such as a customer: tasks of the definition take turns by its values, so that many of one do not keep those of others waiting. Up to 256 bytes."},
			{Name: "claimWithin", Type: "TimeSpan", Positive: true, Description: "How long it may wait for its first claim; after that it has failed, as unclaimed."},
			{Name: "doneWithin", Type: "TimeSpan", Positive: true, Description: "How long after its first claim it is to be done, with all attempts that free it; after that it has failed, as overdue."},
		},
		Outputs: []workflow.OutputDescriptor{
			{Name: "result", Type: "Object", Description: "What the worker reported."},
			{Name: "taskId", Type: "String", Description: "The task's id."},
		},
		Resume: []string{taskResult, taskError},
	}, runTaskActivity{}
}

type runTaskActivity struct{}

// taskTimes are the inputs that limit how long a task takes.
var taskTimes = []string{"claimWithin", "doneWithin"}

func checkTaskTime(name string, d time.Duration) error {
	if d > mostTaskTime {
		return fmt.Errorf("%s is %v; it may be up to %v, ten years", name, d, mostTaskTime)
	}
	return nil
}

func checkPriority(v any) error {
	if n, ok := v.(int64); !ok || n < 0 || n > task.MostPriority {
		return fmt.Errorf("priority is %v; it is a whole number from 0 to %d", v, task.MostPriority)
	}
	return nil
}

func (runTaskActivity) Prepare(p *engine.Preparation) {
	if v, ok := p.Constant("priority"); ok && v != nil {
		if err := checkPriority(v); err != nil {
			p.Problem("bad-literal", p.Place("priority"), "%v", err)
		}
	}
	for _, name := range taskTimes {
		v, _ := p.Constant(name)
		if d, ok := v.(time.Duration); ok {
			if err := checkTaskTime(name, d); err != nil {
				p.Problem("bad-literal", p.Place(name), "%v", err)
			}
		}
	}
}

// Execute creates a bookmark whose name is the task's, whose payload is
// [TaskPayload] with the terms of the task, and whose metadata is what the worker needs to know.
func (runTaskActivity) Execute(_ context.Context, x *engine.Execution) error {
	name := x.Text("taskName")
	if err := workflow.CheckSendable("task name", name); err != nil {
		return err
	}
	if name == task.UserName {
		return fmt.Errorf("the task name %s is that of tasks for people: use userTask, or another name", name)
	}
	id := x.NewID()
	x.SetOutput("taskId", id)
	terms, err := termsOf(x)
	if err != nil {
		return err
	}
	_, err = x.Wait(engine.Wait{Name: name, Payload: terms.Into(TaskPayload(id)), Metadata: x.Value("payload")})
	return err
}

// termsOf is how the task is to be done.
func termsOf(x *engine.Execution) (t task.Terms, err error) {
	if v := x.Value("priority"); v != nil {
		if err := checkPriority(v); err != nil {
			return t, err
		}
		t.Above = x.Int("priority") - task.UsualPriority
	}
	if t.FairBy = x.Text("fairBy"); t.FairBy != "" {
		if err := workflow.CheckName("fairBy", t.FairBy); err != nil {
			return t, err
		}
	}
	for i, to := range []*time.Duration{&t.ClaimWithin, &t.DoneWithin} {
		*to = x.Duration(taskTimes[i])
		if err := checkTaskTime(taskTimes[i], *to); err != nil {
			return t, err
		}
	}
	if s := retry.Of(x); s != nil {
		t.Attempt, t.Failed = s.Attempt, workflow.CutBytes(s.Last, taskjournal.MostFailed)
	}
	return t, nil
}

func (runTaskActivity) Resume(_ context.Context, x *engine.Execution, r engine.Resume) error {
	e := r.Input[taskError]
	taskjournal.Answer(x, &r, e != nil)
	if e == nil {
		return x.TakeOutput("result", r.Input[taskResult])
	}
	err := fmt.Errorf("task %s failed: %s", r.Bookmark.Name, engine.Text(e))
	if final, _ := r.Input[task.Final].(bool); final && retry.Of(x) != nil {
		err = &retry.LastingError{Err: err}
	}
	return engine.BeginAgain(err)
}
