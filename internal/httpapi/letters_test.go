package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/node"
)

// A misspelt correlation is seen, mended and sent once.
func TestAQueuedEventIsMended(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, "id: mended#\nroot:\n  - event: mend#\n")
	s.post(t, "/api/v1/definitions/mended#/execute", `{"instanceId": "mended-1#", "correlationId": "right#"}`, 200)
	id := s.post(t, "/api/v1/events/mend#", `{"correlationId": "wrong#", "payload": {"n": 12345678901234567890}}`, 202).json(t)["queued"].(string)
	q := s.get(t, "/api/v1/queue/"+id)
	for _, want := range []string{`"name":"mend#"`, `"correlationId":"wrong#"`, `12345678901234567890`, `"others":[{"instanceId":"mended-1#"`, `"queued":true`} {
		if !strings.Contains(string(q.body), s.own(want)) {
			t.Errorf("no %s in %s", s.own(want), q.body)
		}
	}
	for body, code := range map[string]string{
		`{"payload": 1, "input": {}}`: "two-inputs", `{"correlation": "x"}`: "unknown-field", `{"input": {"foo": 1}}`: "it takes payload", `{"instanceId": "a b"}`: "instanceId",
	} {
		if a := s.do(t, http.MethodPost, "/api/v1/queue/"+id+"/send", body); a.status != 422 || !strings.Contains(string(a.body), code) {
			t.Errorf("%s: %d %s", body, a.status, a.body)
		}
	}
	send := `{"correlationId": "right#"}`
	first := s.post(t, "/api/v1/queue/"+id+"/send", send, 202, "Idempotency-Key: mend-#").json(t)["queued"]
	if again := s.post(t, "/api/v1/queue/"+id+"/send", send, 202, "Idempotency-Key: mend-#").json(t)["queued"]; again != first {
		t.Errorf("sent twice: %v and %v", first, again)
	}
	if a := s.post(t, "/api/v1/queue/"+id+"/send", send, 404); a.code() != "queue-item-not-found" {
		t.Errorf("%s", a.body)
	}
	if in := s.get(t, "/api/v1/instances/mended-1#", "Prefer: wait=20").json(t); in["subStatus"] != "Finished" {
		t.Errorf("%v", in)
	}
	id = s.post(t, "/api/v1/events/mend#", `{}`, 202).json(t)["queued"].(string)
	if a := s.do(t, http.MethodDelete, "/api/v1/queue/"+id, ""); a.status != 204 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := s.do(t, http.MethodGet, "/api/v1/queue/"+id, ""); a.status != 404 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestDeadLettersAreMended(t *testing.T) {
	t.Parallel()
	s := ownServer(t, node.Config{QueueTTL: time.Second})
	s.publish(t, "id: late\nroot:\n  - event: go\n")
	s.post(t, "/api/v1/definitions/late/execute", `{"instanceId": "late-1", "correlationId": "right"}`, 200)
	s.post(t, "/api/v1/definitions/late/execute", `{"instanceId": "late-2", "correlationId": "other"}`, 200)
	for _, name := range []string{"go", "gone", "gone", "forget"} {
		s.post(t, "/api/v1/events/"+name, `{"correlationId": "wrong", "payload": "x"}`, 202)
	}
	letters := func(query string) []any { return s.get(t, "/api/v1/dead-letters"+query).json(t)["items"].([]any) }
	polltest.Eventually(t, "all four are dead letters", func() bool { return len(letters("")) >= 4 })
	of := letters("?name=go&correlationId=wrong&reason=expired")
	if len(of) != 1 || len(letters("?name=go&correlationId=right")) != 0 || len(letters("?before=2020-01-01T00:00:00Z")) != 0 || len(letters("?name=gone")) != 2 {
		t.Fatalf("filtered: %v", of)
	}
	path := "/api/v1/dead-letters/" + of[0].(map[string]any)["id"].(string)
	if a := s.get(t, path); !strings.Contains(string(a.body), `"others":[{`) || !strings.Contains(string(a.body), `"input":{"payload":"x"}`) {
		t.Errorf("%s", a.body)
	}
	// To an instance that is not there, or has ended, it is refused, as an event is, and stays.
	s.publish(t, "id: ends\nroot: [{writeLine: x}]\n")
	s.post(t, "/api/v1/definitions/ends/execute", `{"instanceId": "ended-1"}`, 200)
	for to, want := range map[string]string{"nobody": "instance-not-found", "ended-1": "instance-finished"} {
		if a := s.do(t, http.MethodPost, path+"/replay", `{"instanceId": "`+to+`"}`); a.code() != want || a.status != 404 && a.status != 409 {
			t.Errorf("%s: %d %s", to, a.status, a.body)
		}
		if a := s.do(t, http.MethodPost, path+"/replay?dryRun=true", `{"instanceId": "`+to+`"}`); a.code() != want {
			t.Errorf("a dry run of a replay to %s: %s", to, a.body)
		}
		if res := s.post(t, "/api/v1/dead-letters/replay?dryRun=true", `{"name": "go", "edit": {"instanceId": "`+to+`"}}`, 200).json(t); len(res["done"].([]any)) != 0 || len(res["refused"].([]any)) != 1 {
			t.Errorf("a dry run of many: %v", res)
		}
		if res := s.post(t, "/api/v1/dead-letters/replay", `{"name": "go", "edit": {"instanceId": "`+to+`"}}`, 200).json(t); len(res["done"].([]any)) != 0 || len(res["refused"].([]any)) != 1 {
			t.Errorf("%s: %v", to, res)
		}
	}
	s.get(t, path)
	if res := s.post(t, path+"/replay?dryRun=true", `{"instanceId": "late-2", "correlationId": "", "payload": "y"}`, 200).json(t); fmt.Sprint(res["resumed"], res["refused"]) != "1 <nil>" {
		t.Errorf("a dry run of what is edited: %v", res)
	}
	s.post(t, path+"/replay", `{"instanceId": "late-2", "correlationId": "", "payload": "y"}`, 202, "Idempotency-Key: k1")
	s.post(t, path+"/replay", `{"instanceId": "late-2", "correlationId": "", "payload": "y"}`, 202, "Idempotency-Key: k1")
	if a := s.post(t, path+"/replay", `{}`, 404); a.code() != "dead-letter-not-found" {
		t.Errorf("%s", a.body)
	}
	if in := s.get(t, "/api/v1/instances/late-2", "Prefer: wait=20").json(t); in["subStatus"] != "Finished" {
		t.Errorf("%v", in)
	}
	for body, code := range map[string]string{`{}`: "missing-filter", `{"limit": 501, "all": true}`: "bad-limit", `{"nam": "x"}`: "unknown-field", `{"reason": "expierd"}`: "did you mean expired"} {
		if a := s.do(t, http.MethodPost, "/api/v1/dead-letters/delete", body); a.status != 422 || !strings.Contains(string(a.body), code) {
			t.Errorf("%s: %d %s", body, a.status, a.body)
		}
	}
	if a := s.do(t, http.MethodGet, "/api/v1/dead-letters?reason=expierd", ""); a.status != 422 || !strings.Contains(string(a.body), "reason") {
		t.Errorf("%d %s", a.status, a.body)
	}
	if res := s.post(t, "/api/v1/dead-letters/delete", `{"name": "forget"}`, 200).json(t); len(res["done"].([]any)) != 1 {
		t.Errorf("%v", res)
	}
	for _, kind := range []string{"replay", "delete"} { // they are there afterwards
		if res := s.post(t, "/api/v1/dead-letters/"+kind+"?dryRun=true", `{"all": true}`, 200).json(t); len(res["done"].([]any)) != 2 || len(res["refused"].([]any)) != 0 {
			t.Errorf("a dry run of %s: %v", kind, res)
		}
	}
	if res := s.post(t, "/api/v1/dead-letters/replay", `{"all": true}`, 200).json(t); len(res["done"].([]any)) != 2 || len(res["refused"].([]any)) != 0 || res["nextCursor"] != nil {
		t.Errorf("%v", res)
	}
	if in := s.get(t, "/api/v1/instances/late-1").json(t); in["subStatus"] != "Suspended" {
		t.Errorf("it was not for this one: %v", in)
	}
}

// What a stimulus brings is for those who may send one.
func TestWhatAStimulusBringsIsForOperators(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, nil)
	a := g.do(t, "POST", "/api/v1/events/hush", `{"payload": "confidential"}`, g.keys[auth.Operator])
	id := a.json(t)["queued"].(string)
	if a := g.do(t, "GET", "/api/v1/queue/"+id, "", g.keys[auth.Viewer]); a.status != 200 || strings.Contains(string(a.body), "confidential") || !strings.Contains(string(a.body), `"inputHidden":true`) {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := g.do(t, "GET", "/api/v1/queue/"+id, "", g.keys[auth.Operator]); !strings.Contains(string(a.body), "confidential") {
		t.Errorf("%s", a.body)
	}
}
