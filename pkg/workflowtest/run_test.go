package workflowtest_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml"
	"github.com/weft-run/weft/pkg/workflowtest"
	"github.com/weft-run/weft/pkg/workflowtest/trial"
)

// definition reads a definition in YAML.
func definition(t testing.TB, source string) *workflow.Definition {
	t.Helper()
	def, problems := yaml.Read([]byte(source), "", activities.Default())
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	return def
}

func orderApproval(amount float64) workflowtest.Config {
	return workflowtest.Config{
		File:  "../../examples/order-approval.yaml",
		Input: map[string]any{"orderId": "o-1", "amount": amount},
		Mocks: workflowtest.Mocks{"sendHttpRequest": workflowtest.Reply{Outputs: map[string]any{"statusCode": 202}}},
	}
}

func TestTheSampleOnTime(t *testing.T) {
	t.Parallel()
	w := workflowtest.Start(t, orderApproval(2000))
	w.Want(workflowtest.Expect{Status: workflow.Suspended, Waits: []string{"approved", "delay"}, CorrelationID: "o-1", Lines: []string{"Order o-1 over 2000"}})
	w.Advance(47 * time.Hour)
	w.WantStatus(workflow.Suspended)
	w.Event("approved", map[string]any{"by": "Ann"})
	w.WantStatus(workflow.Finished)
	w.WantOutput("approvedBy", "Ann")
	w.WantIncidents()
	w.Want(workflowtest.Expect{Waits: []string{}, Calls: map[string][]map[string]any{
		"ship":       {{"url": "https://ship.internal/orders", "content": map[string]any{"order": "o-1"}}},
		"Elsa.Event": {{"eventName": "approved"}},
	}})
}

func TestTheSampleByItsTimeout(t *testing.T) {
	t.Parallel()
	w := workflowtest.Start(t, orderApproval(2000))
	w.Advance(48 * time.Hour)
	w.WantStatus(workflow.Faulted)
	w.WantIncidents("not approved in time")
	if calls := w.Calls("sendHttpRequest"); len(calls) != 0 {
		t.Errorf("it was shipped: %+v", calls)
	}
	if got := w.Run().Instance().Incidents[0].Time; !got.Equal(time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("it faulted at %v", got)
	}
}

func TestMocksAreFoundByIDNameAndType(t *testing.T) {
	t.Parallel()
	def := definition(t, `
id: mocks
root:
  - {runTask: a, id: byID, outputs: {result: x}}
  - {runTask: b, name: by name}
  - {runTask: c}
  - if: ${{ false }}
    id: choice
    then: [{writeLine: then}]
    else: [{writeLine: else}]
  - writeLine: ${{ variables.x.n }}
variables: {x: object}
`)
	w := workflowtest.Start(t, workflowtest.Config{Definition: def, Mocks: workflowtest.Mocks{
		"byID": workflowtest.Reply{Outputs: map[string]any{"result": map[string]any{"n": 1}}},
		"by name": workflowtest.Func(func(c workflowtest.Call) workflowtest.Reply {
			return workflowtest.Reply{Fault: "broken " + c.Inputs["taskName"].(string)}
		}),
		"runTask": workflowtest.Reply{},
		"choice":  workflowtest.Reply{Branch: "then"},
	}})
	w.WantStatus(workflow.Faulted)
	w.WantIncidents("broken b")

	w = workflowtest.Start(t, workflowtest.Config{Definition: def, Mocks: workflowtest.Mocks{
		"byID":         workflowtest.Reply{Outputs: map[string]any{"result": map[string]any{"n": 1}}},
		"by name":      workflowtest.Replies{{Fault: "not yet"}, {}},
		"Elsa.RunTask": workflowtest.Reply{},
		"choice":       workflowtest.Reply{Branch: "then"},
	}})
	w.WantIncidents("not yet")
	w.Retry()
	w.WantStatus(workflow.Finished)
	w.WantLines("then", "1")
	if n := len(w.Calls("by name")); n != 2 {
		t.Errorf("it was called %d times", n)
	}
}

func TestSlipsInMocksAreErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		mock workflowtest.Reply
		want string
	}{
		{"writeLin", workflowtest.Reply{}, "did you mean writeLine?"},
		{"runTask", workflowtest.Reply{Outputs: map[string]any{"resul": 1}}, "did you mean result?"},
		{"runTask", workflowtest.Reply{Outcomes: []string{"Don"}}, "did you mean Done?"},
	} {
		_, err := workflowtest.New(workflowtest.Config{
			Definition: definition(t, "id: a\nroot:\n  - runTask: x\n  - writeLine: y\n"),
			Mocks:      workflowtest.Mocks{tt.name: tt.mock},
		})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
	}
}

func TestNothingGoesOverTheNetwork(t *testing.T) {
	t.Parallel()
	def := definition(t, `
id: calls
variables: {answer: object}
root:
  - sendHttpRequest: https://a.example/x
    outputs: {parsedContent: answer}
    expectedStatusCodes:
      200: {writeLine: "got ${{ variables.answer.n }}"}
`)
	w := workflowtest.Start(t, workflowtest.Config{Definition: def})
	w.WantIncidents("mock sendHttpRequest1")

	w = workflowtest.Start(t, workflowtest.Config{Definition: def, Mocks: workflowtest.Mocks{"sendHttpRequest": workflowtest.Reply{
		Outputs: map[string]any{"parsedContent": map[string]any{"n": 2}}, Branch: "200",
	}}})
	w.WantLines("got 2")

	w = workflowtest.Start(t, workflowtest.Config{Definition: def, HTTP: trip(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(`{"n": 3}`)), Request: r}, nil
	})})
	w.WantLines("got 3")
}

type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestRetriesTakeVirtualTime(t *testing.T) {
	t.Parallel()
	w := workflowtest.Start(t, workflowtest.Config{Definition: definition(t, `
id: retried
root:
  - runJavaScript: "1"
    id: call
    retry: {attempts: 3, delay: 1h, factor: 2, maxDelay: 1d}
    onGiveUp:
      - writeLine: "gave up: ${{ variables.Error }}"
`), Mocks: workflowtest.Mocks{"call": workflowtest.Reply{Fault: "not now"}}})
	w.Advance(3*time.Hour - time.Second)
	if n := len(w.Calls("call")); n != 2 {
		t.Errorf("%d attempts", n)
	}
	w.Advance(time.Second)
	w.WantStatus(workflow.Finished)
	w.WantLines("gave up: not now")
}

