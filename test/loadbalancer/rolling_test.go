package loadbalancer_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/weft-run/weft/internal/freeaddr"
	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/internal/testsize"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

// A rolling restart: each node in turn gets SIGTERM, drains, ends, and comes
// back. Behind HAProxy clients give no Idempotency-Key, so nothing is repeated on
// the way: the drain alone must keep requests from failing. nginx does not ask
// nodes how they are, so there they give one.
func TestNoRequestFailsWhileEveryNodeRestarts(t *testing.T) {
	t.Parallel()
	tool(t, haproxy.program) // before the node is built
	program := buildNode(t)
	each(t, func(t *testing.T, k kind) { restartEveryNode(t, k, program) })
}

func restartEveryNode(t *testing.T, k kind, program string) {
	etcd := clustertest.Shared(t)
	settings := []string{
		"--cluster", clustertest.Namespace(t), "--etcd-endpoints", strings.Join(etcd.Endpoints(), ","),
		"--drain-delay", "6s", // HAProxy's check sees it within one, on a machine that is not busy; nginx leaves a node that was away alone for 5
	}
	var addrs [3]string
	var nodes [3]*process
	for i := range nodes {
		addrs[i] = freeaddr.Of(t)
		nodes[i] = startNode(t, program, addrs[i], settings...)
	}
	p := k.balance(t, addrs, false)
	p.up(t, 3)

	traffic := startTraffic(t, p)
	for i := range nodes {
		traffic.grow(t, 50)
		if code := nodes[i].drain(t); code != 0 {
			t.Errorf("node %d ended with %d", i+1, code)
		}
		p.up(t, 2)
		traffic.grow(t, 50)
		nodes[i] = startNode(t, program, addrs[i], settings...)
		p.up(t, 3)
	}
	traffic.grow(t, 50)
	if failed := traffic.stop(); len(failed) > 0 {
		t.Errorf("%d of %d requests failed, the first: %s", len(failed), traffic.answered.Load(), failed[0])
	}
	t.Logf("%d requests answered over three restarts", traffic.answered.Load())
}

// traffic is clients of three kinds: those that keep their connection, those
// that open one for each request, and those that wait for an instance that goes
// on later.
type traffic struct {
	p        *proxy
	cancel   context.CancelFunc
	wg       sync.WaitGroup
	answered atomic.Int64
	mu       sync.Mutex
	failed   []string // guarded by mu
}

func startTraffic(t *testing.T, p *proxy) *traffic {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	tr := &traffic{p: p, cancel: cancel}
	for w := range 4 {
		client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableKeepAlives: w%2 == 1}}
		tr.wg.Go(func() {
			defer client.CloseIdleConnections()
			for n := 0; ctx.Err() == nil; n++ {
				tr.round(client, fmt.Sprintf("traffic-%d-%d", w, n))
				time.Sleep(testsize.Of(10*time.Millisecond, 100*time.Millisecond)) // the pace of a client, not a wait for something
			}
		})
	}
	t.Cleanup(func() { tr.stop() })
	return tr
}

// round runs one instance at once, and one that waits for an event: three
// requests, which may all go to different nodes.
func (tr *traffic) round(client *http.Client, id string) {
	tr.send(client, "/api/v1/definitions/hello/execute", `{"input": {"name": "Ada"}}`)
	tr.send(client, "/api/v1/definitions/leave-request/execute", fmt.Sprintf(`{"correlationId": %q, "input": {"who": "Ada", "days": 1}}`, id))
	tr.send(client, "/api/v1/events/leave-decided", fmt.Sprintf(`{"correlationId": %q, "payload": {"granted": true, "by": "Grace"}}`, id))
}

// send is not cut short by the end of the test.
func (tr *traffic) send(client *http.Client, path, body string) {
	said, err := tr.try(client, path, body)
	tr.answered.Add(1)
	if err == nil {
		return
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.failed = append(tr.failed, fmt.Sprintf("%s: %v %s", path, err, said))
}

func (tr *traffic) try(client *http.Client, path, body string) (string, error) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, tr.p.api+path, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	if !tr.p.checks {
		req.Header.Set("Idempotency-Key", uuid.NewString())
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusAccepted {
		err = fmt.Errorf("answered %s", resp.Status)
	}
	return string(raw), err
}

// grow waits until so many more requests were answered.
func (tr *traffic) grow(t *testing.T, n int64) {
	t.Helper()
	from := tr.answered.Load()
	polltest.Eventually(t, "requests are answered", func() bool { return tr.answered.Load() >= from+n })
}

func (tr *traffic) stop() []string {
	tr.cancel()
	tr.wg.Wait()
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.failed
}
