// Package taskjournal notes in an instance's journal how a task of it ended.
//
// Guaranteed: who had the task, or which time was over, as far as what resumed it says so. Not guaranteed: a line of a task
// that somebody completed without a claim.
package taskjournal

import (
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/task"
)

// MostFailed is how many bytes a task says of why the attempt before it failed.
const MostFailed = 512

// Answer notes who had a task when it ended, if somebody had, and what ended it.
func Answer(x *engine.Execution, r *engine.Resume, failed bool) {
	worker, _ := r.Input[task.Worker].(string)
	why, timedOut := r.Input[task.Timeout].(string)
	if !timedOut && worker == "" {
		return
	}
	data := map[string]any{"taskId": r.Bookmark.ID}
	for _, name := range []string{task.Worker, task.Attempt, task.Since} {
		if v, ok := r.Input[name]; ok {
			data[name] = v
		}
	}
	if failed {
		data["failed"] = true
	}
	if timedOut {
		x.Journal(workflow.TaskTimedOut, why, data)
		return
	}
	x.Journal(workflow.TaskAnswered, "worker "+worker, data)
}
