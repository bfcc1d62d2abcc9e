package workflowtest

import (
	"time"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflowtest/trial"
)

// TB is the part of [testing.TB] that is needed.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Test is a [Run] for Go tests: what cannot be done ends the test.
type Test struct {
	run *Run
	t   TB
}

// Load compiles what cfg names, for an instance that an event or a trigger
// starts.
func Load(t TB, cfg Config) *Test {
	t.Helper()
	r, err := New(cfg)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return &Test{r, t}
}

// Start compiles what cfg names and starts the instance under test.
func Start(t TB, cfg Config) *Test {
	t.Helper()
	w := Load(t, cfg)
	w.must(w.run.Start())
	return w
}

func (w *Test) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("%v", err)
	}
}

// Run gives access to everything else that can be seen.
func (w *Test) Run() *Run { return w.run }

// Trigger is [Run.Trigger].
func (w *Test) Trigger(activityID string, input map[string]any) {
	w.t.Helper()
	w.must(w.run.Trigger(activityID, input))
}

// Event is [Run.Event].
func (w *Test) Event(name string, payload any) { w.t.Helper(); w.must(w.run.Event(name, payload)) }

// Send is [Run.Send].
func (w *Test) Send(st workflow.Stimulus) { w.t.Helper(); w.must(w.run.Send(st)) }

// SendEarly is [Run.SendEarly].
func (w *Test) SendEarly(st workflow.Stimulus) { w.t.Helper(); w.must(w.run.SendEarly(st)) }

// Advance is [Run.Advance].
func (w *Test) Advance(d time.Duration) { w.t.Helper(); w.must(w.run.Advance(d)) }

// CompleteTask is [Run.CompleteTask].
func (w *Test) CompleteTask(name string, result any) {
	w.t.Helper()
	w.must(w.run.CompleteTask(name, result))
}

// CompleteUserTask completes a user task as a person does, by the activity's id.
func (w *Test) CompleteUserTask(activity, by, outcome string, data map[string]any) {
	w.t.Helper()
	w.must(w.run.CompleteTask(activity, trial.Decision{By: by, Outcome: outcome, Data: data}))
}

// FailTask is [Run.FailTask].
func (w *Test) FailTask(name, message string) { w.t.Helper(); w.must(w.run.FailTask(name, message)) }

// Resume is [Run.Resume].
func (w *Test) Resume(bookmark string, input map[string]any) {
	w.t.Helper()
	w.must(w.run.Resume(bookmark, input))
}

// EndChild is [Run.EndChild].
func (w *Test) EndChild(definitionID string, status workflow.SubStatus, output map[string]any) {
	w.t.Helper()
	w.must(w.run.EndChild(definitionID, status, output))
}

// Retry is [Run.Retry].
func (w *Test) Retry() { w.t.Helper(); w.must(w.run.Retry()) }

// Cancel is [Run.Cancel].
func (w *Test) Cancel() { w.t.Helper(); w.must(w.run.Cancel()) }

// Want fails the test, and goes on with it, if something is not as expected.
func (w *Test) Want(e Expect) {
	w.t.Helper()
	for _, m := range w.run.Check(e) {
		w.t.Errorf("%s", m)
	}
}

// WantLines wants exactly these lines.
func (w *Test) WantLines(lines ...string) {
	w.t.Helper()
	if lines == nil {
		lines = []string{}
	}
	w.Want(Expect{Lines: lines})
}

// WantStatus wants the instance to be in this state.
func (w *Test) WantStatus(status workflow.SubStatus) { w.t.Helper(); w.Want(Expect{Status: status}) }

// WantOutput wants one output of the workflow to have this value.
func (w *Test) WantOutput(name string, value any) {
	w.t.Helper()
	w.Want(Expect{Output: map[string]any{name: value}})
}

// WantOutcomes wants these to be among the outcomes with which an activity
// completed the last time; without outcomes, that it did not complete.
func (w *Test) WantOutcomes(activity string, outcomes ...string) {
	w.t.Helper()
	w.Want(Expect{Outcomes: map[string][]string{activity: outcomes}})
}

// WantIncidents wants exactly these incidents, each told by a part of its
// message.
func (w *Test) WantIncidents(parts ...string) {
	w.t.Helper()
	if parts == nil {
		parts = []string{}
	}
	w.Want(Expect{Incidents: parts})
}

// Calls is [Run.Calls].
func (w *Test) Calls(activity string) []Call { return w.run.Calls(activity) }

// CheckFiles runs test files in a Go test: each failure is an error of t.
func CheckFiles(t TB, opts FileOptions, files ...string) {
	t.Helper()
	for _, file := range files {
		res, err := RunFile(file, opts)
		if err != nil {
			t.Errorf("%v", err)
		}
		for _, c := range res.Cases {
			for _, f := range c.Failures {
				t.Errorf("%s:%d: %s: %s", file, f.Line, c.Name, f)
			}
		}
	}
}
