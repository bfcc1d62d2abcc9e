package clients_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/node"
)

// One node with an etcd of its own serves the tests of this package.
var shared struct {
	sync.Once
	node *node.Node
	dir  string
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.node != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		if err := shared.node.Stop(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "stop the shared node:", err)
			code = 1
		}
		cancel()
		os.RemoveAll(shared.dir)
	}
	os.Exit(code)
}

func sharedServer(t *testing.T) string {
	t.Helper()
	shared.Do(func() {
		if shared.dir, shared.err = os.MkdirTemp("", "weft-clients-"); shared.err != nil { //nolint:usetesting // it outlives the test that starts the node
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		shared.node, shared.err = node.New(ctx, node.Config{HTTPAddr: "127.0.0.1:0", DataDir: shared.dir, NodeID: "node-1", ReplyWait: time.Minute})
		if shared.err == nil {
			shared.err = shared.node.Start(ctx)
		}
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return "http://" + shared.node.HTTPAddr()
}

// losing is a way to the node on which the answer of every first request of an
// Idempotency-Key is lost, after the node has done the work.
func losing(t *testing.T) (address string, lost *atomic.Int64) {
	t.Helper()
	target, err := url.Parse(sharedServer(t))
	if err != nil {
		t.Fatal(err)
	}
	lost = &atomic.Int64{}
	var seen sync.Map
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ModifyResponse: func(resp *http.Response) error {
			if key := resp.Request.Header.Get("Idempotency-Key"); key != "" {
				if _, twice := seen.LoadOrStore(key, true); !twice {
					return fmt.Errorf("the answer is lost")
				}
			}
			return nil
		},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { lost.Add(1); panic(http.ErrAbortHandler) },
	}
	s := httptest.NewServer(proxy)
	t.Cleanup(s.Close)
	return s.URL, lost
}

// program finds a program, or skips the test where it is not and need not be.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	switch {
	case err == nil:
	case os.Getenv("WEFT_REQUIRE_TOOLS") == "1":
		t.Fatalf("there is no %s: apt-get install %s", name, map[string]string{"node": "nodejs"}[name])
	default:
		t.Skipf("there is no %s here to run the client with", name)
	}
	return path
}

// runs lets a script call the node, directly and on the way that loses answers.
func runs(t *testing.T, name string, args ...string) {
	t.Helper()
	path := program(t, name)
	address, lost := losing(t)
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Env = append(os.Environ(), "WEFT_SERVER="+sharedServer(t), "WEFT_LOSING="+address, "PYTHONDONTWRITEBYTECODE=1", "no_proxy=127.0.0.1")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.HasSuffix(string(out), "ok\n") {
		t.Fatalf("%v\n%s", err, out)
	}
	if lost.Load() == 0 {
		t.Error("no answer was lost, so nothing was repeated")
	}
}

func TestPythonCallsANode(t *testing.T) {
	t.Parallel()
	runs(t, "python3", "python/test_weft.py")
}

func TestJavaScriptCallsANode(t *testing.T) {
	t.Parallel()
	runs(t, "node", "typescript/test.mjs")
}
