package node_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/node"
	"github.com/weft-run/weft/pkg/node/full"
)

func TestMain(m *testing.M) { os.Exit(clustertest.RunClean(m)) }

// start starts a node that ends with the test.
func start(t testing.TB, cfg node.Config) *node.Node {
	t.Helper()
	n := build(t, cfg)
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return n
}

func build(t testing.TB, cfg node.Config) *node.Node {
	t.Helper()
	cfg.HTTPAddr = "127.0.0.1:0"
	if cfg.DataDir == "" {
		cfg.DataDir = t.TempDir()
	}
	cfg.DrainTimeout = cmp.Or(cfg.DrainTimeout, 10*time.Second)
	cfg.ReplyWait = cmp.Or(cfg.ReplyWait, time.Minute) // the outcome, on a busy machine too
	n, err := full.New(t.Context(), cfg)
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
	req, err := http.NewRequestWithContext(ctx, method, "http://"+n.HTTPAddr()+path, strings.NewReader(body))
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
