package httpapi_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/nodetest"
	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/node"
)

func TestWebhooksOverHTTP(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "crm-key"), []byte("a-secret-that-signs"), 0o600); err != nil {
		t.Fatal(err)
	}
	n := nodetest.Start(t, node.Config{NodeID: "node-1", SecretsDir: dir})
	s := serverOf(t, n)
	s.publish(t, "id: orders\nroot: [{writeLine: x}]\n")
	const path = "/api/v1/webhooks/crm"
	const body = `{"url": "https://crm.example.com/weft", "on": ["ended"], "definitions": ["order"], "labels": {"customer": "acme"}, "secrets": ["crm-key"]}`
	if a := s.do(t, http.MethodGet, path, ""); a.status != 404 || a.code() != "webhook-not-found" {
		t.Errorf("%d %s", a.status, a.body)
	}
	a := s.do(t, http.MethodPut, path, body)
	if w := a.json(t)["warnings"].([]any); len(w) != 1 || !strings.Contains(string(a.body), "there is no definition order") || !strings.Contains(string(a.body), `"/definitions/0"`) {
		t.Errorf("what is not there: %s", a.body)
	}
	polltest.Eventually(t, "the node knows which was meant", func() bool {
		return strings.Contains(string(s.do(t, http.MethodGet, path, "").body), "there is no definition order (did you mean orders?)")
	})
	if v := a.json(t); v["next"] != nil || a.status != 201 || a.header.Get("Location") != path || v["url"] != "https://crm.example.com/weft" || v["nodeId"] != "node-1" || v["waiting"] != 0.0 || strings.Contains(string(a.body), "a-secret-that-signs") {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := s.do(t, http.MethodPut, path, strings.Replace(body, `"order"`, `"bill"`, 1)); a.status != 200 || !strings.Contains(string(a.body), `["bill"]`) {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := s.do(t, http.MethodPut, path, strings.Replace(body, `"order"`, `"orders"`, 1)); a.status != 200 || len(a.json(t)["warnings"].([]any)) != 0 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := s.do(t, http.MethodGet, "/api/v1/webhooks", ""); a.status != 200 || len(a.json(t)["items"].([]any)) != 1 {
		t.Errorf("%d %s", a.status, a.body)
	}
	// Of many each tells what it lacks, and that what was published just now is there.
	many := strings.Replace(body, `"order"`, `"bill", "later", "orders"`, 1)
	if a := s.do(t, http.MethodPut, "/api/v1/webhooks/other", many); a.status != 201 || len(a.json(t)["warnings"].([]any)) != 2 {
		t.Errorf("%d %s", a.status, a.body)
	}
	s.publish(t, "id: later\nroot: [{writeLine: x}]\n")
	if a := s.do(t, http.MethodGet, "/api/v1/webhooks", ""); strings.Count(string(a.body), "there is no definition") != 1 || !strings.Contains(string(a.body), "there is no definition bill;") {
		t.Errorf("%d %s", a.status, a.body)
	}
	s.do(t, http.MethodDelete, "/api/v1/webhooks/other", "")
	if a := s.do(t, http.MethodGet, path+"/failed", ""); a.status != 200 || len(a.json(t)["items"].([]any)) != 0 {
		t.Errorf("%d %s", a.status, a.body)
	}
	for _, c := range []struct{ method, path, want string }{{http.MethodPost, path + "/replay", `{"events":0}`}, {http.MethodDelete, path + "/failed", `{"events":0}`}} {
		if a := s.do(t, c.method, c.path, ""); a.status != 200 || strings.TrimSpace(string(a.body)) != c.want {
			t.Errorf("%s %s: %d %s", c.method, c.path, a.status, a.body)
		}
	}
	for name, wrong := range map[string]string{
		"an unknown field": `{"url": "https://a.example", "on": ["ended"], "secrets": ["crm-key"], "secret": "x"}`,
		"no secret":        `{"url": "https://a.example", "on": ["ended"]}`,
		"the same twice":   `{"url": "https://a.example", "on": ["ended", "ended"], "secrets": ["crm-key"]}`,
		"half sent":        `{"url": "https://a.example"`,
		"all wrong":        `{"url": "ftp://a", "on": ["x"], "secrets": ["y"]}`,
	} {
		if a := s.do(t, http.MethodPut, "/api/v1/webhooks/other", wrong); a.status != 422 || a.code() != "invalid-request" {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	if a := s.do(t, http.MethodPut, "/api/v1/webhooks/a~b", body); a.status != 422 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := s.do(t, http.MethodDelete, path, ""); a.status != 204 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := s.do(t, http.MethodDelete, path, ""); a.status != 404 {
		t.Errorf("%d %s", a.status, a.body)
	}
}
