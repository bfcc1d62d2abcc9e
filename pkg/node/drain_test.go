package node_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/node"
	"github.com/weft-run/weft/pkg/node/full"
)

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
	polltest.Eventually(t, "the asked node knows the other", func() bool {
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
	case <-time.After(time.Minute):
		t.Fatal("the drained node does not end")
	}
	if err := asked.Ready(); err != nil {
		t.Errorf("the asked node: %v", err)
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
	cfg := node.Config{Cluster: clustertest.Namespace(t), EtcdEndpoints: etcd.Endpoints(), AllowPrivateAddresses: true, DrainDelay: 5 * time.Second, DrainTimeout: 2 * time.Minute} // the delay: long enough for a look and a start
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
	polltest.Eventually(t, "it is not ready", func() bool { s, _ := call(t, n, "GET", "/readyz", ""); return s == 503 })
	// During the delay everything else is served.
	if status, v := call(t, n, "POST", "/api/v1/definitions/hello/execute", `{}`); status != 200 {
		t.Errorf("execute during the delay: %d %v", status, v)
	}
	polltest.Eventually(t, "the intake stops", func() bool {
		s, v := call(t, n, "POST", "/api/v1/definitions/hello/execute", `{}`)
		return s == 503 && v["code"] == "draining"
	})
	if v := <-waited; v["status"] != "Running" {
		t.Errorf("the waiting request got %v", v)
	}
	if s, _ := call(t, n, "GET", "/livez", ""); s != 200 {
		t.Errorf("livez while draining: %d", s)
	}
	if s, v := call(t, n, "GET", "/readyz", ""); s != 503 || v["detail"] != "not ready: draining" {
		t.Errorf("readyz while draining: %d %v", s, v)
	}
	// How long it may still take is told, with what is left to do.
	var s int
	var v map[string]any
	polltest.Eventually(t, "only the slow one is left", func() bool {
		s, v = call(t, n, "GET", "/api/v1/nodes/"+n.ID()+"/meters", "")
		return v["working"] == 1.0
	})
	until, err := time.Parse(time.RFC3339Nano, fmt.Sprint(v["drainsUntil"]))
	if left := time.Until(until); s != 200 || err != nil || left <= 0 || left > cfg.DrainDelay+cfg.DrainTimeout {
		t.Errorf("what is left to do: %d, %v, %v", s, v, err)
	}
	if s := scraped(t, n.HTTPAddr()); !strings.Contains(s, "weft_locks_held") {
		t.Errorf("metrics while draining: %s", s)
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
	polltest.Eventually(t, "the work is done", func() bool {
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
				n, err := full.New(t.Context(), node.Config{
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

// A burst that came by mail has the time of the drain too, not that of the whole
// stop: its work is durable, and others go on with it.
func TestABurstByMailDoesNotHoldUpTheStop(t *testing.T) {
	t.Parallel()
	inside := make(chan struct{})
	never := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(inside)
		<-r.Context().Done()
	}))
	t.Cleanup(never.Close)
	n := start(t, node.Config{DrainTimeout: 100 * time.Millisecond, AllowPrivateAddresses: true})
	definition := "id: slow\nroot:\n  - sendHttpRequest: {url: \"" + never.URL + "\"}\n"
	if status, v := call(t, n, "POST", "/api/v1/definitions", definition); status != 201 {
		t.Fatalf("publish: %d %v", status, v)
	}
	if status, v := call(t, n, "POST", "/api/v1/definitions/slow/dispatch", `{"instanceId": "slow"}`); status != 202 {
		t.Fatalf("dispatch: %d %v", status, v)
	}
	<-inside
	if err := n.Stop(context.WithoutCancel(t.Context())); err != nil {
		t.Errorf("stop: %v", err)
	}
}
