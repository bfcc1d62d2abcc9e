package clients_test

import (
	"bufio"
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

	"github.com/weft-run/weft/internal/nodetest"
	"github.com/weft-run/weft/pkg/node"
)

// One node with an etcd of its own serves the tests of this package.
var shared = nodetest.Shared{Config: node.Config{NodeID: "node-1"}}

func TestMain(m *testing.M) { os.Exit(shared.Run(m)) }

func sharedServer(t *testing.T) string {
	t.Helper()
	return nodetest.Address(shared.Node(t))
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

// cutting is a way to the node on which a stream is lost in each way: in the middle of its second event, refused for a
// moment, ended in order behind the next event, refused for good. It gives with which ids the listener came. Below /quiet, more connections than attempts bring but a
// comment before there is an event; below /mute, none brings even that.
func cutting(t *testing.T) (address string, ids func() []string) {
	t.Helper()
	target, err := url.Parse(sharedServer(t))
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var came []string
	var quiet atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/page/") {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<p>Sign in</p>")
			return
		}
		if strings.HasPrefix(r.URL.Path, "/quiet/") || strings.HasPrefix(r.URL.Path, "/mute/") {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "retry: 10\n\n")
			switch {
			case strings.HasPrefix(r.URL.Path, "/mute/"):
			case quiet.Add(1) <= 5:
				fmt.Fprint(w, ":\n\n")
			default:
				quiet.Store(0)
				fmt.Fprint(w, "event: cluster\ndata: {}\n\n")
			}
			return
		}
		mu.Lock()
		came = append(came, r.Header.Get("Last-Event-ID"))
		n := len(came)
		mu.Unlock()
		switch n {
		case 1, 3:
			oneEvent(t, target, w, r)
			if n == 1 {
				fmt.Fprint(w, "id: "+cutOff+"\nevent: instance\ndata: {\"to")
				_ = http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			}
		case 2:
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"code": "forbidden", "title": "no"}`)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return came
	}
}

const cutOff = "1.1@cut"

// oneEvent hands on what the node streams, to the end of the first event.
func oneEvent(t *testing.T, node *url.URL, w http.ResponseWriter, r *http.Request) {
	there := r.Clone(r.Context())
	there.RequestURI, there.URL.Scheme, there.URL.Host = "", node.Scheme, node.Host
	there.Header.Del("Accept-Encoding")
	resp, err := http.DefaultTransport.RoundTrip(there)
	if err != nil {
		t.Errorf("the node does not answer: %v", err)
		return
	}
	defer resp.Body.Close()
	w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
	w.WriteHeader(resp.StatusCode)
	told := false
	for lines := bufio.NewScanner(resp.Body); (!told || lines.Text() != "") && lines.Scan(); {
		told = told || strings.HasPrefix(lines.Text(), "data:")
		fmt.Fprintln(w, lines.Text())
		_ = http.NewResponseController(w).Flush() // who is gone is seen by the context
	}
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

// runs lets a script call the node, directly and on the ways that lose answers and streams.
func runs(t *testing.T, name string, args ...string) {
	t.Helper()
	path := program(t, name)
	address, lost := losing(t)
	cut, ids := cutting(t)
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Env = append(os.Environ(), "WEFT_SERVER="+sharedServer(t), "WEFT_LOSING="+address, "WEFT_CUTTING="+cut, "PYTHONDONTWRITEBYTECODE=1", "no_proxy=127.0.0.1")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.HasSuffix(string(out), "ok\n") {
		t.Fatalf("%v\n%s", err, out)
	}
	if lost.Load() == 0 {
		t.Error("no answer was lost, so nothing was repeated")
	}
	if came := ids(); len(came) != 4 || came[0] != "" || came[1] == "" || came[1] == cutOff || came[2] != came[1] || came[3] == "" || came[3] == came[2] {
		t.Errorf("the stream was opened behind %q: want none, the first event, the first event, the second one", came)
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
