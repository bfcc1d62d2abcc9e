package loadbalancer_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/weft-run/weft/internal/freeaddr"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

// noticed is how long a load balancer may take on a busy machine to send what a node that hangs has to another
// one. HAProxy asks each node how it is, and knows within 3 seconds: without that the request stays where it is for five
// minutes. nginx waits 5 seconds for the answer, and otherwise 15 and more.
var noticed = map[string]time.Duration{haproxy.program: 30 * time.Second, nginx.program: 14 * time.Second}

// One node of three stops where it is, with requests in its hands and connections to it kept:
// a request with a key is answered by another one, up to the size that the proxy
// repeats.
func TestANodeThatHangsCostsARequestWithAKeyTheTimeOfTheCheck(t *testing.T) {
	t.Parallel()
	tool(t, haproxy.program) // before the node is built
	program := buildNode(t)
	each(t, func(t *testing.T, k kind) {
		if k.program == nginx.program && !testsize.Whole() {
			k.instead = map[string]string{"proxy_read_timeout 30s": "proxy_read_timeout 10s"}
		}
		hangANode(t, k, program)
	})
}

func hangANode(t *testing.T, k kind, program string) {
	etcd := clustertest.Shared(t)
	settings := []string{"--cluster", clustertest.Namespace(t), "--etcd-endpoints", strings.Join(etcd.Endpoints(), ",")}
	var addrs [3]string
	var nodes [3]*process
	for i := range nodes {
		addrs[i] = freeaddr.Of(t)
		nodes[i] = startNode(t, program, addrs[i], settings...)
	}
	p := k.balance(t, addrs, false)
	p.up(t, 3)
	for range 6 { // connections to each are kept
		if code, _ := p.run(t, 100, ""); code != http.StatusOK {
			t.Fatalf("before: %d", code)
		}
	}
	if err := nodes[1].cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = nodes[1].cmd.Process.Signal(syscall.SIGCONT) }()
	const each = 12
	var wg sync.WaitGroup
	for _, size := range []int{1 << 10, 20 << 10, 100 << 10} {
		for i := range each {
			wg.Go(func() {
				code, took := p.run(t, size, uuid.NewString())
				if code != http.StatusOK && code != http.StatusAccepted || took > noticed[k.program] {
					t.Errorf("%d bytes, %d: %d after %v", size, i, code, took)
				}
			})
		}
	}
	// Who waits for what comes of it is answered within that time and what the proxy takes to notice.
	if k.program == nginx.program {
		for i := range 6 {
			wg.Go(func() {
				key := ""
				if i%2 == 0 {
					key = uuid.NewString()
				}
				code, took := p.run(t, 100, key, "Prefer", "wait=3")
				if key != "" && code != http.StatusOK || took > time.Minute {
					t.Errorf("one that waits, with key %q: %d after %v", key, code, took)
				}
			})
		}
	}
	// What may not be repeated is told, and not kept for minutes.
	for range each {
		wg.Go(func() {
			if code, took := p.run(t, 100, ""); took > 90*time.Second {
				t.Errorf("without a key: %d after %v", code, took)
			}
		})
	}
	wg.Wait()
}

// run starts a workflow with an input of a size, and gives the status, 0 for no answer.
func (p *proxy) run(t *testing.T, size int, key string, header ...string) (int, time.Duration) {
	t.Helper()
	body := fmt.Sprintf(`{"input": {"name": %q}}`, strings.Repeat("x", size))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.api+"/api/v1/definitions/hello/execute", strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0, 0
	}
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	if len(header) == 2 {
		req.Header.Set(header[0], header[1])
	}
	began := time.Now()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, time.Since(began)
	}
	resp.Body.Close()
	return resp.StatusCode, time.Since(began)
}
