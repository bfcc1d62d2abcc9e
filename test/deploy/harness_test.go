package deploy_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// root is the repository.
const root = "../.."

// TestMain stops the cluster that the tests share.
func TestMain(m *testing.M) {
	code := m.Run()
	for _, stop := range stops {
		stop()
	}
	os.Exit(code)
}

var stops []func()

// tool finds a program that Debian may keep away from users.
func tool(t *testing.T, name, pkg string) string {
	t.Helper()
	for _, p := range []string{name, "/usr/sbin/" + name} {
		if found, err := exec.LookPath(p); err == nil {
			return found
		}
	}
	if os.Getenv("WEFT_REQUIRE_TOOLS") == "1" {
		t.Fatalf("there is no %s (apt-get install %s)", name, pkg)
	}
	t.Skipf("there is no %s (apt-get install %s)", name, pkg)
	return ""
}

func run(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// live are three nodes on one etcd, as processes, with some work behind them.
type live struct {
	nodes   []string // addresses
	program string
	etcd    string // where the first node's embedded etcd listens
	err     error
}

var cluster = sync.OnceValue(startCluster)

func theCluster(t *testing.T) []string {
	t.Helper()
	c := cluster()
	if c.err != nil {
		t.Fatal(c.err)
	}
	return c.nodes
}

func startCluster() (c live) {
	dir, err := os.MkdirTemp("", "weft-deploy-")
	if err != nil {
		return live{err: err}
	}
	stops = append(stops, func() { _ = os.RemoveAll(dir) })
	c.program = filepath.Join(dir, "weft")
	build := exec.Command("go", "build", "-o", c.program, "./cmd/weft")
	build.Dir = root
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		return live{err: fmt.Errorf("build the node: %w\n%s", err, out)}
	}
	for i := range 3 {
		args := []string{"--http-addr", "127.0.0.1:0", "--data-dir", filepath.Join(dir, fmt.Sprint(i)), "--definitions", filepath.Join(root, "examples"), "--log-format", "json"}
		if c.etcd != "" {
			args = append(args, "--etcd-endpoints", c.etcd)
		}
		addr, embedded, err := startNode(exec.Command(c.program, args...))
		if err != nil {
			return live{err: fmt.Errorf("node %d: %w", i+1, err)}
		}
		c.nodes = append(c.nodes, addr)
		if i == 0 {
			c.etcd = embedded
		}
	}
	if c.err = c.work(); c.err == nil {
		c.err = c.counted()
	}
	return c
}

// counted waits until a node has counted the instances, which it does every 30 seconds.
func (c live) counted() error {
	for end := time.Now().Add(90 * time.Second); time.Now().Before(end); time.Sleep(500 * time.Millisecond) {
		for _, node := range c.nodes {
			resp, err := http.Get("http://" + node + "/metrics")
			if err != nil {
				return err
			}
			raw, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil {
				return err
			}
			if bytes.Contains(raw, []byte("\nweft_instances{")) {
				return nil
			}
		}
	}
	return fmt.Errorf("no node has counted instances within 90 s")
}

// startNode returns where the node and its embedded etcd listen.
func startNode(cmd *exec.Cmd) (addr, etcd string, err error) {
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return "", "", err
	}
	if err := cmd.Start(); err != nil {
		return "", "", err
	}
	// In front of the others: the first node has the etcd of all.
	stops = append([]func(){func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }}, stops...)
	said := make(chan [2]string, 1)
	go func() {
		defer close(said)
		var found [2]string
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			var entry struct{ Msg, HTTPAddr, ClientAddr string }
			if json.Unmarshal(lines.Bytes(), &entry) != nil {
				continue
			}
			switch entry.Msg {
			case "embedded etcd started":
				found[1] = entry.ClientAddr
			case "ready":
				found[0] = entry.HTTPAddr
				said <- found
			}
		}
	}()
	select {
	case found, ok := <-said:
		if !ok {
			return "", "", fmt.Errorf("it ended before it was ready")
		}
		return found[0], found[1], nil
	case <-time.After(30 * time.Second):
		return "", "", fmt.Errorf("it is not ready after 30 s")
	}
}

// work makes each node do a little of most things.
func (c live) work() error {
	// The examples have no timer that a test could wait for.
	if err := post("http://"+c.nodes[0]+"/api/v1/definitions", "id: nap\nroot:\n  - delay: 50ms\n"); err != nil {
		return err
	}
	for i := range 30 {
		base := "http://" + c.nodes[i%len(c.nodes)] + "/api/v1"
		id := fmt.Sprintf("leave-%d", i)
		for _, call := range [][2]string{
			{"/definitions/hello/execute", `{"input": {"name": "Ada"}}`},
			{"/definitions/leave-request/execute", fmt.Sprintf(`{"correlationId": %q, "input": {"who": "Ada", "days": 1}}`, id)},
			{"/events/leave-decided", fmt.Sprintf(`{"correlationId": %q, "payload": {"granted": true, "by": "Grace"}}`, id)},
			{"/definitions/nap/dispatch", `{}`},
			{"/events/nobody-waits-for-this", `{}`},
			{"/definitions/refresh", `{"definitionIds": []}`},
		} {
			if err := post(base+call[0], call[1]); err != nil {
				return err
			}
		}
	}
	return nil
}

func post(url, body string) error {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 300 {
		err = fmt.Errorf("%s: %s %s", url, resp.Status, bytes.TrimSpace(raw))
	}
	return err
}

// freeAddr is free when it looks, and none of the ports that Linux gives to those who ask for any, as internal/freeaddr has it.
func freeAddr(t *testing.T) string {
	t.Helper()
	for range 1000 {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", 20000+rand.IntN(12000)))
		if err != nil {
			continue
		}
		defer l.Close()
		return l.Addr().String()
	}
	t.Fatal("no port is free")
	return ""
}
