package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/node"
)

// shop is a service that is away until it is mended.
type shop struct {
	mu   sync.Mutex
	away bool
	keys []string
}

func (p *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys = append(p.keys, r.Header.Get("Idempotency-Key"))
	if p.away {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

func (p *shop) mended() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.away = false
}

// The page docs/operations/repair.md goes through this: a payment whose service was away,
// behind a branch that raises a fault.
func TestAFaultedCallIsRepaired(t *testing.T) {
	t.Parallel()
	pay := &shop{away: true}
	outside := httptest.NewServer(pay)
	t.Cleanup(outside.Close)
	s := ownServer(t, node.Config{AllowPrivateAddresses: true})
	definition := `
id: charges
variables: {amount: {type: Int64, value: 10}}
root:
  - sendHttpRequest:
      url: ` + outside.URL + `/charge
      method: POST
      content: ${{ variables.amount }}
      expectedStatusCodes: {"200": {writeLine: paid}}
      unmatchedStatusCode: {fault: the payment was refused}
    id: charge
  - event: shipped
    id: ship
`
	s.publish(t, definition)
	in := s.post(t, "/api/v1/definitions/charges/execute", `{"instanceId": "c1"}`, 200).json(t)
	if in["subStatus"] != "Faulted" {
		t.Fatalf("%v", in)
	}
	try := s.post(t, "/api/v1/instances/c1/alterations?dryRun=true", `{"alterations": [{"type": "retry"}]}`, 200).json(t)
	if did, _ := try["did"].([]any); try["fits"] != true || len(did) != 1 || !strings.Contains(did[0].(string), "runs charge (execution") || !strings.Contains(did[0].(string), "the same idempotency key") {
		t.Fatalf("%v", try)
	}
	if next := try["next"].([]any); len(next) != 1 || next[0] != "charge" {
		t.Errorf("next %v", next)
	}
	if in := s.get(t, "/api/v1/instances/c1").json(t); in["subStatus"] != "Faulted" || len(pay.keys) != 1 {
		t.Fatalf("the dry run did something: %v %q", in, pay.keys)
	}
	s.post(t, "/api/v1/instances/c1/retry", "", 200)
	pay.mended()
	in = s.post(t, "/api/v1/instances/c1/alterations", `{"reason": "the service is back", "alterations": [{"type": "setVariable", "variable": "amount", "value": 12}, {"type": "retry"}]}`, 200, "Idempotency-Key: mend-1").json(t)
	if in["subStatus"] != "Suspended" {
		t.Fatalf("%v", in)
	}
	s.post(t, "/api/v1/instances/c1/alterations", `{"reason": "the service is back", "alterations": [{"type": "setVariable", "variable": "amount", "value": 12}, {"type": "retry"}]}`, 200, "Idempotency-Key: mend-1")
	if a := s.post(t, "/api/v1/instances/c1/alterations", `{"alterations": [{"type": "retry"}]}`, 422, "Idempotency-Key: mend-1"); a.code() != "idempotency-key-reused" {
		t.Errorf("%s", a.body)
	}
	if k := pay.keys; len(k) != 3 || k[0] != k[1] || k[1] != k[2] || k[0] == "" {
		t.Errorf("keys %q", k)
	}
	journal := string(s.get(t, "/api/v1/instances/c1/journal").body)
	for _, want := range []string{`"event":"Altered"`, "sets the variable amount of the workflow", `"reason":"the service is back"`} {
		if !strings.Contains(journal, want) {
			t.Errorf("the journal does not say %s: %s", want, journal)
		}
	}

	// To a version that has another step after the wait, and on from there.
	s.publish(t, definition+"  - writeLine: thanks\n    id: thanks\n")
	in = s.post(t, "/api/v1/instances/c1/alterations", `{"alterations": [{"type": "migrate", "version": 2}]}`, 200).json(t)
	if in["version"] != 2.0 || in["subStatus"] != "Suspended" {
		t.Fatalf("%v", in)
	}
	if list := s.get(t, "/api/v1/instances?definitionId=charges&version=2").json(t)["items"].([]any); len(list) != 1 {
		t.Errorf("of version 2: %v", list)
	}
	s.post(t, "/api/v1/events/shipped", `{}`, 200)
	if in := s.get(t, "/api/v1/instances/c1", "Prefer: wait=10").json(t); in["subStatus"] != "Finished" {
		t.Errorf("%v", in)
	}
	if journal := string(s.get(t, "/api/v1/instances/c1/journal").body); !strings.Contains(journal, "thanks") {
		t.Errorf("it did not go on with version 2: %s", journal)
	}
	if a := s.post(t, "/api/v1/instances/c1/alterations", `{"alterations": [{"type": "retry"}]}`, 409); a.code() != "instance-finished" {
		t.Errorf("%s", a.body)
	}
}

func TestAlterationsThatDoNotFit(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, "id: misfits#\nroot:\n  - parallel:\n      - {event: a#, id: a}\n      - {event: b#, id: b}\n    id: both\n")
	s.publish(t, "id: misfits#\nroot:\n  - parallel:\n      - {writeLine: x, id: a}\n    id: both\n")
	s.post(t, "/api/v1/definitions/misfits#/execute", `{"instanceId": "misfit#", "version": 1}`, 200)
	before := string(s.get(t, "/api/v1/instances/misfit#/state").body)
	for body, places := range map[string][]string{
		`{"alterations": [{"type": "migrate", "version": 2}]}`: {
			`"other-type"`, "a (execution", `"missing-activity"`, "b (execution", "/alterations/0/activities",
		},
		`{"alterations": [{"type": "skip", "activity": "a"}, {"type": "skip", "activity": "c"}]}`:    {`"unknown-activity"`, "/alterations/1/activity"},
		`{"alterations": [{"type": "migrate", "version": 2, "activities": {"a": "b", "b": "a"}}]}`:   {`"unknown-activity"`, `no activity \"b\"`},
		`{"alterations": [{"type": "migrate", "version": 9}]}`:                                       {`"unknown-version"`, "/alterations/0/version"},
		`{"alterations": [{"type": "skp"}, {"typ": "skip"}]}`:                                        {"/alterations/1/typ", `"unknown-field"`},
		`{"alterations": [{"type": "skp"}]}`:                                                         {"/alterations/0/type", "did you mean skip"},
		`{"alterations": [{"type": "setVariable", "variable": "x", "value": 1, "outcomes": ["x"]}]}`: {"/alterations/0/outcomes"},
		`{"alterations": [7]}`: {"/alterations/0", "wrong-type"},
		`{"alterations": [` + strings.Repeat(`{"type":"retry"},`, 3000) + `{"type":"retry"}]}`: {"too-many-alterations", "3001"},
		`{"alterations": []}`: {"missing-field"},
		`{"alterations": [{"type": "reschedule", "dueAt": "1969-12-31T23:59:59Z"}]}`:      {"/alterations/0/dueAt", `"bad-time"`, "years 1970 to 9999"},
		`{"alterations": [{"type": "reschedule", "dueAt": "9999-12-31T23:59:59-12:00"}]}`: {"/alterations/0/dueAt", `"bad-time"`, "years 1970 to 9999"},
		`{"alterations": [{"type": "reschedule", "dueAt": "9999-12-31T23:59:59Z"}]}`:      {`"no-timer"`},
	} {
		for _, path := range []string{"/api/v1/instances/misfit#/alterations", "/api/v1/instances/misfit#/alterations?dryRun=true"} {
			a := s.do(t, http.MethodPost, path, body)
			if fits := a.status == 200 && strings.HasSuffix(path, "true"); a.status != 422 && !fits {
				t.Errorf("%.80s: %d %s", body, a.status, a.body)
			}
			for _, want := range places {
				if !strings.Contains(string(a.body), want) {
					t.Errorf("%.80s: no %s in %s", body, want, a.body)
				}
			}
		}
	}
	if after := string(s.get(t, "/api/v1/instances/misfit#/state").body); after != before {
		t.Errorf("something was changed:\n%s\n%s", before, after)
	}
	if a := s.post(t, "/api/v1/instances/nobody#/alterations", `{"alterations": [{"type": "retry"}]}`, 404); a.code() != "instance-not-found" {
		t.Errorf("%s", a.body)
	}
	if a := s.post(t, "/api/v1/instances/misfit#/retry", `{"from": "a"}`, 200); a.json(t)["subStatus"] != "Suspended" {
		t.Errorf("%s", a.body)
	}
}

