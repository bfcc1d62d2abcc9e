package httpapi_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/node"
)

// operationDoc is what the walk reads of a route in openapi.json.
type operationDoc struct {
	ID          string `json:"operationId"`
	Parameters  []struct{ Name, In string }
	RequestBody *struct {
		Content map[string]any
	}
}

// routeDocs are all routes of the table, by method and path.
func (s *server) routeDocs(t *testing.T) map[string]operationDoc {
	t.Helper()
	var doc struct {
		Paths map[string]map[string]operationDoc
	}
	if err := json.Unmarshal(s.get(t, "/openapi.json").body, &doc); err != nil {
		t.Fatal(err)
	}
	all := map[string]operationDoc{}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			all[strings.ToUpper(method)+" "+path] = op
		}
	}
	return all
}

// things are what the paths of the walk name: each is there, so that a request which is not refused does something.
func (s *server) things(t *testing.T) map[string]string {
	t.Helper()
	s.publish(t, "id: walked\nroot:\n  - event: go\n  - runTask: {taskName: look}\n")
	s.publish(t, "id: every\nroot:\n  - cron: \"0 0 0 1 1 *\"\n    id: yearly\n    trigger: true\n")
	s.post(t, "/api/v1/definitions/walked/execute", `{"instanceId": "walked-1", "correlationId": "c"}`, 200)
	s.post(t, "/api/v1/definitions/walked/execute", `{"instanceId": "walked-2", "correlationId": "d"}`, 200)
	s.post(t, "/api/v1/events/go", `{"instanceId": "walked-2"}`, 200)
	s.post(t, "/api/v1/events/nobody", `{}`, 202, "Idempotency-Key: walked")
	if a := s.do(t, http.MethodPut, "/api/v1/webhooks/crm", `{"url": "https://crm.example.com/weft", "on": ["ended"], "secrets": ["crm-key"]}`); a.status != 201 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	first := func(path string) string {
		return s.get(t, path).json(t)["items"].([]any)[0].(map[string]any)["id"].(string)
	}
	job := s.post(t, "/api/v1/jobs", `{"kind": "cancel", "q": "def:none"}`, 202).json(t)["id"].(string)
	polltest.Eventually(t, "the job is done", func() bool { return s.get(t, "/api/v1/jobs/"+job).json(t)["state"] == "done" })
	task := s.get(t, "/api/v1/tasks").json(t)["items"].([]any)[0].(map[string]any)
	return map[string]string{
		"/definitions/{id}/schedules/": "every", "/definitions/{id}": "walked", "/instances/{id}": "walked-1", "/nodes/{id}": "node-1", "/jobs/{id}": job, "/queue/{id}": first("/api/v1/queue"),
		"/tasks/{id}": fmt.Sprint(task["taskId"]), "/dead-letters/{id}": "d", "/bookmarks/{id}": "b", "{name}": "crm", "{key}": "walked", "{version}": "1", "{activity}": "yearly", "{token}": "t",
	}
}

// broken are requests that no route can take as they are. What they ask that is not known, is given twice or cannot be
// read would have to be left out to answer them.
type broken struct {
	what    string
	query   string
	headers []string
	body    string // "": none
}

var brokenRequests = []broken{
	{what: "a query with a semicolon", query: "dryRun=true;"},
	{what: "a query that ends in a percent sign", query: "dryRun=true%"},
	{what: "a query with a bad escape behind a good pair", query: "limit=1&x=%zz"},
	{what: "an unknown parameter", query: "colour=blue"},
	{what: "an unknown parameter without a value", query: "colour"},
	{what: "a parameter of another case", query: "DRYRUN=true"},
	{what: "a parameter without a name", query: "=true"},
	{what: "an empty key", headers: []string{"Idempotency-Key: "}},
	{what: "two keys", headers: []string{"Idempotency-Key: a", "Idempotency-Key: b"}},
	{what: "the same key twice", headers: []string{"Idempotency-Key: a", "Idempotency-Key: a"}},
	{what: "a key with a letter that is not ASCII", headers: []string{"Idempotency-Key: ä"}},
	{what: "a key that is too long", headers: []string{"Idempotency-Key: " + strings.Repeat("k", 256)}},
	{what: "another method in a header", headers: []string{"X-HTTP-Method-Override: DELETE"}},
	{what: "and in another", headers: []string{"X-Method-Override: PUT"}},
	{what: "two If-Match", headers: []string{`If-Match: "1"`, `If-Match: "2"`}},
	{what: "two types", headers: []string{"Content-Type: application/json", "Content-Type: text/plain"}},
	{what: "two correlations in the head", headers: []string{"X-Correlation-Id: a", "X-Correlation-Id: b"}},
}

// brokenBodies are for routes that take an object.
var brokenBodies = []broken{
	{what: "a body that ends early", body: `{"a": `},
	{what: "a body with a field that is not known", body: `{"colour": "blue"}`},
	{what: "a body with a field twice", body: `{"colour": 1, "colour": 2}`},
	{what: "a body with more behind it", body: `{} {}`},
	{what: "a list", body: `[]`},
	{what: "a text", body: `"blue"`},
	{what: "a word", body: `blue`},
	{what: "a form", body: `colour=blue`, headers: []string{"Content-Type: application/x-www-form-urlencoded"}},
	{what: "XML", body: `<a/>`, headers: []string{"Content-Type: application/xml"}},
	{what: "a form of parts", body: "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--x--\r\n", headers: []string{"Content-Type: multipart/form-data; boundary=x"}},
	{what: "a body that is not UTF-8", body: "{\"colour\": \"\xff\"}"},
}

