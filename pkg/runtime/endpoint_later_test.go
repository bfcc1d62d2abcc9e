package runtime_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

const answersLater = `
id: child
inputs: {n: {type: integer, default: 1}}
root: [{delay: 50ms}]
---
id: speaks
root: [{delay: 50ms}, {writeHttpResponse: {content: by the child}}]
---
id: silent
root: [{delay: 1h}]
---
id: runs
root:
  - {httpEndpoint: {path: runs, supportedMethods: [POST]}, trigger: true}
  - executeWorkflow: child
  - writeHttpResponse: {content: after the child}
---
id: dispatches
root:
  - {httpEndpoint: {path: dispatches, supportedMethods: [POST]}, trigger: true}
  - dispatchWorkflow: {workflowDefinitionId: child, waitForCompletion: true}
  - writeHttpResponse: {content: after the child}
---
id: bulk
root:
  - {httpEndpoint: {path: bulk, supportedMethods: [POST]}, trigger: true}
  - bulkDispatchWorkflows: {workflowDefinitionId: child, items: [{n: 1}, {n: 2}], waitForCompletion: true}
  - writeHttpResponse: {content: after the children}
---
id: passes
root:
  - {httpEndpoint: {path: passes, supportedMethods: [POST]}, trigger: true}
  - executeWorkflow: speaks
  - delay: 1h
---
id: both
root:
  - {httpEndpoint: {path: both, supportedMethods: [POST]}, trigger: true}
  - executeWorkflow: speaks
  - writeHttpResponse: {content: the second}
---
id: forks
root:
  - {httpEndpoint: {path: forks, supportedMethods: [POST]}, trigger: true}
  - fork:
      joinMode: WaitAll
      branches: [[{delay: 50ms}], [{executeWorkflow: child}]]
  - writeHttpResponse: {content: after the fork}
---
id: branches
root:
  - {httpEndpoint: {path: branches, supportedMethods: [POST]}, trigger: true}
  - fork:
      joinMode: WaitAll
      branches:
        - [{httpEndpoint: {path: one, supportedMethods: [POST]}}, {delay: 100ms}, {writeHttpResponse: {content: one}}]
        - [{httpEndpoint: {path: two, supportedMethods: [POST]}}, {delay: 50ms}, {writeHttpResponse: {content: two}}]
---
id: ends
root:
  - {httpEndpoint: {path: ends, supportedMethods: [POST]}, trigger: true}
  - delay: 50ms
  - if: {condition: false, then: {writeHttpResponse: {content: never}}}
---
id: faults
root:
  - {httpEndpoint: {path: faults, supportedMethods: [POST]}, trigger: true}
  - delay: 50ms
  - fault: {message: no}
  - writeHttpResponse: {content: never}
---
id: far
root:
  - {httpEndpoint: {path: far, supportedMethods: [POST]}, trigger: true}
  - delay: 1h
  - writeHttpResponse: {content: never}
---
id: quiet
root:
  - {httpEndpoint: {path: quiet, supportedMethods: [POST]}, trigger: true}
  - executeWorkflow: silent
---
id: late
root:
  - {httpEndpoint: {path: late, supportedMethods: [POST], requestTimeout: 100ms}, trigger: true}
  - event: go
  - writeHttpResponse: {content: too late}
---
id: twice
root:
  - {httpEndpoint: {path: twice, supportedMethods: [POST]}, trigger: true}
  - writeHttpResponse: {content: first}
  - event: go
  - writeHttpResponse: {content: second}
`

func post(path string) runtime.EndpointRequest {
	return runtime.EndpointRequest{Method: "POST", Path: path}
}

