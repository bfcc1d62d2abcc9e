package declared

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/activities/taskjournal"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/task"
)

// The input keys of a resume, as runTask has them.
const (
	taskResult, taskError = "result", task.Error

	again = "again" // the callback of the pause before the next attempt
	// form begins the callback of a task of a declared type; the digest of the declaration follows.
	form = "declared:"
)

// Form is the digest of the declaration that the result of a task has to fit; "": of none.
func Form(b *workflow.Bookmark) string {
	digest, ok := strings.CutPrefix(b.Callback, form)
	if !ok {
		return ""
	}
	return digest
}

// activity waits for a worker.
type activity struct {
	d      *Declaration
	digest string
}

// State is what an activity of a declared type remembers.
type State struct {
	Attempt int64  `json:"attempt"`        // which one runs, from 1
	Last    string `json:"last,omitempty"` // why the one before failed
}

// Execute makes the task.
func (a activity) Execute(_ context.Context, x *engine.Execution) error {
	engine.Scratch[State](x).Attempt = 1
	return a.ask(x)
}

// ask makes a task as runTask does, with the inputs as its payload.
func (a activity) ask(x *engine.Execution) error {
	payload := map[string]any{}
	for i := range a.d.Inputs {
		f := &a.d.Inputs[i]
		v := x.Value(f.Name)
		if text, ok := v.(string); ok && len(f.Enum) > 0 && !slices.Contains(f.Enum, text) {
			return fmt.Errorf("input %s of %s is %q; it is one of %s", f.Name, a.d.Type, workflow.Shorten(text), strings.Join(f.Enum, ", "))
		}
		if d, ok := v.(time.Duration); ok {
			v = engine.Text(d)
		}
		if v != nil {
			payload[f.Name] = v
		}
	}
	terms := task.Terms{}
	if s := engine.Scratch[State](x); a.d.Retry != nil {
		terms.Attempt, terms.Failed = s.Attempt, workflow.CutBytes(s.Last, taskjournal.MostFailed)
	}
	_, err := x.Wait(engine.Wait{Type: workflow.TaskType, Name: a.d.Task, Payload: terms.Into(map[string]any{"taskId": x.NewID()}), Callback: form + a.digest, Metadata: payload})
	return err
}

func (a activity) Resume(_ context.Context, x *engine.Execution, r engine.Resume) error {
	if r.Callback == again {
		engine.Scratch[State](x).Attempt++
		return a.ask(x)
	}
	e := r.Input[taskError]
	taskjournal.Answer(x, &r, e != nil)
	if e != nil {
		final, _ := r.Input[task.Final].(bool)
		return a.failed(x, fmt.Errorf("task %s failed: %s", r.Bookmark.Name, engine.Text(e)), final)
	}
	if err := a.d.Fits(r.Input[taskResult]); err != nil {
		return engine.BeginAgain(err)
	}
	m, _ := r.Input[taskResult].(map[string]any)
	for _, f := range a.d.Outputs {
		if err := x.TakeOutput(f.Name, m[f.Name]); err != nil {
			return err
		}
	}
	if len(a.d.Outcomes) > 0 {
		x.SetOutcomes(engine.Text(m[OutcomeField]))
	}
	return nil
}

// failed pauses before another attempt, or has the activity fault: behind the last one, and if its worker says that none will do better.
func (a activity) failed(x *engine.Execution, failure error, final bool) error {
	s := engine.Scratch[State](x)
	if a.d.Retry == nil || final || s.Attempt >= a.d.Retry.Attempts {
		return engine.BeginAgain(failure)
	}
	due := x.Clock().Add(a.d.Retry.pause(s.Attempt)).UTC()
	coming := &workflow.Retry{Activity: x.Node().ID(), Attempt: s.Attempt + 1, Attempts: a.d.Retry.Attempts, Error: workflow.CutBytes(x.Redact(failure.Error()), 1024)}
	s.Last = coming.Error
	x.Journal("AttemptFailed", fmt.Sprintf("attempt %d of %d failed: %s", s.Attempt, a.d.Retry.Attempts, coming.Error),
		map[string]any{"attempt": s.Attempt, "attempts": a.d.Retry.Attempts, "error": coming.Error, "nextAt": due})
	_, err := x.Wait(engine.Wait{Type: workflow.RetryType, Name: coming.Activity, Payload: map[string]any{"dueAt": due}, Local: true, DueAt: &due, Callback: again, Metadata: coming.Metadata()})
	return err
}
