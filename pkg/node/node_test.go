package node_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/node"
)

func TestMain(m *testing.M) {
	code := clustertest.Run(m)
	http.DefaultClient.CloseIdleConnections()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, "leaked:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// start starts a node that ends with the test.
func start(t *testing.T, cfg node.Config) *node.Node {
	t.Helper()
	n := build(t, cfg)
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return n
}

func build(t *testing.T, cfg node.Config) *node.Node {
	t.Helper()
	cfg.HTTPAddr = "127.0.0.1:0"
	if cfg.DataDir == "" {
		cfg.DataDir = t.TempDir()
	}
	if cfg.DrainTimeout == 0 {
		cfg.DrainTimeout = 10 * time.Second
	}
	n, err := node.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return n
}

// call sends a request and gives the status and the body as JSON.
func call(t *testing.T, n *node.Node, method, path, body string) (int, map[string]any) {
	t.Helper()
	status, v, err := try(t.Context(), n, method, path, body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return status, v
}

func try(ctx context.Context, n *node.Node, method, path, body string) (int, map[string]any, error) {
	req, err := http.NewRequestWithContext(ctx, method, n.URL()+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, nil, err
	}
	var v map[string]any
	if len(raw) > 0 {
		err = json.Unmarshal(raw, &v)
	}
	return resp.StatusCode, v, err
}

const hello = `
id: hello
root:
  - writeLine: hello
`

func TestNodeRunsAWorkflowAndRemembersIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	definitions := t.TempDir()
	if err := os.WriteFile(filepath.Join(definitions, "hello.yaml"), []byte(hello), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(definitions, "bad.yaml"), []byte("root: ["), 0o600); err != nil {
		t.Fatal(err)
	}
	var lines syncBuffer
	n := start(t, node.Config{DataDir: dir, Definitions: definitions, Lines: &lines})
	if got := n.Try(t.Context()); got != "curl -X POST "+n.URL()+"/api/v1/definitions/hello/execute" {
		t.Errorf("Try says %s", got)
	}
	status, in := call(t, n, "POST", "/api/v1/definitions/hello/execute", `{"instanceId": "one"}`)
	if status != 200 || in["status"] != "Finished" {
		t.Fatalf("execute: %d %v", status, in)
	}
	if got := lines.String(); got != "hello\n" {
		t.Errorf("lines: %q", got)
	}
	if err := n.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The same directory again, and it is all there; what is known is not
	// published again.
	n = start(t, node.Config{DataDir: dir, Definitions: definitions, Coordination: cluster.ModeLocal})
	if status, in := call(t, n, "GET", "/api/v1/instances/one", ""); status != 200 || in["status"] != "Finished" {
		t.Errorf("after a restart: %d %v", status, in)
	}
	if _, list := call(t, n, "GET", "/api/v1/definitions", ""); list["items"].([]any)[0].(map[string]any)["latestVersion"] != 1.0 {
		t.Errorf("definitions after a restart: %v", list)
	}
	if status, in := call(t, n, "POST", "/api/v1/definitions/hello/execute", `{}`); status != 200 || in["status"] != "Finished" {
		t.Errorf("execute on a local node: %d %v", status, in)
	}
}

// syncBuffer may be written while it is read.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func TestNodesOfOneClusterShareTheWork(t *testing.T) {
	t.Parallel()
	etcd := clustertest.Shared(t)
	name := clustertest.Namespace(t)
	var nodes []*node.Node
	for i := range 3 {
		nodes = append(nodes, start(t, node.Config{Cluster: name, EtcdEndpoints: etcd.Endpoints(), NodeID: fmt.Sprintf("n%d", i)}))
	}
	const waiting = "id: w\nroot:\n  - event: go\n  - writeLine: gone\n"
	if status, v := call(t, nodes[0], "POST", "/api/v1/definitions", waiting); status != 201 {
		t.Fatalf("publish: %d %v", status, v)
	}
	for i := range 30 {
		correlation := fmt.Sprintf(`{"correlationId": "c%d", "instanceId": "w%d"}`, i, i)
		if status, v := call(t, nodes[i%3], "POST", "/api/v1/definitions/w/execute", correlation); status != 200 || v["subStatus"] != "Suspended" {
			t.Fatalf("execute %d: %d %v", i, status, v)
		}
		if status, v := call(t, nodes[(i+1)%3], "POST", "/api/v1/events/go", fmt.Sprintf(`{"correlationId": "c%d"}`, i)); status != 200 {
			t.Fatalf("event %d: %d %v", i, status, v)
		}
		if status, v := call(t, nodes[(i+2)%3], "GET", fmt.Sprintf("/api/v1/instances/w%d", i), ""); status != 200 || v["status"] != "Finished" {
			t.Fatalf("instance %d: %d %v", i, status, v)
		}
	}
	if _, v := call(t, nodes[0], "GET", "/api/v1/nodes", ""); len(v["items"].([]any)) != 3 {
		t.Errorf("nodes: %v", v)
	}
}

