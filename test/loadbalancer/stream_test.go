package loadbalancer_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/freeaddr"
	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

// A stream comes through line by line, for longer than its node may be silent, and ends
// when the node is.
func TestStreamsComeThrough(t *testing.T) {
	t.Parallel()
	each(t, testStream)
}

func testStream(t *testing.T, k kind) {
	const silence = 2 * time.Second
	k.instead = map[string]string{"45s": "2s"}
	lines, over := make(chan string), make(chan struct{})
	defer close(over)
	stream := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for {
			select {
			case line := <-lines:
				_, _ = io.WriteString(w, line+"\n\n")
				_ = http.NewResponseController(w).Flush()
			case <-over:
				return
			}
		}
	}
	addr := pretend(t, stream)
	p := k.balance(t, [3]string{addr, addr, addr}, true)
	p.up(t, 3)
	go func() { lines <- "data: first" }() // the answer begins with it
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.api+"/api/v1/stream?topics=cluster", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got := bufio.NewReader(resp.Body)
	next := func() string {
		line, err := got.ReadString('\n')
		_, _ = got.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(line)
	}
	if line := next(); line != "data: first" {
		t.Errorf("got %q", line)
	}
	comments := time.NewTicker(silence / 4)
	defer comments.Stop()
	// Each line has to be here before the next one is written.
	for began := time.Now(); time.Since(began) < 2*silence; {
		lines <- ":"
		if line := next(); line != ":" {
			t.Errorf("got %q", line)
		}
		<-comments.C
	}
	silent := time.Now()
	rest, _ := io.ReadAll(got) // HAProxy ends it as an error, nginx with what there is
	if took := time.Since(silent); len(rest) > 0 || took > 10*silence {
		t.Errorf("after a silence of %v it ended with %q", took, rest)
	}
}

// repeats waits for an event again and again, each time with a commit.
const repeats = "id: repeats\nroot:\n  - while: ${{ true }}\n    body: [{event: again}]\n"

// Who listens hears of each change, once, while the nodes are killed one after the other:
// a stream that ends is asked for again, by its last id, of the node that there is.
func TestAStreamOutlivesItsNodes(t *testing.T) {
	t.Parallel()
	tool(t, haproxy.program) // before the node is built
	program := buildNode(t)
	each(t, func(t *testing.T, k kind) { killEveryNode(t, k, program) })
}

func killEveryNode(t *testing.T, k kind, program string) {
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
	// tell sends until it is accepted: a node may be dead, and not be known for it yet.
	tell := func(path, body, key string) {
		t.Helper()
		polltest.Eventually(t, path+" is accepted", func() bool {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.api+"/api/v1"+path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Idempotency-Key", key)
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				return false
			}
			resp.Body.Close()
			return resp.StatusCode < 300
		})
	}
	tell("/definitions", repeats, "publish")
	tell("/definitions/repeats/execute", `{"instanceId": "one"}`, "start")
	l := &listener{url: p.api + "/api/v1/stream?topics=instance:one"}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.listen(ctx)
	}()
	defer func() { cancel(); <-done }()
	heard := func(commit int64) {
		t.Helper()
		polltest.Eventually(t, fmt.Sprintf("commit %d is heard", commit), func() bool { return l.last.Load() >= commit })
	}
	heard(1)
	for i := range nodes {
		_ = nodes[i].cmd.Process.Kill()
		<-nodes[i].ended
		tell("/events/again", `{"instanceId": "one"}`, fmt.Sprint("event-", i))
		heard(int64(i + 2))
		nodes[i] = startNode(t, program, addrs[i], settings...)
		p.up(t, 3)
	}
	if n := l.twice.Load(); n > 0 {
		t.Errorf("%d commits were told twice, or after a later one", n)
	}
	if n := l.streams.Load(); n < 2 { // the node that served it was killed in its turn
		t.Errorf("%d streams", n)
	}
}

// listener listens as a browser does.
type listener struct {
	url                  string
	last, twice, streams atomic.Int64
}

func (l *listener) listen(ctx context.Context) {
	id := ""
	for ctx.Err() == nil {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, l.url, nil)
		if err != nil {
			return
		}
		req.Header.Set("Last-Event-ID", id)
		if resp, err := http.DefaultClient.Do(req); err == nil {
			l.streams.Add(1)
			for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
				if value, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
					id = value
				}
				var data struct{ Instance struct{ Commit int64 } }
				if value, ok := strings.CutPrefix(lines.Text(), "data: "); ok && json.Unmarshal([]byte(value), &data) == nil && data.Instance.Commit > 0 {
					if before := l.last.Swap(data.Instance.Commit); before >= data.Instance.Commit {
						l.twice.Add(1)
					}
				}
			}
			resp.Body.Close()
		}
		again := time.NewTimer(time.Second) // as the stream says
		select {
		case <-again.C:
		case <-ctx.Done():
		}
		again.Stop()
	}
}
