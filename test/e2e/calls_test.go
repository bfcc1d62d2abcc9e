package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// outcome is what a caller knows after a call.
type outcome string

const (
	done    outcome = "ok"      // 2xx
	failed  outcome = "failed"  // refused for sure: 4xx, or nobody listens
	unknown outcome = "unknown" // it may have been applied
)

// record is one call in the history.
type record struct {
	begin        time.Time
	took         time.Duration
	node         string
	method, path string
	key, body    string
	outcome      outcome
	status       int // 0 if there was no answer
	answer       string
}

// history is every call to a cluster.
type history struct {
	mu      sync.Mutex
	records []record // guarded by mu
}

func (h *history) add(r record) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.records = append(h.records, r)
}

// tail shows the last n calls but for polling ones that went well.
func (h *history) tail(n int) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var lines []string
	for i := len(h.records) - 1; i >= 0 && len(lines) < n; i-- {
		r := h.records[i]
		if r.method == http.MethodGet && r.outcome == done {
			continue
		}
		lines = append(lines, fmt.Sprintf("%s %6.3fs %s %s %s %s key=%q %s -> %s %d %.300s",
			r.begin.UTC().Format("15:04:05.000"), r.took.Seconds(), r.node, r.method, r.path, "", r.key, r.body, r.outcome, r.status, r.answer))
	}
	return strings.Join(lines, "\n")
}

// answer is what came back.
type answer struct {
	status  int
	outcome outcome
	header  http.Header
	raw     string
	body    map[string]any // of a JSON object
	err     error
}

func (a answer) String() string {
	if a.err != nil {
		return a.err.Error()
	}
	return fmt.Sprintf("%d %s", a.status, a.raw)
}

// text is a field of the body, by its path.
func (a answer) text(path ...string) string {
	s, _ := dig(a.body, path...).(string)
	return s
}

func dig(v any, path ...string) any {
	for _, p := range path {
		m, _ := v.(map[string]any)
		v = m[p]
	}
	return v
}

// items are the objects of a list.
func (a answer) items() []map[string]any { return objects(a.body["items"]) }

func objects(v any) []map[string]any {
	list, _ := v.([]any)
	out := make([]map[string]any, 0, len(list))
	for _, i := range list {
		m, _ := i.(map[string]any)
		out = append(out, m)
	}
	return out
}

// outcomes are those of a stimulus, by instance.
func (a answer) outcomes() map[string]string {
	out := map[string]string{}
	for _, o := range objects(a.body["outcomes"]) {
		id, _ := o["instanceId"].(string)
		what, _ := o["outcome"].(string)
		out[id] = what
	}
	return out
}

// call sends a request to one node and remembers what came of it. Options are
// "Header: value". On a starved machine a node loses its session, says that it has none
// and does nothing; soon it has another. What only reads is asked again, as the answer says.
func (c *cluster) call(t *testing.T, m *member, method, path, body string, headers ...string) answer {
	t.Helper()
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		a := c.callContext(t.Context(), m, method, path, body, headers...)
		again := method == http.MethodGet && strings.HasPrefix(path, "/api/") && a.text("code") == "unavailable" || a.text("detail") == "this node has no session with etcd"
		if a.status != 503 || !again || time.Since(begun) > patience {
			return a
		}
	}
}

func (c *cluster) callContext(ctx context.Context, m *member, method, path, body string, headers ...string) answer {
	r := record{begin: time.Now(), node: m.id, method: method, path: path, body: body}
	a := c.send(ctx, &r, m.base, headers)
	r.took, r.outcome, r.status, r.answer = time.Since(r.begin), a.outcome, a.status, a.raw
	if a.err != nil {
		r.answer = a.err.Error()
	}
	c.history.add(r)
	return a
}

