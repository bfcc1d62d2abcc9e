package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/intake"
	"github.com/weft-run/weft/internal/nodetest"
	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/node"
)

// altered gives the results of a request of Elsa's alterations by instance, each as its codes, and "ok" for one that took them.
func altered(t *testing.T, a answer) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, r := range a.json(t)["results"].([]any) {
		r := r.(map[string]any)
		var codes []string
		for _, e := range r["log"].(map[string]any)["logEntries"].([]any) {
			e := e.(map[string]any)
			if code, ok := e["eventName"].(string); ok {
				codes = append(codes, code)
			}
			if e["message"] == "" || e["timestamp"] == "" || (e["logLevel"] == "Error") == r["isSuccessful"].(bool) {
				t.Errorf("%v", r)
			}
		}
		said := strings.Join(codes, " ")
		if r["isSuccessful"] == true {
			said = "ok"
		}
		out[r["workflowInstanceId"].(string)] = said
	}
	return out
}

func (s *server) subStatus(t *testing.T, id string) any {
	t.Helper()
	return s.get(t, "/api/v1/instances/"+id).json(t)["subStatus"]
}

// Each of Elsa's alterations does what the one of ours does, to several instances at once, and what one of them does not
// take is in its result.
func TestAlterationsInElsasNames(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, `
id: elsa#
variables: {amount: {type: Int64, value: 1}}
root:
  - parallel:
      - [{event: left#, id: left}, {writeLine: "left ${{ variables.amount }}"}]
      - [{event: right#, id: right}]
`)
	s.publish(t, "id: elsa-broken#\nroot:\n  - fault: no\n    id: broken\n")
	for _, id := range []string{"elsa-1#", "elsa-2#", "elsa-3#", "elsa-4#"} {
		s.post(t, "/api/v1/definitions/elsa#/execute", `{"instanceId": "`+id+`"}`, 200)
	}
	s.post(t, "/api/v1/definitions/elsa-broken#/execute", `{"instanceId": "elsa-broken-1#"}`, 200)

	change := `{"workflowInstanceIds": ["elsa-1#", "elsa-none#", "elsa-broken-1#", "elsa-2#"], "alterations": [{"type": "ModifyVariable", "variableId": "amount", "value": 7}, {"type": "CancelActivity", "activityId": "right"}]}`
	first := s.post(t, "/api/v1/alterations/run", change, 200, "Idempotency-Key: elsa-run#")
	got := altered(t, first)
	if got[s.own("elsa-1#")] != "ok" || got[s.own("elsa-2#")] != "ok" || got[s.own("elsa-none#")] != "instance-not-found" || got[s.own("elsa-broken-1#")] == "ok" {
		t.Errorf("%v", got)
	}
	for _, said := range []string{"ModifyVariable is made", "CancelActivity is made"} {
		if !strings.Contains(string(first.body), said) {
			t.Errorf("%s is not in %s", said, first.body)
		}
	}
	if again := s.post(t, "/api/v1/alterations/run", change, 200, "Idempotency-Key: elsa-run#"); string(again.body) != string(first.body) {
		t.Errorf("again: %s, and was %s", again.body, first.body)
	}
	s.post(t, "/api/v1/events/left#", `{"instanceId": "elsa-1#"}`, 200)
	if is := s.subStatus(t, "elsa-1#"); is != "Finished" {
		t.Errorf("right is cancelled, and it is %v", is)
	}
	if journal := s.get(t, "/api/v1/instances/elsa-1#/journal"); !strings.Contains(string(journal.body), "left 7") || !strings.Contains(string(journal.body), `"Altered"`) {
		t.Errorf("%s", journal.body)
	}

	for _, c := range []struct{ alteration, place, code string }{
		{`{"type": "retry"}`, "/alterations/0/type", "unknown-alteration"},
		{`{"type": "ScheduleActivity"}`, "/alterations/0/activityId", "missing-field"},
		{`{"type": "ModifyVariable", "value": 1}`, "/alterations/0/variableId", "missing-field"},
		{`{"type": "Migrate"}`, "/alterations/0/targetVersion", "bad-version"},
		{`{"type": "Cancel", "activityId": "left"}`, "/alterations/0/activityId", "unknown-field"},
		{`{"type": "CancelActivity", "activityInstanceId": "5f3a"}`, "/alterations/0/activityInstanceId", "bad-execution"},
		{`{"type": "Cancel", "targetversion": 2}`, "/alterations/0/targetversion", "unknown-field"},
	} {
		a := s.post(t, "/api/v1/alterations/run", `{"workflowInstanceIds": ["elsa-2#"], "alterations": [`+c.alteration+`]}`, 422)
		if e := a.json(t)["errors"].([]any)[0].(map[string]any); e["pointer"] != c.place || e["code"] != c.code {
			t.Errorf("%s: %v", c.alteration, e)
		}
	}
	for body, code := range map[string]string{
		`{"alterations": [{"type": "Cancel"}]}`:                                                "missing-field",
		`{"workflowInstanceIds": ["elsa-2#"]}`:                                                 "missing-field",
		`{"workflowInstanceIds": ["a b"], "alterations": [{"type": "Cancel"}]}`:                "bad-id",
		`{"workflowInstanceIds": ["elsa-2#", "elsa-2#"], "alterations": [{"type": "Cancel"}]}`: "twice",
	} {
		if e := s.post(t, "/api/v1/alterations/run", body, 422).json(t)["errors"].([]any)[0].(map[string]any); e["code"] != code {
			t.Errorf("%s: %v", body, e)
		}
	}

	s.publish(t, `
id: elsa#
variables: {amount: {type: Int64, value: 1}}
root:
  - parallel:
      - [{event: left#, id: left}, {writeLine: "now left ${{ variables.amount }}"}]
      - [{event: right#, id: right}]
`)
	for _, part := range []struct{ route, body, id string }{
		{"dispatch", `{"workflowInstanceIds": ["elsa-3#"], "alterations": [{"type": "Migrate", "targetVersion": 2}]}`, "elsa-3#"},
		{"submit", `{"filter": {"definitionIds": ["elsa#"], "statuses": ["Running"]}, "alterations": [{"type": "ModifyVariable", "variableId": "amount", "value": 9}]}`, "elsa-4#"},
	} {
		a := s.post(t, "/api/v1/alterations/"+part.route, part.body, 202)
		plan := a.json(t)["planId"].(string)
		if want := "/api/v1/jobs/" + plan; a.header.Get("Location") != want {
			t.Errorf("%s: %s", part.route, a.header.Get("Location"))
		}
		polltest.Eventually(t, "the job of "+part.route+" ends", func() bool { return s.get(t, "/api/v1/jobs/"+plan).json(t)["state"] == "done" })
		if j := s.get(t, "/api/v1/jobs/"+plan).json(t); j["done"] == 0.0 {
			t.Errorf("%s: %v", part.route, j)
		}
	}
	if in := s.get(t, "/api/v1/instances/elsa-3#").json(t); in["version"] != 2.0 {
		t.Errorf("%v", in)
	}
	for body, place := range map[string]string{
		`{"alterations": [{"type": "Cancel"}]}`:                                                                "/filter",
		`{"filter": {"definitionIds": ["a", "b"]}, "alterations": [{"type": "Cancel"}]}`:                       "/filter/definitionIds",
		`{"filter": {"statuses": ["running"]}, "alterations": [{"type": "Cancel"}]}`:                           "/filter/statuses/0",
		`{"filter": {"names": [""]}, "alterations": [{"type": "Cancel"}]}`:                                     "/filter/names/0",
		`{"filter": {"searchTerm": "x"}, "alterations": [{"type": "Cancel"}]}`:                                 "/filter/searchTerm",
		`{"filter": {"names": ["x"], "emptyFilterSelectsAll": true}, "alterations": [{"type": "Cancel"}]}`:     "/filter/emptyFilterSelectsAll",
		`{"filter": {"names": ["x"]}, "alterations": [{"type": "CancelActivity", "activityInstanceId": "2"}]}`: "/alterations/0/activityInstanceId",
	} {
		e := s.post(t, "/api/v1/alterations/submit", body, 422).json(t)["errors"].([]any)[0].(map[string]any)
		if !strings.HasPrefix(fmt.Sprint(e["pointer"]), place) {
			t.Errorf("%s: %v", body, e)
		}
	}

	if got := altered(t, s.post(t, "/api/v1/alterations/workflows/retry", `{"workflowInstanceIds": ["elsa-broken-1#", "elsa-2#"]}`, 200)); got[s.own("elsa-broken-1#")] != "ok" || got[s.own("elsa-2#")] == "ok" {
		t.Errorf("%v", got)
	}
	if got := altered(t, s.post(t, "/api/v1/alterations/run", `{"workflowInstanceIds": ["elsa-2#", "elsa-3#", "elsa-4#"], "alterations": [{"type": "Cancel"}]}`, 200)); len(got) != 3 || got[s.own("elsa-4#")] != "ok" || s.subStatus(t, "elsa-3#") != "Cancelled" {
		t.Errorf("%v", got)
	}
}