// TestNothingThatIsAskedIsDropped walks all routes with requests that none can take as they are: each is refused, and
// nothing is done.
func TestNothingThatIsAskedIsDropped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "crm-key"), []byte("a-secret-that-signs"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := ownServer(t, node.Config{NodeID: "node-1", SecretsDir: dir})
	things := s.things(t)
	names := slices.SortedFunc(maps.Keys(things), func(a, b string) int { return len(b) - len(a) })
	before := s.everything(t)
	requests := 0
	for route, op := range s.routeDocs(t) {
		method, path, _ := strings.Cut(route, " ")
		if strings.HasPrefix(path, "/workflows/") {
			continue // the table of HTTP has them
		}
		asked := path
		for _, name := range names {
			if value := things[name]; strings.Contains(asked, name) {
				filled := regexp.MustCompile(`\{\w+\}`).ReplaceAllLiteralString(name, value)
				asked = strings.ReplaceAll(asked, name, filled)
			}
		}
		asked = regexp.MustCompile(`\{\w+\}`).ReplaceAllLiteralString(asked, "go")
		all := slices.Clone(brokenRequests)
		for _, p := range op.Parameters {
			switch {
			case p.In == "query" && !slices.Contains([]string{"name", "label", "activity", "event"}, p.Name):
				all = append(all, broken{what: "twice " + p.Name, query: p.Name + "=1&" + p.Name + "=1"})
			case p.In == "header" && p.Name == "If-Match":
				all = append(all, broken{what: "a broken ETag", headers: []string{"If-Match: latest"}, body: "id: walked\nroot: [{writeLine: x}]\n"})
			}
		}
		has := func(in, name string) bool {
			return slices.ContainsFunc(op.Parameters, func(p struct{ Name, In string }) bool { return p.In == in && p.Name == name })
		}
		if !has("header", "If-Match") {
			all = append(all, broken{what: "an If-Match that is not taken", headers: []string{`If-Match: "1"`}})
		}
		if has("header", "Idempotency-Key") {
			for _, name := range []string{`If-None-Match: *`, "If-Unmodified-Since: Mon, 30 Nov 2026 00:00:00 GMT", "Content-Range: bytes 0-9/100", "X-Workflow-Instance-Id: walked-1"} {
				all = append(all, broken{what: name, headers: []string{name}})
			}
		}
		switch {
		case path == "/links/{token}":
			all = slices.DeleteFunc(all, func(b broken) bool { // mails add parameters of their own to a link
				return strings.Contains(b.what, "unknown parameter") || strings.Contains(b.what, "without a name") || strings.Contains(b.what, "another case")
			})
		case op.ID == "publishDefinition" || op.ID == "checkDefinition":
			all = append(all, broken{what: "a definition with an unknown key", body: "id: walked\ncolour: blue\nroot: [{writeLine: x}]\n"})
		default:
			all = append(all, brokenBodies...)
		}
		for _, b := range all {
			requests++
			target := asked
			if b.query != "" {
				target += "?" + b.query
			}
			status, answer := s.raw(t, method, target, b.body, b.headers)
			if op.ID == "checkDefinition" && strings.Contains(answer, `"severity":"error"`) {
				continue // it says what is wrong: that is what it was asked
			}
			if status < 400 || status >= 500 {
				t.Errorf("%s with %s: %d %s", route, b.what, status, answer)
			}
		}
	}
	t.Logf("%d requests", requests)
	if after := s.everything(t); after != before {
		t.Errorf("something was done:\n%s\nwas\n%s", after, before)
	}
}

// everything is what a walk that does nothing leaves as it is.
func (s *server) everything(t *testing.T) string {
	t.Helper()
	var all []string
	for _, path := range []string{"/instances?view=summary", "/definitions", "/definitions/walked/versions", "/queue", "/dead-letters", "/jobs", "/tasks", "/nodes"} {
		v := s.get(t, "/api/v1"+path).json(t)
		for _, moving := range []string{"revision", "now", "looked"} {
			delete(v, moving)
		}
		raw, err := json.Marshal(v["items"])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, path+" "+string(raw))
	}
	seen := regexp.MustCompile(`"(lastSeen|seenAt|expiresAt|heartbeat\w*|catalogRevision|updatedAt|uptime\w*|working|locks)":[^,}]+`)
	return seen.ReplaceAllString(strings.Join(all, "\n"), "")
}

// raw sends a request with headers that may be given twice.
func (s *server) raw(t *testing.T, method, target, body string, headers []string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.base, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.URL.Opaque = "//" + req.URL.Host + target // as it is, also what cannot be read
	if req.URL.Path, req.URL.RawQuery, _ = strings.Cut(target, "?"); req.URL.RawQuery != "" {
		req.URL.Opaque = "//" + req.URL.Host + req.URL.Path
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Add(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatalf("%s %s: %v", method, target, err)
	}
	return resp.StatusCode, readAll(t, resp)
}

func readAll(t *testing.T, resp *http.Response) string {
	t.Helper()
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
