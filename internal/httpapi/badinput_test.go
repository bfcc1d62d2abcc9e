package httpapi_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

func TestBadRequestsAreRefusedByName(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, fmt.Sprintf(helloYAML, "bad-hello"))
	const (
		execute = "/api/v1/definitions/bad-hello/execute"
		events  = "/api/v1/events/e"
	)
	long := strings.Repeat("x", 300)
	tests := []struct {
		name         string
		method, path string
		body         string
		headers      []string
		status       int
		code         string
		says         string // part of the answer
	}{
		{"unknown route", "GET", "/api/v1/nothing", "", nil, 404, "not-found", "/openapi.json"},
		{"the root", "GET", "/", "", nil, 404, "not-found", ""},
		{"a path that wants cleaning", "POST", "/api/v1//definitions", "x", nil, 404, "not-found", ""},
		{"a path with dots", "GET", "/api/v1/../livez", "", nil, 404, "not-found", ""},
		{"a trailing slash", "GET", "/api/v1/nodes/", "", nil, 404, "not-found", ""},
		{"wrong method", "PUT", "/api/v1/definitions", "x", nil, 405, "method-not-allowed", "GET, HEAD, POST"},
		{"wrong method on a path with an id", "POST", "/api/v1/instances/x", "", nil, 405, "method-not-allowed", "DELETE, GET, HEAD"},
		{"a made-up method", "BREW", "/api/v1/nodes", "", nil, 405, "method-not-allowed", ""},
		{"an id with a slash", "GET", "/api/v1/instances/a%2Fb", "", nil, 422, "invalid-request", `'/'`},
		{"an id with a control character", "GET", "/api/v1/instances/a%00b", "", nil, 422, "invalid-request", ""},
		{"an id with a line break", "POST", "/api/v1/definitions/a%0Ab/execute", "{}", nil, 422, "invalid-request", ""},
		{"an id that is too long", "GET", "/api/v1/instances/" + long, "", nil, 422, "invalid-request", "128"},
		{"an id that is not UTF-8", "GET", "/api/v1/instances/%ff%fe", "", nil, 422, "invalid-request", ""},
		{"a bookmark id with a control character", "POST", "/api/v1/bookmarks/a%00~b/resume", "{}", nil, 404, "bookmark-not-found", ""},
		{"an event name that is too long", "POST", "/api/v1/events/" + long, "{}", nil, 422, "invalid-request", "256"},
		{"an event name that is not UTF-8", "POST", "/api/v1/events/%ff", "{}", nil, 422, "invalid-request", "UTF-8"},
		{"unknown definition", "POST", "/api/v1/definitions/none/execute", "{}", nil, 404, "definition-not-found", "none"},
		{"unknown version", "POST", execute, `{"version": 99, "input": {"name": "x"}}`, nil, 404, "definition-not-found", ""},
		{"unknown instance", "GET", "/api/v1/instances/none", "", nil, 404, "instance-not-found", "none"},
		{"unknown instance's journal", "GET", "/api/v1/instances/none/journal", "", nil, 404, "instance-not-found", ""},
		{"unknown instance's state", "GET", "/api/v1/instances/none/state", "", nil, 404, "instance-not-found", ""},
		{"cancel of an unknown instance", "POST", "/api/v1/instances/none/cancel", "", nil, 404, "instance-not-found", ""},
		{"delete of an unknown instance", "DELETE", "/api/v1/instances/none", "", nil, 404, "instance-not-found", ""},
		{"unknown dead letter", "DELETE", "/api/v1/dead-letters/none", "", nil, 404, "dead-letter-not-found", ""},
		{"replay of an unknown dead letter", "POST", "/api/v1/dead-letters/none/replay", "", nil, 404, "dead-letter-not-found", ""},
		{"unknown task", "POST", "/api/v1/tasks/none/complete", `{"result": 1}`, nil, 404, "task-not-found", ""},
		{"retract of an unknown definition", "POST", "/api/v1/definitions/none/retract", "", nil, 404, "definition-not-found", ""},
		{"delete of an unknown definition", "DELETE", "/api/v1/definitions/none", "", nil, 404, "definition-not-found", ""},
		{"an undeclared endpoint", "GET", "/workflows/nothing/here", "", nil, 404, "route-not-found", ""},
		{"an undeclared endpoint with dots", "GET", "/workflows/../api/v1/nodes", "", nil, 404, "route-not-found", ""},
		{"unknown fields", "POST", execute, `{"inputs": {}, "corelationId": "x"}`, nil, 422, "invalid-request", `/corelationId`},
		{"a wrong type", "POST", execute, `{"input": "Ada"}`, nil, 422, "invalid-request", "it must be an object"},
		{"broken JSON", "POST", execute, `{"input": `, nil, 422, "invalid-request", "malformed-json"},
		{"not an object", "POST", events, `[]`, nil, 422, "invalid-request", "must be a JSON object"},
		{"a negative version", "POST", execute, `{"version": -1}`, nil, 422, "invalid-request", "/version"},
		{"a bad instance id in the body", "POST", execute, `{"instanceId": "a/b"}`, nil, 422, "invalid-request", "/instanceId"},
		{"an instance id with a tenant", "POST", execute, `{"instanceId": "acme~1"}`, nil, 422, "invalid-request", "reserved"},
		{"an instance id with a cell", "POST", execute, `{"instanceId": "07!1"}`, nil, 422, "invalid-request", "reserved"},
		{"an instance of a tenant", "GET", "/api/v1/instances/acme~1", "", nil, 422, "invalid-request", "reserved"},
		{"a definition of a tenant", "POST", "/api/v1/definitions", "id: acme~x\nroot:\n  - writeLine: a\n", nil, 422, "definition-invalid", "reserved"},
		{"a correlation that is too long", "POST", execute, `{"correlationId": "` + long + `"}`, nil, 422, "invalid-request", "/correlationId"},
		{"an unknown query parameter", "GET", "/api/v1/instances?state=Running", "", nil, 422, "invalid-request", "state"},
		{"an unknown status", "GET", "/api/v1/instances?status=Done", "", nil, 422, "invalid-request", "Running, Finished"},
		{"a version of no definition", "GET", "/api/v1/instances?version=1", "", nil, 422, "invalid-request", "definitionId"},
		{"a version that is none", "GET", "/api/v1/instances?definitionId=x&version=0", "", nil, 422, "invalid-request", "version"},
		{"a parent that is none", "GET", "/api/v1/instances?parent=a/b", "", nil, 422, "invalid-request", "/parent"},
		{"a label that is none", "GET", "/api/v1/instances?label.a%2Fb=x", "", nil, 422, "invalid-request", "label.a/b"},
		{"a label without a name", "GET", "/api/v1/instances?label.=x", "", nil, 422, "invalid-request", "label."},
		{"a label without a value", "GET", "/api/v1/instances?label.a=", "", nil, 422, "invalid-request", "one value"},
		{"a label of two values", "GET", "/api/v1/instances?label.a=1&label.a=2", "", nil, 422, "invalid-request", "one value"},
		{"a query that is none", "GET", "/api/v1/instances?q=hello", "", nil, 422, "invalid-request", `"pointer":"/q"`},
		{"an unknown word", "GET", "/api/v1/instances?q=def:x%20statsu:faulted", "", nil, 422, "invalid-request", `did you mean status?`},
		{"a word with a caret", "GET", "/api/v1/instances?q=def:x%20statsu:faulted", "", nil, 422, "invalid-request", `"column":7`},
		{"half a quote", "GET", "/api/v1/instances?q=incident:%22x", "", nil, 422, "invalid-request", "not closed"},
		{"a query that is not UTF-8", "GET", "/api/v1/instances?q=corr:%ff", "", nil, 422, "invalid-request", "UTF-8"},
		{"a long query", "GET", "/api/v1/instances?q=" + strings.Repeat("-corr:abcdefgh%20", 600), "", nil, 422, "invalid-request", "8192"},
		{"two queries", "GET", "/api/v1/instances?q=def:x&q=def:y", "", nil, 422, "invalid-request", "given 2 times"},
		{"a query against a parameter", "GET", "/api/v1/instances?q=def:x&definitionId=y", "", nil, 422, "invalid-request", "def:x in q"},
		{"an unknown order", "GET", "/api/v1/instances?sort=-updated", "", nil, 422, "invalid-request", "-created"},
		{"an unknown view", "GET", "/api/v1/instances?view=all", "", nil, 422, "invalid-request", "summary, full"},
		{"a time that is none", "GET", "/api/v1/instances?createdAfter=yesterday", "", nil, 422, "invalid-request", "/createdAfter"},
		{"a wait that is none", "GET", "/api/v1/instances?waitsFor=approved", "", nil, 422, "invalid-request", "event/approved"},
		{"a flag of incidents that is none", "GET", "/api/v1/instances?hasIncidents=some", "", nil, 422, "invalid-request", "true or false"},
		{"a limit twice", "GET", "/api/v1/instances?limit=1&limit=2", "", nil, 422, "invalid-request", "given 2 times"},
		{"a limit that is none", "GET", "/api/v1/instances?limit=many", "", nil, 422, "invalid-request", "limit"},
		{"a limit that is too high", "GET", "/api/v1/instances?limit=501", "", nil, 422, "invalid-request", "500"},
		{"a cursor that is none", "GET", "/api/v1/instances?cursor=%00%ff", "", nil, 422, "invalid-request", "cursor"},
		{"a cursor of locks that is none", "GET", "/api/v1/locks?cursor=x", "", nil, 422, "invalid-request", "cursor"},
		{"a cursor of definitions that is none", "GET", "/api/v1/definitions?cursor=%2F%00", "", nil, 422, "invalid-request", "cursor"},
		{"a flag that is none", "DELETE", "/api/v1/definitions/bad-hello?force=maybe", "", nil, 422, "invalid-request", "force"},
		{"an empty key", "POST", execute, `{}`, []string{"Idempotency-Key: "}, 422, "invalid-request", "Idempotency-Key"},
		{"a key that is too long", "POST", execute, `{}`, []string{"Idempotency-Key: " + long}, 422, "invalid-request", "Idempotency-Key"},
		{"an event for an empty correlation", "POST", events, `{"correlationId": ""}`, nil, 422, "invalid-request", "every correlation"},
		{"a dry run of one", "POST", events + "?dryRun=true", `{"correlationId": "", "payload": 1}`, nil, 422, "invalid-request", "/correlationId"},
		{"a stimulus for an empty correlation", "POST", "/api/v1/stimuli", `{"activityType": "Elsa.Event", "stimulus": {"eventName": "e"}, "correlationId": ""}`, nil, 422, "invalid-request", "every correlation"},
		{"an endpoint with an empty correlation", "POST", "/workflows/nothing?correlationId=", "", nil, 422, "invalid-request", "every correlation"},
		{"an endpoint with an empty correlation in its head", "POST", "/workflows/nothing", "", []string{"X-Correlation-Id: "}, 422, "invalid-request", "every correlation"},
		{"XML", "POST", execute, `<input/>`, []string{"Content-Type: application/xml"}, 415, "unsupported-media-type", "application/json"},
		{"a definition in XML", "POST", "/api/v1/definitions", `<x/>`, []string{"Content-Type: text/xml"}, 415, "unsupported-media-type", "application/yaml"},
		{"no definition", "POST", "/api/v1/definitions", " \n", nil, 422, "invalid-request", "definition"},
		{"broken YAML", "POST", "/api/v1/definitions", "id: x\nroot:\n  - writeLine: [", []string{"Content-Type: application/yaml"}, 422, "definition-invalid", `"line"`},
		{"a definition in broken JSON", "POST", "/api/v1/definitions", `{"root": `, []string{"Content-Type: application/json"}, 422, "definition-invalid", `"errors"`},
		{"two unknown activities", "POST", "/api/v1/definitions", "id: x\nroot:\n  - writeLin: a\n  - wrteLine: b\n", nil, 422, "definition-invalid", `"line":4`},
		{"a stimulus of nothing", "POST", "/api/v1/stimuli", `{}`, nil, 422, "invalid-request", "/activityType"},
		{"a task with result and error", "POST", "/api/v1/tasks/x/complete", `{"result": 1, "error": "no"}`, nil, 422, "invalid-request", "not both"},
		{"an import of nothing", "PUT", "/api/v1/instances/x/state", `{}`, nil, 422, "invalid-request", "sequence"},
		{"an If-Match with two", "DELETE", "/api/v1/definitions/x", ``, []string{`If-Match: "1", "2"`}, 422, "invalid-request", ""},
		{"an If-Match that is none", "PUT", "/api/v1/instances/x/state", `{}`, []string{"If-Match: latest"}, 412, "instance-moved", ""},
		{"a body for a command that takes none", "POST", "/api/v1/pause", `{"for": "ever"}`, nil, 422, "invalid-request", "/for"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := s.do(t, tt.method, tt.path, tt.body, tt.headers...)
			if a.status != tt.status || a.code() != tt.code {
				t.Errorf("got %d %s, want %d %s: %s", a.status, a.code(), tt.status, tt.code, a.body)
			}
			if !strings.Contains(string(a.body), tt.says) {
				t.Errorf("the answer does not say %q: %s", tt.says, a.body)
			}
			if tt.status == 405 && !strings.Contains(string(a.body), a.header.Get("Allow")) {
				t.Errorf("Allow is %q", a.header.Get("Allow"))
			}
			if a.header.Get("X-Request-Id") == "" {
				t.Error("no request id")
			}
		})
	}
}