// What an instance refuses for the moment only is the answer to nothing: the whole request is refused, and takes effect
// when it is repeated with its key.
func TestAlterationsThatAreToBeRepeatedAreRefusedAsAWhole(t *testing.T) {
	t.Parallel()
	n := nodetest.Start(t, node.Config{})
	s := serverOf(t, n)
	s.publish(t, "id: wait#\nvariables: {n: {type: Int64, value: 1}}\nroot:\n  - event: go#\n")
	s.post(t, "/api/v1/definitions/wait#/execute", `{"instanceId": "w#"}`, 200)
	const change = `{"workflowInstanceIds": ["w#", "none#"], "alterations": [{"type": "ModifyVariable", "variableId": "n", "value": 2}]}`
	for code, refuses := range map[string]func(now bool){
		"paused": func(now bool) { n.Runtime().Intake().SetPaused(now) },
		"store-nearly-full": func(now bool) {
			level := intake.Roomy
			if now {
				level = intake.Full
			}
			n.Runtime().Intake().SetSpace(level, etcdstore.Space{})
		},
	} {
		var key string
		for try := 0; ; try++ { // the node may look how full etcd is between the two, and let all pass again
			key = fmt.Sprint("Idempotency-Key: ", code, try)
			refuses(true)
			a := s.do(t, http.MethodPost, "/api/v1/alterations/run", change, "Content-Type: application/json", key)
			if a.status == http.StatusServiceUnavailable && a.code() == code {
				break
			}
			if a.status != http.StatusOK || try == 20 {
				t.Fatalf("%s: %d %s", code, a.status, a.body)
			}
		}
		refuses(false)
		if got := altered(t, s.post(t, "/api/v1/alterations/run", change, 200, key)); got[s.own("w#")] != "ok" || got[s.own("none#")] != "instance-not-found" {
			t.Errorf("%s: %v", code, got)
		}
	}
}