func TestAnyNodeDrainsAnyNode(t *testing.T) {
	t.Parallel()
	etcd := clustertest.Shared(t)
	name := clustertest.Namespace(t)
	asked := start(t, node.Config{Cluster: name, EtcdEndpoints: etcd.Endpoints(), NodeID: "asked"})
	other := build(t, node.Config{Cluster: name, EtcdEndpoints: etcd.Endpoints(), NodeID: "other"})
	ended := make(chan error, 1)
	ready := make(chan struct{})
	go func() {
		ended <- other.Run(context.WithoutCancel(t.Context()), func(*node.Node) { close(ready) })
	}()
	<-ready
	eventually(t, "the asked node knows the other", func() bool {
		status, v := call(t, asked, "POST", "/api/v1/nodes/other/drain", "")
		if status != 202 && status != 404 {
			t.Fatalf("drain: %d %v", status, v)
		}
		return status == 202
	})
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("the drained node ended with %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the drained node does not end")
	}
	if err := asked.Ready(); err != nil {
		t.Errorf("the asked node: %v", err)
	}
}

// eventually waits until ok, which is asked again and again.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(15 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("it never happens: %s", what)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func TestDrainOrder(t *testing.T) {
	t.Parallel()
	// An activity that takes as long as the test wants.
	inside, release := make(chan struct{}), make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(inside)
		<-release
	}))
	t.Cleanup(slow.Close)
	etcd := clustertest.Shared(t)
	cfg := node.Config{Cluster: clustertest.Namespace(t), EtcdEndpoints: etcd.Endpoints(), AllowPrivateAddresses: true, DrainDelay: 500 * time.Millisecond, DrainTimeout: 20 * time.Second}
	n := start(t, cfg)
	definition := "id: slow\nroot:\n  - sendHttpRequest: {url: \"" + slow.URL + "\"}\n  - writeLine: done\n"
	if status, v := call(t, n, "POST", "/api/v1/definitions", definition); status != 201 {
		t.Fatalf("publish: %d %v", status, v)
	}
	if status, v := call(t, n, "POST", "/api/v1/definitions", hello); status != 201 {
		t.Fatalf("publish: %d %v", status, v)
	}
	if status, v := call(t, n, "POST", "/api/v1/definitions/slow/dispatch", `{"instanceId": "slow"}`); status != 202 {
		t.Fatalf("dispatch: %d %v", status, v)
	}
	<-inside
	waited := make(chan map[string]any, 1)
	go func() {
		req, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodGet, n.URL()+"/api/v1/instances/slow", nil)
		if err != nil {
			return
		}
		req.Header.Set("Prefer", "wait=60")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			waited <- map[string]any{"error": err.Error()}
			return
		}
		defer resp.Body.Close()
		var v map[string]any
		_ = json.NewDecoder(resp.Body).Decode(&v)
		waited <- v
	}()

	stopped := make(chan error, 1)
	go func() { stopped <- n.Stop(context.WithoutCancel(t.Context())) }()
	eventually(t, "it is not ready", func() bool { s, _ := call(t, n, "GET", "/readyz", ""); return s == 503 })
	// During the delay everything else is served.
	if status, v := call(t, n, "POST", "/api/v1/definitions/hello/execute", `{}`); status != 200 {
		t.Errorf("execute during the delay: %d %v", status, v)
	}
	eventually(t, "the intake stops", func() bool {
		s, v := call(t, n, "POST", "/api/v1/definitions/hello/execute", `{}`)
		return s == 503 && v["code"] == "draining"
	})
	if v := <-waited; v["status"] != "Running" {
		t.Errorf("the waiting request got %v", v)
	}
	if s, _ := call(t, n, "GET", "/livez", ""); s != 200 {
		t.Errorf("livez while draining: %d", s)
	}
	select {
	case err := <-stopped:
		t.Fatalf("stopped before the burst ended: %v", err)
	default:
	}
	close(release)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	if _, _, err := try(t.Context(), n, "GET", "/livez", ""); err == nil {
		t.Error("it still answers")
	}
	// Nothing of it is left, and its work is done.
	next := start(t, node.Config{Cluster: cfg.Cluster, EtcdEndpoints: etcd.Endpoints()})
	if _, v := call(t, next, "GET", "/api/v1/nodes", ""); len(v["items"].([]any)) != 1 {
		t.Errorf("nodes: %v", v)
	}
	if _, v := call(t, next, "GET", "/api/v1/locks", ""); len(v["items"].([]any)) != 0 {
		t.Errorf("locks: %v", v)
	}
	eventually(t, "the work is done", func() bool {
		_, v := call(t, next, "GET", "/api/v1/instances/slow", "")
		return v["status"] == "Finished"
	})
}