func (c *cluster) send(ctx context.Context, r *record, base string, headers []string) answer {
	req, err := http.NewRequestWithContext(ctx, r.method, base+r.path, strings.NewReader(r.body))
	if err != nil {
		return answer{outcome: failed, err: err}
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	r.key = req.Header.Get("Idempotency-Key")
	resp, err := c.http.Do(req)
	if err != nil {
		if errors.Is(err, syscall.ECONNREFUSED) {
			return answer{outcome: failed, err: err}
		}
		return answer{outcome: unknown, err: err}
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	a := answer{status: resp.StatusCode, header: resp.Header, raw: string(raw), err: err}
	switch {
	case err != nil:
		a.outcome = unknown
	case a.status < 300:
		a.outcome = done
	case a.status < 500:
		a.outcome = failed
	default:
		a.outcome = unknown
	}
	_ = json.Unmarshal(raw, &a.body) // not every answer is an object
	return a
}

// must is a call that has to end with one of the statuses.
func (c *cluster) must(t *testing.T, m *member, method, path, body string, status int, headers ...string) answer {
	t.Helper()
	a := c.call(t, m, method, path, body, headers...)
	if a.status != status {
		t.Fatalf("%s %s %s on %s: want %d, got %s", method, path, body, m.id, status, a)
	}
	return a
}

// publish publishes a definition.
func (c *cluster) publish(t *testing.T, definition string) {
	t.Helper()
	c.must(t, c.any(), "POST", "/api/v1/definitions", definition, 201)
}

// execute starts an instance with an id.
func (c *cluster) execute(t *testing.T, m *member, definition, id, body string) answer {
	t.Helper()
	a := c.call(t, m, "POST", "/api/v1/definitions/"+definition+"/execute", withID(id, body))
	if a.status != 200 && a.status != 202 {
		t.Errorf("execute %s as %s on %s: %s", definition, id, m.id, a)
	}
	return a
}

func (c *cluster) dispatch(t *testing.T, m *member, definition, id, body string) answer {
	t.Helper()
	a := c.call(t, m, "POST", "/api/v1/definitions/"+definition+"/dispatch", withID(id, body))
	if a.status != 202 {
		t.Errorf("dispatch %s as %s on %s: %s", definition, id, m.id, a)
	}
	return a
}

// withID puts an instance id into the body of a start.
func withID(id, body string) string {
	if rest := strings.TrimPrefix(body, "{"); rest != "" && rest != "}" {
		return fmt.Sprintf(`{"instanceId": %q, %s`, id, rest)
	}
	return fmt.Sprintf(`{"instanceId": %q}`, id)
}

// event sends an event with a correlation.
func (c *cluster) event(t *testing.T, m *member, name, correlation string, headers ...string) answer {
	t.Helper()
	return c.call(t, m, "POST", "/api/v1/events/"+url.PathEscape(name), fmt.Sprintf(`{"correlationId": %q}`, correlation), headers...)
}

// instance reads an instance.
func (c *cluster) instance(t *testing.T, m *member, id string) answer {
	t.Helper()
	return c.call(t, m, "GET", "/api/v1/instances/"+id, "")
}

// patience is what is waited for what has to come about, on a slow machine too. Where
// it must not take long, a test asks how long it took.
const patience = time.Minute

// waitFor waits until an instance has a sub-status, as one of the nodes sees it.
func (c *cluster) waitFor(t *testing.T, m *member, id, subStatus string) time.Duration {
	t.Helper()
	var last answer
	begin := time.Now()
	for {
		if last = c.instance(t, m, id); last.text("subStatus") == subStatus {
			return time.Since(begin)
		}
		if time.Since(begin) > patience {
			t.Fatalf("instance %s is not %s within %v: %s", id, subStatus, patience, last)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// journal reads the whole journal of an instance and checks that its items are
// numbered without a gap.
func (c *cluster) journal(t *testing.T, m *member, id string) []map[string]any {
	t.Helper()
	items := c.list(t, m, "/api/v1/instances/"+id+"/journal")
	for i, item := range items {
		if item["sequence"] != float64(i+1) {
			t.Errorf("the journal of %s has %v at place %d", id, item["sequence"], i+1)
		}
	}
	return items
}

// list reads all pages of a list.
func (c *cluster) list(t *testing.T, m *member, path string) []map[string]any {
	t.Helper()
	var items []map[string]any
	join := "?"
	if strings.Contains(path, "?") {
		join = "&"
	}
	for cursor := ""; ; {
		a := c.must(t, m, "GET", path+join+"limit=500&cursor="+url.QueryEscape(cursor), "", 200)
		items = append(items, a.items()...)
		if cursor = a.text("nextCursor"); cursor == "" {
			return items
		}
	}
}

// lines are what an instance wrote, as its journal tells.
func (c *cluster) lines(t *testing.T, m *member, id string) []string {
	t.Helper()
	var lines []string
	for _, item := range c.journal(t, m, id) {
		if item["event"] == "WriteLine" {
			text, _ := item["text"].(string)
			lines = append(lines, text)
		}
	}
	return lines
}

// wantLines checks what an instance wrote.
func (c *cluster) wantLines(t *testing.T, m *member, id string, want ...string) {
	t.Helper()
	if got := c.lines(t, m, id); strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("instance %s wrote %q, want %q", id, got, want)
	}
}

// slow shows calls that took long.
func (h *history) slow(d time.Duration) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var lines []string
	for _, r := range h.records {
		if r.took > d {
			lines = append(lines, fmt.Sprintf("%s %6.3fs %s %s %s %s -> %d %.200s",
				r.begin.UTC().Format("15:04:05.000"), r.took.Seconds(), r.node, r.method, r.path, r.body, r.status, r.answer))
		}
	}
	return strings.Join(lines, "\n")
}
