package loadbalancer_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weft-run/weft/internal/freeaddr"
)

// pretend is a server that is ready and answers the rest in its own way.
func pretend(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/readyz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/", answer)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// One node of three refuses or drops everything. What may be repeated always
// succeeds; what may not is sent to one node and to no other.
func TestOnlyWhatCannotHappenTwiceIsRepeated(t *testing.T) {
	t.Parallel()
	each(t, testRepeats)
}

func testRepeats(t *testing.T, k kind) {
	bad := map[string]http.HandlerFunc{
		"it refuses": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
		"it dies":    func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, // no answer
	}
	requests := []struct {
		name, method, key string
		repeated          bool
	}{
		{"a read", http.MethodGet, "", true},
		{"a start with a key", http.MethodPost, "k", true},
		{"a start without a key", http.MethodPost, "", false},
		{"a deletion", http.MethodDelete, "", false},
	}
	for name, answer := range bad {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var attempts atomic.Int64
			count := func(answer http.HandlerFunc) http.HandlerFunc {
				return func(w http.ResponseWriter, r *http.Request) { attempts.Add(1); answer(w, r) }
			}
			good := count(func(http.ResponseWriter, *http.Request) {})
			p := k.balance(t, [3]string{pretend(t, good), pretend(t, good), pretend(t, count(answer))}, true)
			p.up(t, 3)
			for _, r := range requests { // one after the other: they share the counter
				failed, repeated := 0, 0
				for range 12 {
					attempts.Store(0)
					if got := p.once(t, r.method, r.key); got != http.StatusOK {
						failed++
					}
					if attempts.Load() > 1 {
						repeated++
					}
				}
				if r.repeated && (failed > 0 || repeated == 0) || !r.repeated && (failed == 0 || repeated > 0) {
					t.Errorf("%s: of 12, %d failed and %d were repeated", r.name, failed, repeated)
				}
			}
		})
	}
}

// A start with a key goes to another node as long as the load balancer has all of it: HAProxy in its buffer of 128 KiB, nginx in a file. That the client
// asks first whether it may send changes nothing. What does not fit is refused or answered once, and the client repeats it.
func TestAStartWithAKeyIsRepeatedByItsSize(t *testing.T) {
	t.Parallel()
	each(t, testRepeatsBySize)
}

func testRepeatsBySize(t *testing.T, k kind) {
	var attempts atomic.Int64
	answer := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			attempts.Add(1)
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				t.Error(err)
			}
			w.WriteHeader(status)
		}
	}
	p := k.balance(t, [3]string{pretend(t, answer(http.StatusOK)), pretend(t, answer(http.StatusOK)), pretend(t, answer(http.StatusServiceUnavailable))}, true)
	p.up(t, 3)
	for _, size := range []int{1 << 10, 100 << 10, 200 << 10, 2 << 20} {
		for _, expect := range []bool{false, true} {
			fits := k.program == nginx.program || size < 128<<10
			failed, repeated := 0, 0
			for range 12 {
				attempts.Store(0)
				if got := p.send(t, http.MethodPost, "k", size, expect); got != http.StatusOK {
					failed++
				}
				if attempts.Load() > 1 {
					repeated++
				}
			}
			if fits != (failed == 0) || fits != (repeated > 0) {
				t.Errorf("%d bytes, asked first: %t: of 12, %d failed and %d were repeated", size, expect, failed, repeated)
			}
		}
	}
}

// once sends a small request as send does.
func (p *proxy) once(t *testing.T, method, key string) int {
	t.Helper()
	return p.send(t, method, key, 2, false)
}

// send sends a request on a connection of its own, since a connection tends to
// stay with its node. The status is 0 when there is no answer.
func (p *proxy) send(t *testing.T, method, key string, size int, expect bool) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, p.api+"/api/v1/x", strings.NewReader("{"+strings.Repeat(" ", size-2)+"}"))
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	if expect {
		req.Header.Set("Expect", "100-continue")
	}
	req.Close = true
	resp, err := p.client.Do(req)
	if err != nil {
		return 0
	}
	resp.Body.Close()
	if resp.ProtoMajor == 2 != (p.tls != "") {
		t.Errorf("it speaks %s", resp.Proto)
	}
	return resp.StatusCode
}

func TestWithoutANodeTheAnswerIsStillOfTheAPI(t *testing.T) {
	t.Parallel()
	each(t, testNoNode)
}

func testNoNode(t *testing.T, k kind) {
	p := k.balance(t, [3]string{freeaddr.Of(t), freeaddr.Of(t), freeaddr.Of(t)}, false)
	p.up(t, 0)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.api+"/api/v1/events/x", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var problem struct {
		Status int
		Code   string
	}
	if err := json.NewDecoder(resp.Body).Decode(&problem); err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusServiceUnavailable || problem.Status != 503 || problem.Code != "unavailable" ||
		resp.Header.Get("Content-Type") != "application/problem+json" || resp.Header.Get("Retry-After") != "1" {
		t.Errorf("it answers %s %v %+v", resp.Status, resp.Header, problem)
	}
	if k.checks {
		if got := status(t, p.operations+"/healthz"); got != 503 {
			t.Errorf("healthz: %d", got)
		}
	}
}

func TestMetricsOfTheNodesStayInside(t *testing.T) {
	t.Parallel()
	each(t, testMetricsStayInside)
}

func testMetricsStayInside(t *testing.T, k kind) {
	node := pretend(t, func(http.ResponseWriter, *http.Request) {})
	p := k.balance(t, [3]string{node, node, node}, false)
	p.up(t, 3)
	for path, want := range map[string]int{"/metrics": 404, "/metrics?x=1": 404, "/%6detrics": 404, "/metric%73": 404, "/%6D%65%74%72%69%63%73": 404, "/livez": 200} {
		if got := status(t, p.api+path); got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
}

// The host arrives as it was asked for, with its port: a node compares it with
// where a page comes from.
func TestTheHostArrivesAsAskedFor(t *testing.T) {
	t.Parallel()
	each(t, testHost)
}

func testHost(t *testing.T, k kind) {
	node := pretend(t, func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Seen", r.Host) })
	p := k.balance(t, [3]string{node, node, node}, false)
	p.up(t, 3)
	for _, host := range []string{"weft.example", "weft.example:8443", "WEFT.example:80", "127.0.0.1:9", "[::1]:8080"} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			req, err := http.NewRequestWithContext(t.Context(), method, p.api+"/api/v1/x", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Host = host
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if got := resp.Header.Get("Seen"); resp.StatusCode != http.StatusOK || got != host {
				t.Errorf("%s with %s: %d with %q", method, host, resp.StatusCode, got)
			}
		}
	}
}

func status(t *testing.T, url string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}
