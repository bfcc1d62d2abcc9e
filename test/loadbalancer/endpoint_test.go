package loadbalancer_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/weft-run/weft/internal/freeaddr"
	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

const answering = `
id: child
root: [{event: go}]
---
id: asks
root:
  - {httpEndpoint: {path: asks, supportedMethods: [POST], requestTimeout: 2m}, trigger: true, outputs: {parsedContent: body}}
  - executeWorkflow: {workflowDefinitionId: child, correlationId: "${{ variables.body.id }}"}
  - writeHttpResponse: {statusCode: 201, content: "done ${{ variables.body.id }}"}
variables: {body: {type: object}}
`

// Three nodes behind HAProxy: each request to an endpoint is answered from behind a child, on whichever node
// that runs, also when a node is killed while all wait.
func TestAnEndpointIsAnsweredThoughANodeIsKilled(t *testing.T) {
	t.Parallel()
	tool(t, haproxy.program) // before the node is built
	program, etcd, dir := buildNode(t), clustertest.Shared(t), t.TempDir()
	for i, def := range strings.Split(answering, "---\n") {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.yaml", i)), []byte(def), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	settings := []string{"--cluster", clustertest.Namespace(t), "--etcd-endpoints", strings.Join(etcd.Endpoints(), ","), "--definitions", dir}
	var addrs [3]string
	var nodes [3]*process
	for i := range nodes {
		addrs[i] = freeaddr.Of(t)
		nodes[i] = startNode(t, program, addrs[i], settings...)
	}
	p := haproxy.balance(t, addrs, false)
	p.up(t, 3)
	const callers = 12
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			status, body := p.post(t, "/workflows/asks", fmt.Sprintf(`{"id": "c%d"}`, i), uuid.NewString())
			if status != http.StatusCreated || body != fmt.Sprintf("done c%d", i) {
				t.Errorf("caller %d: %d %s", i, status, body)
			}
		})
	}
	polltest.Eventually(t, "all children wait", func() bool {
		text, err := p.get(t.Context(), p.api+"/api/v1/bookmarks?activityType=Elsa.Event&limit=100")
		return err == nil && strings.Count(text, `"bookmarkId"`) == callers
	})
	if err := nodes[1].cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.up(t, 2)
	for i := range callers {
		if status, body := p.post(t, "/api/v1/events/go", fmt.Sprintf(`{"correlationId": "c%d"}`, i), uuid.NewString()); status/100 != 2 {
			t.Errorf("event %d: %d %s", i, status, body)
		}
	}
	wg.Wait()
}

// post sends JSON with a key, and gives the status, 0 for no answer, and the body.
func (p *proxy) post(t *testing.T, path, body, key string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.api+path, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(raw)
}