// What was accepted while a call ran, and is refused when its turn comes, is told by the journal:
// nobody waits for the answer any more.
func TestARefusalAfterA202IsInTheJournal(t *testing.T) {
	t.Parallel()
	came, answer := make(chan struct{}, 1), make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		came <- struct{}{}
		<-answer
	}))
	t.Cleanup(slow.Close)
	s := ownServer(t, node.Config{AllowPrivateAddresses: true, ReplyWait: time.Second})
	s.publish(t, "id: slow\nvariables: {amount: 1}\nroot:\n  - sendHttpRequest: {url: \""+slow.URL+"\", timeout: 10m}\n    id: call\n  - event: shipped\n    id: ship\n")
	s.post(t, "/api/v1/definitions/slow/dispatch", `{"instanceId": "s"}`, 202)
	<-came
	s.post(t, "/api/v1/instances/s/alterations", `{"reason": "by phone", "alterations": [{"type": "setVariable", "variable": "amuont", "value": 2}, {"type": "skip", "activity": "call"}]}`, 202)
	s.post(t, "/api/v1/instances/s/retry", "", 202)
	close(answer)
	var refused []map[string]any
	polltest.Eventually(t, "both are refused", func() bool {
		refused = nil
		for _, item := range s.get(t, "/api/v1/instances/s/journal").json(t)["items"].([]any) {
			if item := item.(map[string]any); item["event"] == "Refused" {
				refused = append(refused, item)
			}
		}
		return len(refused) == 2
	})
	data := refused[0]["data"].(map[string]any)
	if text := refused[0]["text"].(string); !strings.HasPrefix(text, "not altered: ") || !strings.Contains(text, "did you mean amount") || !strings.HasSuffix(text, "(and 1 more)") || data["reason"] != "by phone" {
		t.Errorf("%v", refused[0])
	}
	places := data["errors"].([]any)
	if len(places) != 2 || places[0].(map[string]any)["pointer"] != "/alterations/0/variable" || places[1].(map[string]any)["pointer"] != "/alterations/1/activity" {
		t.Errorf("places: %v", places)
	}
	if text := refused[1]["text"].(string); !strings.Contains(text, "nothing in the instance is faulted") {
		t.Errorf("%v", refused[1])
	}
	if in := s.get(t, "/api/v1/instances/s").json(t); in["subStatus"] != "Suspended" {
		t.Errorf("something was done: %v", in)
	}
	// Who is told at once leaves nothing there.
	s.post(t, "/api/v1/instances/s/retry", "", 409)
	s.post(t, "/api/v1/events/shipped", `{}`, 200)
	if journal := string(s.get(t, "/api/v1/instances/s/journal").body); strings.Count(journal, `"Refused"`) != 2 {
		t.Errorf("%s", journal)
	}
}