func TestTimersFireInTheirOrderAndAtTheirTime(t *testing.T) {
	t.Parallel()
	w := workflowtest.Start(t, workflowtest.Config{Definition: definition(t, `
id: timers
root:
  - parallel:
      - [{delay: 2h}, {runJavaScript: "1", id: two}]
      - [{delay: 1h}, {runJavaScript: "1", id: one}, {delay: 30m}, {runJavaScript: "1", id: oneAndAHalf}]
`)})
	w.Advance(time.Hour - time.Second)
	if n := len(w.Calls("runJavaScript")); n != 0 {
		t.Errorf("%d fired early", n)
	}
	w.Advance(3 * time.Hour)
	var got []string
	for _, c := range w.Calls("runJavaScript") {
		got = append(got, c.ActivityID+" "+c.Time.Format("15:04"))
	}
	if want := []string{"one 01:00", "oneAndAHalf 01:30", "two 02:00"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	w.WantStatus(workflow.Finished)
}

func TestTimersWithoutEndEndTheTest(t *testing.T) {
	t.Parallel()
	r, err := workflowtest.New(workflowtest.Config{Definition: definition(t, "id: loop\nroot:\n  - while: true\n    body: [{delay: 1s}]\n")})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	if err := r.Advance(10 * time.Hour); err == nil || !strings.Contains(err.Error(), "timers") {
		t.Errorf("got %v", err)
	}
}

func TestTasks(t *testing.T) {
	t.Parallel()
	def := definition(t, "id: tasks\nvariables: {r: object}\nroot:\n  - runTask: pack\n    result: r\n  - writeLine: ${{ variables.r }}\n")
	w := workflowtest.Start(t, workflowtest.Config{Definition: def})
	w.CompleteTask("pack", "parcel")
	w.WantLines("parcel")

	w = workflowtest.Start(t, workflowtest.Config{Definition: def})
	w.FailTask("pack", "no box")
	w.WantIncidents("no box")
	if err := w.Run().CompleteTask("pack", nil); err == nil || !strings.Contains(err.Error(), "nothing, the instance is Faulted") {
		t.Errorf("got %v", err)
	}
}

// A user task takes what a server takes, and from whom: what does not fit its form, or is of who is excluded, fails the test.
func TestUserTasks(t *testing.T) {
	t.Parallel()
	def := definition(t, "id: ask\nvariables: {r: object}\nroot:\n  - userTask: {title: Approve, excludedUsers: [cleo], outcomes: [Yes, No], form: {required: [why], properties: {why: {type: string}}}}\n    id: approve\n    result: r\n  - writeLine: ${{ variables.r.outcome + ' ' + variables.r.data.why + ' ' + variables.r.completedBy }}\n")
	w := workflowtest.Start(t, workflowtest.Config{Definition: def})
	for want, d := range map[string]trial.Decision{
		"why is required":               {By: "key:anna", Outcome: "Yes"},
		"excludedUsers has that name":   {By: "key:cleo", Outcome: "Yes", Data: map[string]any{"why": "x"}},
		`the outcome is "Maybe"`:        {By: "key:anna", Outcome: "Maybe", Data: map[string]any{"why": "x"}},
		"why has to be string":          {By: "key:anna", Outcome: "No", Data: map[string]any{"why": 7}},
		"the form has no field because": {By: "key:anna", Outcome: "No", Data: map[string]any{"because": "x"}},
	} {
		if err := w.Run().CompleteTask("approve", d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", d, err)
		}
	}
	if err := w.Run().CompleteTask("approve", "parcel"); err == nil || !strings.Contains(err.Error(), "there is no task approve") {
		t.Errorf("got %v", err)
	}
	w.CompleteUserTask("approve", "key:anna", "No", map[string]any{"why": "dear"})
	w.WantLines("No dear key:anna")
}

// The retry and the limit of a task are those of a node: what fails comes again after its pause, and what nobody claims in
// time has failed. No worker claims in a test, so a task of it is never overdue.
func TestTasksAreTriedAgain(t *testing.T) {
	t.Parallel()
	def := definition(t, "id: tasks\nvariables: {r: object}\nroot:\n  - runTask: {taskName: pack, claimWithin: 15m, doneWithin: 1m}\n    retry: {attempts: 3, delay: 10s}\n    result: r\n  - writeLine: ${{ variables.r }}\n")
	w := workflowtest.Start(t, workflowtest.Config{Definition: def})
	w.FailTask("pack", "jam: no paper")
	if err := w.Run().CompleteTask("pack", nil); err == nil {
		t.Error("the task is there in the pause")
	}
	w.Advance(10 * time.Second)
	w.Advance(15*time.Minute + 20*time.Second)
	w.CompleteTask("pack", "parcel")
	w.WantLines("parcel")

	w = workflowtest.Start(t, workflowtest.Config{Definition: def})
	w.Advance(time.Hour)
	w.WantIncidents("task pack failed: unclaimed: no worker claimed it within 15m0s (attempt 3 of 3; it was the last one)")
}

func TestChildrenRunOrAreMocked(t *testing.T) {
	t.Parallel()
	parent := definition(t, `
id: parent
variables: {r: object}
root:
  - executeWorkflow: {workflowDefinitionId: child, input: {n: 4}}
    id: run
    result: r
  - writeLine: ${{ variables.r.SubStatus }} ${{ variables.r.Output?.double }}
`)
	child := definition(t, "id: child\ninputs: {n: number}\noutputs:\n  double: ${{ inputs.n * 2 }}\nroot:\n  - event: go\n")
	w := workflowtest.Start(t, workflowtest.Config{Definition: parent, Others: []*workflow.Definition{child}})
	w.WantStatus(workflow.Suspended)
	w.Event("go", nil)
	w.WantLines("Finished 8")
	if c := w.Run().Children(); len(c) != 1 || c[0].SubStatus != workflow.Finished {
		t.Errorf("children %+v", c)
	}

	w = workflowtest.Start(t, workflowtest.Config{Definition: parent, Others: []*workflow.Definition{child}})
	w.Cancel()
	if c := w.Run().Children(); c[0].SubStatus != workflow.Cancelled {
		t.Errorf("children %+v", c)
	}

	w = workflowtest.Start(t, workflowtest.Config{Definition: parent, Children: map[string]workflowtest.Child{
		"child": {Status: workflow.Faulted, Output: map[string]any{"double": 1}},
	}})
	w.WantLines("Faulted 1")
	w.WantOutcomes("run", "Done", "Faulted")
	w.Want(workflowtest.Expect{Children: []workflowtest.Started{{DefinitionID: "child", Input: map[string]any{"n": 4}}}})

	w = workflowtest.Start(t, workflowtest.Config{Definition: parent, Children: map[string]workflowtest.Child{"child": {Hold: true}}})
	w.WantStatus(workflow.Suspended)
	w.EndChild("child", "", map[string]any{"double": 9})
	w.WantLines("Finished 9")

	w = workflowtest.Start(t, workflowtest.Config{Definition: parent})
	w.WantIncidents("no published definition")
}

func TestEventsBetweenInstancesAndThoseThatComeEarly(t *testing.T) {
	t.Parallel()
	def := definition(t, `
id: talks
variables: {got: object}
root:
  - publishEvent: {eventName: ping, payload: {n: 1}, isLocalEvent: true}
  - publishEvent: {eventName: out, correlationId: c, payload: {n: 2}}
  - event: ping
    result: got
  - event: later
  - writeLine: ${{ variables.got.n }}
`)
	w := workflowtest.Start(t, workflowtest.Config{Definition: def})
	w.Want(workflowtest.Expect{Waits: []string{"later"}, Events: []workflowtest.Published{
		{Name: "ping"}, {Name: "out", CorrelationID: "c", Payload: map[string]any{"n": 2}},
	}})
	if err := w.Run().Event("latr", nil); err == nil || !strings.Contains(err.Error(), "what waits: later (event2)") {
		t.Errorf("got %v", err)
	}
	w.Event("later", nil)
	w.WantLines("1")

	w = workflowtest.Load(t, workflowtest.Config{Definition: definition(t, "id: early\nroot:\n  - delay: 5m\n  - event: go\n  - writeLine: went\n")})
	if err := w.Run().Start(); err != nil {
		t.Fatal(err)
	}
	w.SendEarly(workflow.EventStimulus("go", nil))
	w.Advance(5 * time.Minute)
	w.WantLines("went")
}

func TestTriggersStart(t *testing.T) {
	t.Parallel()
	def := definition(t, `
id: triggered
variables: {got: object}
root:
  - event: came
    id: start
    trigger: true
    result: got
  - writeLine: ${{ variables.got.name }}
`)
	w := workflowtest.Load(t, workflowtest.Config{Definition: def})
	if err := w.Run().Event("cam", nil); err == nil || !strings.Contains(err.Error(), "the trigger came") {
		t.Errorf("got %v", err)
	}
	st := workflow.EventStimulus("came", map[string]any{"name": "Ada"})
	st.CorrelationID = "c"
	w.Send(st)
	w.Want(workflowtest.Expect{Lines: []string{"Ada"}, CorrelationID: "c", Status: workflow.Finished})

	w = workflowtest.Load(t, workflowtest.Config{Definition: def})
	w.Trigger("start", map[string]any{"payload": map[string]any{"name": "Grace"}})
	w.WantLines("Grace")
	if err := w.Run().Start(); err == nil {
		t.Error("it started twice")
	}
}

// A stimulus brings no input of the workflow, so a trigger faults what requires
// one, as on a node.
func TestATriggerGivesNoInput(t *testing.T) {
	t.Parallel()
	def := definition(t, `
id: ordered
inputs: {order: {type: string, required: true}}
root:
  - event: came
    id: start
    trigger: true
  - writeLine: ${{ inputs.order }}
`)
	for _, start := range []func(*workflowtest.Test){
		func(w *workflowtest.Test) { w.Trigger("start", nil) },
		func(w *workflowtest.Test) { w.Event("came", nil) },
	} {
		w := workflowtest.Load(t, workflowtest.Config{Definition: def, Input: map[string]any{"order": "o-1"}})
		start(w)
		w.Want(workflowtest.Expect{Status: workflow.Faulted, Incidents: []string{"the input order is required"}})
	}
}

func TestDifferencesAreShown(t *testing.T) {
	t.Parallel()
	w := workflowtest.Start(t, workflowtest.Config{Definition: definition(t, `
id: differs
outputs: {total: number}
root:
  - writeLine: a
  - writeLine: b
  - {setOutput: {outputName: total, outputValue: 3}, id: out}
  - writeHttpResponse: {statusCode: 404, content: {a: 1}}
`)})
	r := w.Run()
	got := map[string]string{}
	for _, m := range r.Check(workflowtest.Expect{
		Status: workflow.Faulted, Name: "n", CorrelationID: "c", Lines: []string{"a", "c"}, Output: map[string]any{"total": 4, "totl": 1},
		Outcomes: map[string][]string{"out": {"X"}, "ot": {"Done"}}, Incidents: []string{"x"}, Waits: []string{"y"},
		Calls:  map[string][]map[string]any{"writeLine": {}, "out": {{"outputName": "sum"}}},
		Events: []workflowtest.Published{{}}, Children: []workflowtest.Started{{}}, Response: &workflowtest.Response{Status: 200, Body: map[string]any{"a": 2}},
	}) {
		got[m.Field] = m.Detail
	}
	for field, want := range map[string]string{
		"status": "got Finished, want Faulted", "name": `want "n"`, "correlationId": `want "c"`, "lines": "  a\n- c\n+ b",
		"output.total": "got 3, want 4", "output.totl": "did you mean total?", "outcomes.out": "got Done, want X", "outcomes.ot": "did you mean out?",
		"incidents": "- x", "waits": "want y", "calls.writeLine": "ran 2 times, want 0", "calls.out.0.outputName": `got "total", want "sum"`,
		"events": "0 were published", "children": "0 mocked children", "response.status": "got 404, want 200", "response.body": `got {"a":1}, want {"a":2}`,
	} {
		if !strings.Contains(got[field], want) {
			t.Errorf("%s: got %q, want %q", field, got[field], want)
		}
		delete(got, field)
	}
	if len(got) > 0 {
		t.Errorf("more: %v", got)
	}
	if more := r.Check(workflowtest.Expect{Output: map[string]any{"total": 3.0}, Response: &workflowtest.Response{Body: `{"a":1}`}}); len(more) > 0 {
		t.Errorf("got %v", more)
	}
}

// The registry that a test is given is not changed, and two runs of the same
// test give the same.
func TestRunsAreApart(t *testing.T) {
	t.Parallel()
	registry := activities.Default()
	var ids []string
	for range 2 {
		w := workflowtest.Start(t, workflowtest.Config{
			Definition: definition(t, "id: a\nroot:\n  - writeLine: x\n  - runTask: t\n"), Registry: registry,
			Mocks: workflowtest.Mocks{"writeLine": workflowtest.Reply{}},
		})
		w.WantLines()
		ids = append(ids, fmt.Sprint(w.Run().Instance()))
	}
	if ids[0] != ids[1] {
		t.Errorf("got\n%s\nthen\n%s", ids[0], ids[1])
	}
	w := workflowtest.Start(t, workflowtest.Config{Definition: definition(t, "id: a\nroot:\n  - writeLine: x\n"), Registry: registry})
	w.WantLines("x")
}
