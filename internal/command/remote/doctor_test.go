package remote_test

import (
	"bytes"
	"context"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/polltest"
)

// played is a cluster that answers what a test wants, by the end of the path.
func played(t *testing.T, answers map[string]string, secure bool) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for end, text := range answers {
			if strings.HasSuffix(r.URL.Path, end) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, text)
				return
			}
		}
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"code": "not-found", "status": 404, "detail": "nothing"}`)
	}))
	if secure {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

func TestDoctor(t *testing.T) {
	t.Parallel()
	answers := map[string]string{
		"/livez": `{"nodeId": "n1", "status": "ok"}`, "/readyz": `{"nodeId": "n1", "status": "ready"}`,
		"/nodes":   `{"items": [{"nodeId": "n1", "version": "v1", "clockSkewSeconds": 0.01}, {"nodeId": "n2", "version": "v2", "clockSkewSeconds": -7.5}]}`,
		"/meters":  `{"items": [{"nodeId": "n1", "store": {"inUse": 1048576, "quota": 4294967296}}, {"nodeId": "n2", "store": {"inUse": 3221225472, "quota": 4294967296, "level": 1, "text": "etcd is nearly full: x", "advice": "y"}}], "unasked": []}`,
		"/balance": `{"difference": 0}`,
	}
	s := played(t, answers, true)
	u := newUser(t)
	ca := u.file("ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})))
	got := u.wants(1, "*", "doctor", "--server", s.URL, "--cacert", ca)
	for _, line := range []string{
		"ok   server       n1 answers in ", "ok   TLS          TLS 1.3, the certificate is of example.com", "ok   ready ", "ok   credentials ", "ok   n1           works\n",
		"bad  n2           its clock and those of the others are -7.5 s apart: set it\n", "ok   versions     v1, v2: an upgrade that goes on, or one that was left\n",
		"bad  etcd         etcd is nearly full: x; do this: y\n", "ok   balance ",
	} {
		if !strings.Contains(got.out, line) {
			t.Errorf("no line %q in\n%s", line, got.out)
		}
	}
	u.wants(1, "false n2,etcd\n", "doctor", "--server", s.URL, "--cacert", ca, "--jq", `"\(.ok) \([.items[] | select(.ok | not) | .what] | join(","))"`)
	if got := u.wants(1, "*", "doctor", "--server", s.URL); !strings.Contains(got.out, "bad  server ") || !strings.Contains(got.out, "--cacert names the authorities") {
		t.Errorf("without the authorities:\n%s", got.out)
	}

	answers = map[string]string{"/livez": answers["/livez"], "/readyz": `{"nodeId": "n1", "status": "ready", "shedding": true}`, "/nodes": `{"items": []}`, "/meters": `{"items": [], "unasked": ["n3"]}`, "/balance": `{"difference": 2}`}
	plain := played(t, answers, false)
	got = u.wants(1, "*", "doctor", "--server", plain.URL)
	for _, line := range []string{"ok   TLS          none, and none is needed\n", "bad  ready        it refused requests", "bad  etcd         these nodes could not be asked: n3\n", "bad  balance      2 accepted commands have vanished"} {
		if !strings.Contains(got.out, line) {
			t.Errorf("no line %q in\n%s", line, got.out)
		}
	}
}

// The commits of all nodes are added, and the hottest instances of all come first.
func TestTopAddsUpWhatNodesDo(t *testing.T) {
	t.Parallel()
	s := played(t, map[string]string{
		"/balance": `{"at": "2026-11-24T01:00:00Z"}`, "/stats": `{"items": []}`, "/tasks": `{"items": []}`, "/timers": `{"items": []}`, "/queue": `{"items": []}`, "/locks": `{"items": []}`,
		"/nodes": `{"items": [{"nodeId": "n1"}, {"nodeId": "n2"}, {"nodeId": "n3", "lateSeconds": 9.5, "draining": true}]}`,
		"/meters": `{"items": [
			{"nodeId": "n1", "commits": [{"name": "committed", "perSecond": 30}, {"name": "fenced", "perSecond": 9}], "commitCommands": {"mean": 2}, "commitSeconds": {"mean": 0.004}, "hot": [{"instanceId": "a", "perSecond": 3}], "working": 4, "locks": 5, "inFlight": 6},
			{"nodeId": "n2", "commits": [{"name": "committed", "perSecond": 10}], "commitCommands": {"mean": 6}, "commitSeconds": {"mean": 0.008}, "hot": [{"instanceId": "b", "perSecond": 7}, {"instanceId": "c", "perSecond": 2}, {"instanceId": "d", "perSecond": 1}]}],
			"unasked": ["n3"]}`,
	}, false)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var out shown
	ended := make(chan said, 1)
	u := newUser(t)
	go func() {
		ended <- u.until(ctx, &out, &bytes.Buffer{}, "top", "--server", s.URL)
	}()
	for _, text := range []string{"\ncommits    40.0/s, 3.0 commands each, in 5.0 ms\n", "\nhot        b 7.0/s on n2, a 3.0/s on n1, c 2.0/s on n2\n", "n1    working  0    30.0/s   4      5      6 ", "n3    late 9s  0    -        -      -      - "} {
		polltest.Eventually(t, text, func() bool { return out.has(text) })
	}
	interrupt()
	if got := <-ended; got.code != 0 {
		t.Errorf("%d %s", got.code, got.err)
	}
}
