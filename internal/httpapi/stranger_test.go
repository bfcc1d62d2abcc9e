package httpapi_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/nodetest"
	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/node"
)

// ownServer is a node for one test.
func ownServer(t *testing.T, cfg node.Config) *server {
	t.Helper()
	return serverOf(t, nodetest.Start(t, cfg))
}

// unsent sends the head of a request whose body never comes.
func (s *server) unsent(t *testing.T, method, path string) net.Conn {
	t.Helper()
	c := s.dial(t)
	if _, err := fmt.Fprintf(c, "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n", method, s.own(path)); err != nil {
		t.Fatal(err)
	}
	return c
}

// What is refused by its head is answered at once, and its connection ends,
// whether its body comes or not.
func TestWhatIsRefusedWaitsForNoBody(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	for _, c := range []struct {
		method, path string
		status       int
	}{
		{"POST", "/nope", 404}, {"POST", "/livez", 405}, {"PUT", "/api/v1/pause", 405}, {"POST", "//", 404},
		{"POST", "/api/v1/events/x?no=such", 422}, {"POST", "/workflows/none-such#", 404},
	} {
		t.Run(c.method+" "+c.path, func(t *testing.T) {
			t.Parallel()
			conn := s.unsent(t, c.method, c.path)
			_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
			r := bufio.NewReader(conn)
			resp, err := http.ReadResponse(r, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if resp.StatusCode != c.status || !resp.Close {
				t.Errorf("%d, closes: %t", resp.StatusCode, resp.Close)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			if _, err := r.ReadByte(); err != io.EOF {
				t.Errorf("the connection does not end: %v", err)
			}
		})
	}
}

// A body that does not come takes no place from anybody.
func TestASlowBodyHoldsNoPlace(t *testing.T) {
	t.Parallel()
	s := ownServer(t, node.Config{MaxInFlight: 2})
	s.publish(t, "id: door\nroot:\n  - httpEndpoint: {path: door, supportedMethods: [POST]}\n    trigger: true\n")
	for range 8 {
		s.unsent(t, "POST", "/api/v1/events/e")
		s.unsent(t, "POST", "/workflows/door")
		s.unsent(t, "POST", "/links/x")
		for _, path := range []string{"/metrics", "/readyz", "/livez", "/openapi.json", "/schema/v1.json", "/api/v1/nodes", "/links/x", "/console/", "/console/static/console.css"} {
			s.unsent(t, "GET", path)
		}
	}
	// For a moment each has one, in which its endpoint is looked for.
	deadline := time.Now().Add(15 * time.Second) // half of what a body may take
	for _, method := range []string{"GET /api/v1/nodes", "POST /workflows/door", "GET /metrics", "GET /readyz", "GET /console/"} {
		method, path, _ := strings.Cut(method, " ")
		for a := s.do(t, method, path, ""); a.status != 200; a = s.do(t, method, path, "") {
			if time.Now().After(deadline) {
				t.Fatalf("%s %s: %d %s", method, path, a.status, a.body)
			}
			time.Sleep(time.Millisecond)
		}
	}
}

// What stops or ends work finds a place when all are taken, and waits are never
// all of them.
func TestPlacesAreKeptForWhatEndsWork(t *testing.T) {
	t.Parallel()
	slow, inside, end := slowServer(t)
	s := ownServer(t, node.Config{MaxInFlight: 2, AllowPrivateAddresses: true})
	// Its caller keeps its place until there is an answer; that of an execution may be told
	// that it was accepted.
	s.publish(t, "id: slow\nroot:\n  - httpEndpoint: {path: slow, supportedMethods: [POST], requestTimeout: \"00:05:00\"}\n    trigger: true\n  - sendHttpRequest: {url: \""+slow+"\"}\n")
	s.publish(t, "id: waits\nroot:\n  - event: go\n")
	s.post(t, "/api/v1/definitions/waits/execute", `{"instanceId": "waits"}`, 200)
	done := make(chan answer, 2)
	go func() { done <- s.do(t, "POST", "/workflows/slow", "") }()
	<-inside
	go func() {
		a := answer{status: http.StatusServiceUnavailable}
		for a.status == http.StatusServiceUnavailable { // the place may be taken by who looks whether it is
			a = s.do(t, "GET", "/api/v1/instances/waits", "", "Prefer: wait=60")
		}
		done <- a
	}()
	polltest.Eventually(t, "both places are taken", func() bool { return s.do(t, "GET", "/api/v1/nodes", "").status != 200 })
	asked := time.Now()
	if a := s.do(t, "GET", "/api/v1/instances/waits", "", "Prefer: wait=60"); a.status != 503 || a.code() != "busy" || a.header.Get("Preference-Applied") != "" || !strings.Contains(string(a.body), "1 in all") {
		t.Errorf("a second wait: %d %s", a.status, a.body)
	}
	if took := time.Since(asked); took < time.Second {
		t.Errorf("a wait is refused after %s: who asks again at once asks thousands of times a second", took)
	}
	s.post(t, "/api/v1/pause", "", 200)
	s.post(t, "/api/v1/unpause", "", 200)
	s.post(t, "/api/v1/instances/waits/cancel", "", 200)
	if got := s.get(t, "/readyz").json(t)["shedding"]; got != true {
		t.Errorf("shedding: %v", got)
	}
	end()
	for range cap(done) {
		if a := <-done; a.status != 200 && a.status != 202 {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
}

// A body of many values is refused before they are made, and not looked at where
// nothing takes it.
func TestABodyMayHaveSoManyValues(t *testing.T) {
	t.Parallel()
	s := ownServer(t, node.Config{BodyBytes: 16 << 20})
	s.publish(t, "id: door\nroot:\n  - httpEndpoint: {path: door, supportedMethods: [POST]}\n    trigger: true\n")
	list := func(n int) string { return "[" + strings.Repeat("1,", n-2) + "1]" }
	for _, path := range []string{"/workflows/door", "/api/v1/events/e"} {
		for n, want := range map[int]int{100_000: 200, 100_001: 413} {
			body := list(n)
			if strings.HasPrefix(path, "/api") {
				body = `{"payload": ` + list(n-1) + `}`
			}
			a := s.do(t, "POST", path, body, "Content-Type: application/json")
			if a.status/100 != want/100 || want == 413 && (a.code() != "too-large" || !strings.Contains(string(a.body), "100001 JSON values; there may be 100000")) {
				t.Errorf("%s with %d values: %d %.300s", path, n, a.status, a.body)
			}
		}
	}
	if a := s.do(t, "POST", "/workflows/none", list(400_000), "Content-Type: application/json"); a.code() != "route-not-found" {
		t.Errorf("no such endpoint: %d %s", a.status, a.body)
	}
}

// A page of another site, which a browser shows, changes nothing here; what is no
// browser, and a page of this origin, may.
func TestAPageOfAnotherSiteChangesNothing(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	yaml := s.own("id: foreign#\nroot:\n  - writeLine: x\n")
	for _, headers := range [][]string{
		{"Origin: https://evil.example", "Sec-Fetch-Site: cross-site"}, {"Origin: https://evil.example"}, {"Origin: null"}, {"Sec-Fetch-Site: same-site"},
	} {
		for _, typ := range []string{"application/x-www-form-urlencoded", "text/plain", "application/yaml"} {
			a := s.do(t, "POST", "/api/v1/definitions", yaml, append(headers, "Content-Type: "+typ)...)
			if a.status != 403 || a.code() != "forbidden" {
				t.Errorf("%v %s: %d %s", headers, typ, a.status, a.body)
			}
		}
		s.get(t, "/api/v1/nodes", headers...)
	}
	if a := s.do(t, "GET", "/api/v1/definitions/foreign#", ""); a.status != 404 {
		t.Errorf("it was published: %d", a.status)
	}
	for _, headers := range [][]string{nil, {"Origin: " + s.base}, {"Sec-Fetch-Site: same-origin", "Origin: " + s.base}} {
		if a := s.do(t, "POST", "/api/v1/definitions", yaml, headers...); a.status/100 != 2 {
			t.Errorf("%v: %d %s", headers, a.status, a.body)
		}
	}
}

// A page whose own name points at a node without credentials reads nothing there.
func TestAHostOfAnotherNameIsRefused(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, "id: hosted#\nroot:\n  - httpEndpoint: {path: \"hosted#\", supportedMethods: [GET]}\n    trigger: true\n")
	for _, path := range []string{"/api/v1/instances", "/openapi.json", "/workflows/hosted#", "/links/x", "/nothing", "/"} {
		if a := s.do(t, "GET", path, "", "Host: rebind.evil.example"); a.status != http.StatusMisdirectedRequest || a.code() != "unknown-host" || !strings.Contains(string(a.body), "--host rebind.evil.example") {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
		for _, host := range []string{"localhost", "weft.example:8443", "192.0.2.7"} {
			if a := s.do(t, "GET", path, "", "Host: "+host); a.status == http.StatusMisdirectedRequest {
				t.Errorf("%s of %s: %d %s", path, host, a.status, a.body)
			}
		}
	}
	for _, path := range []string{"/livez", "/readyz", "/metrics"} {
		s.get(t, path, "Host: weft-0.weft.svc.cluster.local")
	}
}

// A page that a definition serves has the address of the API. It gets an origin of
// its own, so that what its scripts send to the API is another site's.
func TestAPageOfADefinitionHasItsOwnOrigin(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	for name, policy := range map[string][]string{"": nil, "Content-Security-Policy": {"default-src 'self'"}, "content-security-policy": {"sandbox allow-same-origin allow-scripts"}} {
		headers := ""
		if name != "" {
			headers = fmt.Sprintf(", responseHeaders: {%q: %q}", name, policy[0])
		}
		s.publish(t, "id: page#\nroot:\n  - httpEndpoint: {path: \"page#\", supportedMethods: [GET]}\n    trigger: true\n"+
			"  - writeHttpResponse: {content: \"<script>1</script>\", contentType: text/html"+headers+"}\n")
		got := s.get(t, "/workflows/page#").header.Get("Content-Security-Policy")
		first, rest, _ := strings.Cut(got, ", ")
		if !strings.HasPrefix(first, "sandbox ") || strings.Contains(first, "allow-same-origin") || policy != nil && rest != policy[0] {
			t.Errorf("%s %v: %q", name, policy, got)
		}
	}
}

// What a proxy keeps inside by its path cannot be had by another spelling of it.
func TestHealthHasOneSpelling(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	for _, path := range []string{"/%6detrics", "/metric%73", "/%6Civez"} {
		if a := s.do(t, "GET", path, ""); a.status != 404 {
			t.Errorf("%s: %d", path, a.status)
		}
	}
	s.get(t, "/metrics")
}

// What an endpoint is sent is UTF-8 before it is kept.
func TestEndpointsTakeValidText(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, "id: text#\nroot:\n  - httpEndpoint: {path: \"text#/{x}\", supportedMethods: [GET, POST]}\n    trigger: true\n")
	for _, c := range [][]string{{"/workflows/text#/a?x=%8e%8f"}, {"/workflows/text#/a?%8e=x"}, {"/workflows/text#/%8e"}, {"/workflows/text#/a", "X-It: \x8e"}} {
		if a := s.do(t, "GET", c[0], "", c[1:]...); a.status != 422 {
			t.Errorf("%q: %d %s", c, a.status, a.body)
		}
	}
	s.get(t, "/workflows/text#/%C3%A9?x=%C3%A9", "X-It: é")
	for body, want := range map[string]int{"\x8e": 415, "{\"x\": \"\x8e\"}": 415, "é": 200} {
		if a := s.do(t, "POST", "/workflows/text#/a", body); a.status != want {
			t.Errorf("the body %q: %d %s", body, a.status, a.body)
		}
	}
}

// Who names an instance at an open endpoint does not learn whether it is there, and
// how it ended.
func TestEndpointsTellNothingOfInstances(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, "id: oracle#\nroot:\n  - httpEndpoint: {path: \"oracle#\", supportedMethods: [POST]}\n    trigger: true\n")
	s.publish(t, fmt.Sprintf(waitingYAML, "oracle-waits#", "oracle#"))
	s.publish(t, "id: oracle-faults#\nroot:\n  - fault: no\n")
	s.publish(t, "id: oracle-ends#\nroot:\n  - writeLine: x\n")
	for _, id := range []string{"oracle-waits#", "oracle-faults#", "oracle-ends#"} {
		s.post(t, "/api/v1/definitions/"+id+"/execute", `{"instanceId": "`+id+`"}`, 200)
	}
	said := map[string]bool{}
	for _, id := range []string{"oracle-waits#", "oracle-faults#", "oracle-ends#", "oracle-nobody#"} {
		for _, headers := range [][]string{{"X-Workflow-Instance-Id: " + id}, {"X-Workflow-Instance-Id: " + id, "Idempotency-Key: " + id}} {
			a := s.do(t, "POST", "/workflows/oracle#", "", headers...)
			said[fmt.Sprint(a.status, a.code(), a.json(t)["detail"])] = true
		}
	}
	if len(said) != 1 {
		t.Errorf("it tells them apart: %v", said)
	}
}

// What a request is about is part of it, wherever that stands.
func TestAKeyIsForOneRequest(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, "id: keyed#\nroot:\n  - httpEndpoint: {path: \"keyed#\", supportedMethods: [POST]}\n    trigger: true\n  - writeHttpResponse: {content: \"${{ newId() }}\"}\n")
	ask := func(path string, headers ...string) answer {
		return s.do(t, "POST", "/workflows/keyed#"+path, "", append(headers, "Idempotency-Key: k")...)
	}
	first := ask("?a=1&b=2")
	if again := ask("?b=2&a=1"); first.status != 200 || again.status != 200 || string(again.body) != string(first.body) {
		t.Errorf("again: %d %s, then %d %s", first.status, first.body, again.status, again.body)
	}
	for path, header := range map[string]string{"?a=1": "X-A: b", "?correlationId=x": "X-A: b", "?a=1&b=2": "X-Correlation-Id: x", "?a=1&b=2&c": "X-A: b"} {
		if a := ask(path, header); a.status != 422 || a.code() != "idempotency-key-reused" {
			t.Errorf("%s %s: %d %s", path, header, a.status, a.body)
		}
	}
}

// The encoded forms of what a path takes for a directory name nothing.
func TestIDsOfDirectoriesAreRefused(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, fmt.Sprintf(waitingYAML, "dots#", "dots#"))
	for _, id := range []string{".", ".."} {
		if a := s.do(t, "POST", "/api/v1/definitions/dots#/execute", `{"instanceId": "`+id+`"}`); a.status != 422 {
			t.Errorf("%s: %d %s", id, a.status, a.body)
		}
		encoded := strings.ReplaceAll(id, ".", "%2e")
		if a := s.do(t, "GET", "/api/v1/instances/"+encoded, ""); a.status != 422 && a.status != 404 {
			t.Errorf("%s: %d %s", encoded, a.status, a.body)
		}
	}
}