// An endpoint answers from where the flow goes: behind children, forks and short waits, in commits of other
// nodes; and who waits in vain hears of it as soon as that is known.
func TestAnAnswerComesFromWhereTheFlowGoes(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2)
	c[0].Publish(strings.Split(answersLater, "---\n")...)
	var wg sync.WaitGroup
	for path, want := range map[string]string{
		"runs": "after the child", "dispatches": "after the child", "bulk": "after the children", "passes": "by the child", "forks": "after the fork",
		"ends": "", "faults": "", "far": "", "quiet": "",
	} {
		wg.Go(func() {
			res, err := c[0].Endpoints.Endpoint(t.Context(), post(path))
			switch {
			case err != nil || len(res.Result.Outcomes) != 1 || !res.Result.Unanswered.IsZero():
				t.Errorf("%s: %+v, %v", path, res, err)
			case want == "" && res.Response != nil, want != "" && (res.Response == nil || string(res.Response.Body) != want):
				t.Errorf("%s: answered %+v, want %q", path, res.Response, want)
			}
		})
	}
	wg.Wait()
	for range 3 {
		if _, err := c[1].Endpoints.Endpoint(t.Context(), post("branches")); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"one", "two"} {
			wg.Go(func() {
				res, err := c[0].Endpoints.Endpoint(t.Context(), post(path))
				if err != nil || res.Response == nil || string(res.Response.Body) != path {
					t.Errorf("%s: %+v, %v", path, res, err)
				}
			})
		}
		wg.Wait()
	}
}

// What is written when nobody waits any more is an incident, and the instance goes on. A repeat with the
// caller's own key finds it.
func TestAnAnswerToNobodyIsAnIncident(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	m.Publish(strings.Split(answersLater, "---\n")...)
	ends := func(req runtime.EndpointRequest, said, incident string) {
		t.Helper()
		res, err := m.Endpoints.Endpoint(t.Context(), req)
		if err != nil || len(res.Result.Outcomes) != 1 || (res.Response != nil) != (said != "") || res.Result.Unanswered.IsZero() != (said != "") {
			t.Fatalf("%+v, %v", res, err)
		}
		id := res.Result.Outcomes[0].InstanceID
		if _, err := m.Events.Send(t.Context(), workflow.Stimulus{ActivityType: workflow.EventType, Payload: workflow.EventPayload("go"), InstanceID: id}, nil); err != nil {
			t.Fatal(err)
		}
		in := m.Finished(id)
		switch {
		case incident == "" && len(in.Incidents) > 0, incident != "" && (len(in.Incidents) != 1 || !strings.Contains(in.Incidents[0].Message, incident)):
			t.Errorf("%s: incidents %+v, want %q", req.Path, in.Incidents, incident)
		}
	}
	ends(post("late"), "", "nobody is there to answer: the caller waited until")
	ends(post("twice"), "first", "nobody is there to answer: the request that led here has had its answer")
	kept := post("late")
	kept.Key = &runtime.Key{Scope: "POST /workflows/late", Value: "k", BodyHash: "b", At: time.Now()}
	ends(kept, "", "")
	if res, err := m.Endpoints.Endpoint(t.Context(), kept); err != nil || res.Response == nil || string(res.Response.Body) != "too late" {
		t.Errorf("the repeat: %+v, %v", res, err)
	}
	kept = post("both") // of an instance and its child the first answer stands
	kept.Key = &runtime.Key{Scope: "POST /workflows/both", Value: "k", BodyHash: "b", At: time.Now()}
	for range 2 {
		res, err := m.Endpoints.Endpoint(t.Context(), kept)
		if err != nil || res.Response == nil || string(res.Response.Body) != "by the child" {
			t.Errorf("both: %+v, %v", res, err)
		}
		m.Finished(res.Result.Outcomes[0].InstanceID)
	}
	m.Sound()
}

// Who starts an instance does not say whose requests it answers.
func TestNoStartMakesUpACaller(t *testing.T) {
	t.Parallel()
	m := newCluster(t, 1)[0]
	m.Publish("id: plain\nroot: [{writeLine: x}]\n")
	_, err := m.Starts.Execute(t.Context(), runtime.StartRequest{DefinitionID: "plain", Properties: map[string]any{workflow.CallersProperty: []any{}}})
	if workflow.CodeOf(err) != workflow.CodeInvalid {
		t.Errorf("got %v", err)
	}
}
