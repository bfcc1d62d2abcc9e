package node_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/node"
	"github.com/weft-run/weft/pkg/node/full"
)

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
			n, err := full.New(t.Context(), tt.cfg)
			if err == nil {
				t.Fatal("no error", n.Stop(t.Context()))
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %q does not say %q", err, tt.want)
			}
			if took := time.Since(begin); took > 40*time.Second {
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

// A node that anybody may use says so.
func TestInsecureSaysWhatItOpens(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]bool{"0.0.0.0:0": true, "127.0.0.1:0": false} {
		var log syncBuffer
		n, err := full.New(t.Context(), node.Config{HTTPAddr: addr, Insecure: true, DataDir: t.TempDir(), Hosts: []string{"weft.example"}, Logger: slog.New(slog.NewJSONHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		for _, part := range []string{`"level":"WARN"`, "everybody who reaches this address is an admin", `"httpAddr":"` + n.HTTPAddr(), "weft.example"} {
			if got := strings.Contains(log.String(), part); want && !got || !want && part == "everybody who reaches this address is an admin" && got {
				t.Errorf("%s: %s is there: %t: %s", addr, part, got, log.String())
			}
		}
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
	polltest.Eventually(t, "the session is rebuilt", func() bool {
		_, v := call(t, n, "GET", "/api/v1/nodes", "")
		items, _ := v["items"].([]any)
		if len(items) != 1 {
			return false
		}
		// It may be lost again, with a TTL of 2 s beside other tests.
		epoch, _ := items[0].(map[string]any)["epoch"].(float64)
		return epoch >= 2
	})
	if status, v := call(t, n, "POST", "/api/v1/definitions/hello/execute", `{}`); status != 200 {
		t.Errorf("execute after the loss: %d %v", status, v)
	}
}
