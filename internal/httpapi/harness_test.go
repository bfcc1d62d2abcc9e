package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/weft-run/weft/internal/nodetest"
	"github.com/weft-run/weft/pkg/node"
)

// One node serves the tests of this package that do not stop theirs.
var shared = nodetest.Shared{Config: node.Config{NodeID: "node-1", MaxBody: 64 << 10, Hosts: []string{"weft.example"}}}

func TestMain(m *testing.M) { os.Exit(shared.Run(m)) }

// server is a node under test, called over HTTP.
type server struct {
	base     string
	contract *contract
	run      string // stands for # in what is sent, so that tests can run again
}

var runs atomic.Int64

// own replaces # as [server.do] does.
func (s *server) own(text string) string { return strings.ReplaceAll(text, "#", s.run) }

func sharedServer(t *testing.T) *server {
	t.Helper()
	return serverOf(t, shared.Node(t))
}

func serverOf(t *testing.T, n *node.Node) *server {
	t.Helper()
	s := &server{base: nodetest.Address(n), run: fmt.Sprint(runs.Add(1))}
	s.contract = readContract(t, s.base)
	return s
}

// answer is a response, read.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// json decodes the body.
func (a answer) json(t *testing.T) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(a.body, &v); err != nil {
		t.Fatalf("the answer is no JSON object: %v: %s", err, a.body)
	}
	return v
}

// code is the problem's code, "" if there is none.
func (a answer) code() string {
	var p struct {
		Code string `json:"code"`
	}
	if a.header.Get("Content-Type") != "application/problem+json" || json.Unmarshal(a.body, &p) != nil {
		return ""
	}
	return p.Code
}

// do sends a request and holds the answer to the contract. Headers are "Name:
// value" strings. # is replaced by a number that no other test has.
func (s *server) do(t *testing.T, method, path, body string, headers ...string) answer {
	t.Helper()
	path = s.own(path)
	req, err := http.NewRequestWithContext(t.Context(), method, s.base+path, strings.NewReader(s.own(body)))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(s.own(h), ": ")
		req.Header.Set(name, value)
		if name == "Host" {
			req.Host = value
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s %s: read the answer: %v", method, path, err)
	}
	a := answer{resp.StatusCode, resp.Header, raw}
	s.contract.check(t, method, path, a)
	return a
}

// post sends JSON and wants a status.
func (s *server) post(t *testing.T, path, body string, want int, headers ...string) answer {
	t.Helper()
	a := s.do(t, http.MethodPost, path, body, append([]string{"Content-Type: application/json"}, headers...)...)
	if a.status != want {
		t.Fatalf("POST %s: got %d, want %d: %s", path, a.status, want, a.body)
	}
	return a
}

// get wants a 200.
func (s *server) get(t *testing.T, path string, headers ...string) answer {
	t.Helper()
	a := s.do(t, http.MethodGet, path, "", headers...)
	if a.status != http.StatusOK {
		t.Fatalf("GET %s: got %d: %s", path, a.status, a.body)
	}
	return a
}

// publish publishes YAML.
func (s *server) publish(t *testing.T, yaml string) {
	t.Helper()
	a := s.do(t, http.MethodPost, "/api/v1/definitions", yaml, "Content-Type: application/yaml")
	if a.status != http.StatusCreated && a.status != http.StatusOK {
		t.Fatalf("publish: got %d: %s", a.status, a.body)
	}
}

// contract is openapi.json, to hold answers to.
type contract struct {
	mu       sync.Mutex
	compiler *jsonschema.Compiler // guarded by mu
	paths    []contractPath
}

type contractPath struct {
	pattern *regexp.Regexp
	key     string
	item    map[string]any
}

func readContract(t *testing.T, base string, headers ...string) *contract {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/openapi.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	// Clients have to bear fields that are new to them; an answer here has those that
	// the document tells, and no other.
	components := doc.(map[string]any)["components"].(map[string]any)["schemas"].(map[string]any)
	for _, s := range components {
		s.(map[string]any)["additionalProperties"] = false
	}
	c := &contract{compiler: jsonschema.NewCompiler()}
	c.compiler.AssertFormat()
	if err := c.compiler.AddResource("openapi.json", doc); err != nil {
		t.Fatal(err)
	}
	for key, item := range doc.(map[string]any)["paths"].(map[string]any) {
		expr := regexp.MustCompile(`\{\w+\}`).ReplaceAllString(regexp.QuoteMeta(key), `[^/]+`)
		expr = strings.NewReplacer(`\{id\}`, `[^/]+`, `\{name\}`, `[^/]+`, `\{path\}`, `.+`).Replace(expr)
		c.paths = append(c.paths, contractPath{regexp.MustCompile("^" + expr + "$"), key, item.(map[string]any)})
	}
	return c
}

// check fails the test if the document does not have this answer, or if its
// body is not of the shape that the document tells.
func (c *contract) check(t *testing.T, method, path string, a answer) {
	t.Helper()
	path, _, _ = strings.Cut(path, "?")
	for _, p := range c.paths {
		op, ok := p.item[strings.ToLower(method)].(map[string]any)
		if !ok || !p.pattern.MatchString(path) || strings.HasPrefix(p.key, "/workflows/") {
			continue
		}
		status := fmt.Sprint(a.status)
		r, ok := op["responses"].(map[string]any)[status].(map[string]any)
		if !ok {
			t.Errorf("%s %s answered %s, which openapi.json does not have: %s", method, path, status, a.body)
			return
		}
		content, _ := r["content"].(map[string]any)
		typ, _, _ := strings.Cut(a.header.Get("Content-Type"), ";")
		if len(content) == 0 && len(a.body) == 0 {
			return
		}
		if _, ok := content[typ]; !ok {
			t.Errorf("%s %s answered %s with %q, which openapi.json does not have", method, path, status, typ)
			return
		}
		if !strings.HasSuffix(typ, "json") {
			return
		}
		escape := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace
		at := fmt.Sprintf("openapi.json#/paths/%s/%s/responses/%s/content/%s/schema", escape(p.key), strings.ToLower(method), status, escape(typ))
		c.mu.Lock()
		s, err := c.compiler.Compile(at)
		c.mu.Unlock()
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(a.body))
		if err == nil {
			err = s.Validate(v)
		}
		if err != nil {
			t.Errorf("%s %s: the answer is not as openapi.json says: %v\n%s", method, path, err, a.body)
		}
		return
	}
}