func TestLargeBodiesAreNotRead(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	five := strings.Repeat("# a line of a comment that goes on and on\n", 5<<20/42)
	for _, path := range []string{"/api/v1/definitions", "/api/v1/events/x", "/api/v1/definitions/x/execute", "/workflows/x", "/api/v1/instances/x/state"} {
		method, body := http.MethodPost, five
		if strings.HasSuffix(path, "/state") { // an import may be as large as any instance
			method, body = http.MethodPut, strings.Repeat(five, 13)
		}
		a := s.do(t, method, path, body)
		if a.status != 413 || a.code() != "too-large" {
			t.Errorf("%s: got %d %s", path, a.status, a.body)
		}
		if given := strings.Contains(path, "events") || strings.Contains(path, "execute") || strings.Contains(path, "workflows"); given != strings.Contains(string(a.body), "up to 16777216 bytes: send it to an HTTP endpoint") {
			t.Errorf("%s: which way it comes: %s", path, a.body)
		}
	}
	// The same without a length beforehand.
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.base+"/api/v1/events/x", io.MultiReader(strings.NewReader(five)))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("chunked: got %d", resp.StatusCode)
	}
}

func TestRequestIdIsTakenOver(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	if got := s.get(t, "/livez", "X-Request-Id: abc-1").header.Get("X-Request-Id"); got != "abc-1" {
		t.Errorf("X-Request-Id is %q", got)
	}
	if got := s.get(t, "/livez", "X-Request-Id: <script>").header.Get("X-Request-Id"); got == "<script>" || got == "" {
		t.Errorf("X-Request-Id is %q", got)
	}
	a := s.do(t, http.MethodGet, "/api/v1/instances/none", "", "X-Request-Id: abc-2")
	if a.json(t)["requestId"] != "abc-2" {
		t.Errorf("problem: %s", a.body)
	}
}

// HEAD answers like GET, without a body.
func TestHead(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	for path, want := range map[string]int{"/livez": 200, "/api/v1/nodes": 200, "/api/v1/instances/none": 404, "/nothing": 404} {
		a := s.do(t, http.MethodHead, path, "")
		if a.status != want || len(a.body) != 0 {
			t.Errorf("HEAD %s: %d %q", path, a.status, a.body)
		}
	}
}

// A request that is not HTTP at all does no harm to the next one.
func TestGarbageOnTheWire(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET /livez\x00 HTTP/9\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err == nil && !strings.Contains(line, " 400 ") && !strings.Contains(line, " 505 ") {
		t.Errorf("got %q", line)
	}
	s.get(t, "/livez")
}
