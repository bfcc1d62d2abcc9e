package httpapi_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// wire is a connection on which a test writes by hand.
type wire struct {
	net.Conn
	t *testing.T
	r *bufio.Reader
}

// dial connects until the test ends.
func (s *server) dial(t *testing.T) net.Conn {
	t.Helper()
	var d net.Dialer
	c, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(s.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// sends sends text as it is; # is the test's number.
func (s *server) sends(t *testing.T, text string) *wire {
	t.Helper()
	c := s.dial(t)
	w := &wire{c, t, bufio.NewReader(c)}
	w.write(s.own(text))
	return w
}

func (w *wire) write(text string) {
	w.t.Helper()
	if _, err := io.WriteString(w, text); err != nil {
		w.t.Fatal(err)
	}
}

// answered is the answer that comes before a body that never does may be waited for.
func (w *wire) answered() (status int, body string) {
	w.t.Helper()
	_ = w.SetReadDeadline(time.Now().Add(10 * time.Second)) // less than a body may take
	resp, err := http.ReadResponse(w.r, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp.StatusCode, string(raw)
}

// What an endpoint refuses by the head of a request is not waited for.
func TestWhatAnEndpointRefusesWaitsForNoBody(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.publish(t, "id: closed#\nroot:\n  - httpEndpoint: {path: closed#, supportedMethods: [POST], authorize: true}\n    trigger: true\n")
	s.publish(t, "id: small#\nroot:\n  - httpEndpoint: {path: small#, supportedMethods: [POST], requestSizeLimit: 9}\n    trigger: true\n")
	for path, want := range map[string]int{"closed#": 401, "small#": 413} {
		w := s.sends(t, "POST /workflows/"+path+" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n")
		if status, body := w.answered(); status != want {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	if a := s.do(t, "POST", "/workflows/small#", "123456789"); a.status != 200 {
		t.Errorf("9 bytes: %d %s", a.status, a.body)
	}
}

// Who asks first whether to send a body that is too large is told so, and not that it
// may.
func TestWhatAsksFirstIsToldFirst(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	for _, path := range []string{"/api/v1/events/x", "/api/v1/definitions", "/workflows/x", "/links/x"} {
		w := s.sends(t, "POST "+path+" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10000000\r\nExpect: 100-continue\r\n\r\n")
		if status, body := w.answered(); status != 413 {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	w := s.sends(t, "POST /api/v1/events/x# HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
	if status, _ := w.answered(); status != 100 {
		t.Fatalf("what is small: %d", status)
	}
	w.write("{}")
	if status, body := w.answered(); status != 200 && status != 202 {
		t.Errorf("what is small: %d %s", status, body)
	}
}

// A body is parsed once it is known who takes it: one that is no JSON, or has too many
// values, is nobody's fault where nothing waits for it any more.
func TestABodyIsParsedForWhoTakesIt(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	for _, body := range []string{"{", "[" + strings.Repeat("1,", 20_000) + "1]"} {
		for _, key := range [][]string{nil, {"Idempotency-Key: parsed#"}} { // with a key it is looked for once the body is there
			a := s.do(t, "POST", "/workflows/nobody", body, append(key, "Content-Type: application/json")...)
			if a.code() != "route-not-found" {
				t.Errorf("%.10s %v: %d %.300s", body, key, a.status, a.body)
			}
		}
	}
}
