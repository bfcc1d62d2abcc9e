package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

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