func TestStartAndStopStress(t *testing.T) {
	t.Parallel()
	etcd := clustertest.Shared(t)
	name := clustertest.Namespace(t)
	var wg sync.WaitGroup
	for i := range 5 {
		wg.Go(func() {
			for round := range 5 {
				n, err := node.New(t.Context(), node.Config{
					HTTPAddr: "127.0.0.1:0", Cluster: name, EtcdEndpoints: etcd.Endpoints(), NodeID: fmt.Sprintf("s%d-%d", i, round),
				})
				if err != nil {
					t.Error(err)
					return
				}
				var stops sync.WaitGroup
				if round%2 == 0 { // stopped while it starts
					stops.Go(func() {
						if err := n.Stop(t.Context()); err != nil {
							t.Errorf("stop: %v", err)
						}
					})
				}
				if round != 4 { // the last one is never started
					if err := n.Start(t.Context()); err != nil && round%2 != 0 {
						t.Errorf("start: %v", err)
					}
				}
				for range 3 {
					stops.Go(func() {
						if err := n.Stop(t.Context()); err != nil {
							t.Errorf("stop: %v", err)
						}
					})
				}
				stops.Wait()
				if err := n.Start(t.Context()); err == nil {
					t.Error("a stopped node starts again")
				}
			}
		})
	}
	wg.Wait()
}

func TestNewLeavesNothingBehindWhenItFails(t *testing.T) {
	t.Parallel()
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	nobody, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody.Close()
	etcd := clustertest.Shared(t)
	dir := t.TempDir()
	start(t, node.Config{DataDir: dir, NodeID: "first"})
	name := clustertest.Namespace(t)
	twin := start(t, node.Config{Cluster: name, EtcdEndpoints: etcd.Endpoints(), NodeID: "twin"})

	tests := []struct {
		name string
		cfg  node.Config
		want string
	}{
		{"the address is taken", node.Config{HTTPAddr: taken.Addr().String(), DataDir: t.TempDir()}, "address already in use"},
		{"etcd is away", node.Config{EtcdEndpoints: []string{nobody.Addr().String()}, EtcdDialTimeout: time.Second}, "did not answer within 1s"},
		{"the data directory is in use", node.Config{DataDir: dir}, "in use by another node"},
		{"the id is in use", node.Config{Cluster: name, EtcdEndpoints: etcd.Endpoints(), NodeID: "twin"}, twin.HTTPAddr()},
		{"a local node beside another", node.Config{Cluster: name, EtcdEndpoints: etcd.Endpoints(), Coordination: cluster.ModeLocal}, `"twin"`},
		{"no certificate there", node.Config{DataDir: t.TempDir(), TLSCert: "no", TLSKey: "no"}, "tls-cert"},
		{"no authorities there", node.Config{EtcdEndpoints: etcd.Endpoints(), EtcdCACert: "no"}, "etcd-cacert"},
		{"no password there", node.Config{EtcdEndpoints: etcd.Endpoints(), EtcdUser: "u", EtcdPasswordFile: "no"}, "etcd-password-file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.cfg.HTTPAddr == "" {
				tt.cfg.HTTPAddr = "127.0.0.1:0"
			}
			begin := time.Now()
			n, err := node.New(t.Context(), tt.cfg)
			if err == nil {
				n.Stop(t.Context())
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %q does not say %q", err, tt.want)
			}
			if took := time.Since(begin); took > 15*time.Second {
				t.Errorf("it took %v", took)
			}
			if tt.name == "the id is in use" {
				var conflict *cluster.ConflictError
				if !errors.As(err, &conflict) {
					t.Errorf("it is no conflict: %v", err)
				}
			}
		})
	}
}

func TestReadySaysWhenTheSessionIsLost(t *testing.T) {
	t.Parallel()
	etcd := clustertest.Start(t)
	var log syncBuffer
	n := start(t, node.Config{EtcdEndpoints: etcd.Endpoints(), SessionTTL: 2 * time.Second, Logger: slog.New(slog.NewJSONHandler(&log, nil))})
	if status, v := call(t, n, "POST", "/api/v1/definitions", hello); status != 201 {
		t.Fatalf("publish: %d %v", status, v)
	}
	if !strings.Contains(log.String(), `"msg":"ready","httpAddr":"`+n.HTTPAddr()+`"`) {
		t.Errorf("no ready line in %s", log.String())
	}
	// Every lease goes, as if the node had been away for long.
	client := etcd.Client(t)
	leases, err := client.Leases(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range leases.Leases {
		if _, err := client.Revoke(t.Context(), l.ID); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the session is rebuilt", func() bool {
		_, v := call(t, n, "GET", "/api/v1/nodes", "")
		items, _ := v["items"].([]any)
		return len(items) == 1 && items[0].(map[string]any)["epoch"] == 2.0
	})
	if status, v := call(t, n, "POST", "/api/v1/definitions/hello/execute", `{}`); status != 200 {
		t.Errorf("execute after the loss: %d %v", status, v)
	}
}
