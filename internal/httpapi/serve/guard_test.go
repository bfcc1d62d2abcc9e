package serve

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weft-run/weft/pkg/workflow"
)

// serveOne serves one made-up route with the whole chain around it.
func serveOne(t *testing.T, log io.Writer, rt Route) *httptest.Server {
	t.Helper()
	return serveFor(t, log, time.Minute, rt)
}

// serveFor gives a body, and the reading of an answer, as long as patience. A machine that stands still as long as that
// cuts off who did nothing wrong, so only tests of that time have a short one.
func serveFor(t *testing.T, log io.Writer, patience time.Duration, rt Route) *httptest.Server {
	t.Helper()
	rt.Method, rt.Path, rt.Bare, rt.Kind = http.MethodPost, "/it", true, Open
	a := &API{
		Config: Config{MaxBody: 1 << 20, BodyTimeout: patience, RequestTimeout: 200 * time.Millisecond, MaxWait: time.Minute},
		log:    slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		routes: []Route{rt},
	}
	a.mux = a.mount()
	s := httptest.NewServer(a)
	t.Cleanup(s.Close)
	return s
}

func postIt(t *testing.T, s *httptest.Server, body io.Reader) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/it", body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func TestPanicOfAHandlerIsA500AndInTheLog(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := serveOne(t, &log, Route{Serve: func(*Call) (Reply, error) { panic("a bug with a secret") }})
	resp := postIt(t, s, nil)
	p := readProblem(t, resp)
	if p.Status != 500 || p.Code != workflow.CodeInternal || strings.Contains(p.Detail, "secret") || p.RequestID == "" {
		t.Errorf("problem: %+v", p)
	}
	s.Close() // no handler writes to the log any more
	for _, want := range []string{"request panicked", "a bug with a secret", "guard_test.go", p.RequestID} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not have %q: %s", want, log.String())
		}
	}
}

func TestSlowBodyIsGivenUp(t *testing.T) {
	t.Parallel()
	s := serveFor(t, io.Discard, time.Second, Route{Serve: func(*Call) (Reply, error) { return Reply{}, nil }})
	resp := answerOf(t, dialed(t, s, "POST /it HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20\r\n\r\n{\"input\": ")) // and never the rest
	if p := readProblem(t, resp); p.Status != http.StatusRequestTimeout || p.Code != codeTimeout {
		t.Errorf("problem: %+v", p)
	}
}

// Who asks and does not read the answer is cut off: the time for a wait is not for that, and what is refused has a time
// too. Else each would keep a place, or a goroutine, for as long as it likes.
func TestWhoDoesNotReadAnAnswerIsCutOff(t *testing.T) {
	t.Parallel()
	s := serveFor(t, io.Discard, 200*time.Millisecond, Route{MayWait: true, Serve: func(*Call) (Reply, error) { return Reply{Raw: make([]byte, 64<<20)}, nil }})
	cut := func(what string, send func(c net.Conn) error) {
		t.Helper()
		c := dialed(t, s, "")
		_ = c.SetDeadline(time.Now().Add(20 * time.Second))
		var err error
		for err == nil { // until the other side closes: what was sent and is not read makes that an error here
			err = send(c)
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: who does not read is waited for", what)
		}
	}
	cut("a large answer", func(c net.Conn) error {
		_, err := io.WriteString(c, "POST /it HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}")
		return err
	})
	cut("many that are refused", func(c net.Conn) error {
		_, err := io.WriteString(c, "GET /no HTTP/1.1\r\nHost: localhost\r\n\r\n")
		return err
	})
}

// The time to read is for a part of an answer: who reads a large one over a slow line is not cut off.
func TestALargeAnswerHasTheTimeToReadForEachPart(t *testing.T) {
	t.Parallel()
	w := &timed{ResponseWriter: httptest.NewRecorder()}
	a := &API{Config: Config{BodyTimeout: time.Minute}}
	a.write(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil), Reply{Raw: make([]byte, 3<<20+5)})
	if w.bytes != 3<<20+5 || w.longest > 1<<20 || w.late > 0 {
		t.Errorf("%+v", w)
	}
}

// timed notes what is written with which time.
type timed struct {
	http.ResponseWriter

	bytes, longest, late int // late: without a time of its own
	ready                bool
}

func (w *timed) SetWriteDeadline(at time.Time) error {
	w.ready = time.Until(at) > 0
	return nil
}

func (w *timed) Write(p []byte) (int, error) {
	if w.bytes, w.longest = w.bytes+len(p), max(w.longest, len(p)); !w.ready {
		w.late++
	}
	w.ready = false
	return len(p), nil
}

func TestRequestThatTakesTooLongIsUnknown(t *testing.T) {
	t.Parallel()
	s := serveOne(t, io.Discard, Route{Serve: func(c *Call) (Reply, error) {
		<-c.Request.Context().Done()
		return Reply{}, c.Request.Context().Err()
	}})
	resp := postIt(t, s, nil)
	if p := readProblem(t, resp); p.Status != 503 || p.Code != workflow.CodeUnknownOutcome || resp.Header.Get("Retry-After") == "" {
		t.Errorf("problem: %+v", p)
	}
}

func TestPreferWait(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]time.Duration{
		"wait=30": 30 * time.Second, "respond-async, wait=5": 5 * time.Second, "Wait=7": 7 * time.Second, `wait="9"`: 9 * time.Second,
		"wait=600": time.Minute, "wait=99999999999": time.Minute, "wait=-1": 0, "wait=soon": 0, "wait": 0, "": 0,
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.Header.Set("Prefer", header)
		c := &Call{API: &API{Config: Config{MaxWait: time.Minute}}, Writer: httptest.NewRecorder(), Request: r}
		if got := c.Wait(); got != want {
			t.Errorf("Prefer: %s waits %v, want %v", header, got, want)
		}
		if applied := c.Writer.Header().Get("Preference-Applied"); (applied != "") != (want > 0) {
			t.Errorf("Prefer: %s: Preference-Applied is %q", header, applied)
		}
	}
}

// An endpoint may keep its caller waiting longer than other routes, as long as a
// client may wish to wait and no longer.
func TestARouteMayWait(t *testing.T) {
	t.Parallel()
	for _, mayWait := range []bool{false, true} {
		var left time.Duration
		s := serveOne(t, io.Discard, Route{MayWait: mayWait, Serve: func(c *Call) (Reply, error) {
			deadline, _ := c.Request.Context().Deadline()
			left = time.Until(deadline)
			return Reply{}, nil
		}})
		postIt(t, s, nil)
		s.Close()
		if long := left > time.Second; long != mayWait || left > time.Minute {
			t.Errorf("mayWait %t: %v", mayWait, left)
		}
	}
}

// A connection ends politely while its node drains: the next request of it would be cut off.
func TestAnswersInADrainEndTheirConnections(t *testing.T) {
	t.Parallel()
	var until time.Time
	a := New(Config{MaxInFlight: 4, BodyBytes: 1000, Gatherer: prometheus.NewRegistry(), DrainsUntil: func() time.Time { return until }})
	a.mux = a.mount()
	ask := func() http.Header {
		w := httptest.NewRecorder()
		a.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/nothing", nil))
		return w.Header()
	}
	if h := ask(); h.Get("Connection") != "" {
		t.Errorf("before: %v", h)
	}
	until = time.Now().Add(time.Minute)
	if h := ask(); h.Get("Connection") != "close" {
		t.Errorf("not ready and still serving: %v", h)
	}
	until = time.Time{}
	a.Drain()
	if h := ask(); h.Get("Connection") != "close" {
		t.Errorf("in a drain: %v", h)
	}
}
