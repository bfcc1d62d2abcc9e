package httpapi

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// serveOne serves one made-up route with the whole chain around it.
func serveOne(t *testing.T, log io.Writer, rt route) *httptest.Server {
	t.Helper()
	rt.method, rt.path, rt.bare, rt.kind = http.MethodPost, "/it", true, open
	a := &API{
		cfg:    Config{MaxBody: 1 << 20, BodyTimeout: 200 * time.Millisecond, RequestTimeout: 200 * time.Millisecond, MaxWait: time.Minute},
		log:    slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		routes: []route{rt},
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
	s := serveOne(t, &log, route{serve: func(*call) (reply, error) { panic("a bug with a secret") }})
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
	s := serveOne(t, io.Discard, route{serve: func(*call) (reply, error) { return reply{}, nil }})
	resp := answerOf(t, dialed(t, s, "POST /it HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20\r\n\r\n{\"input\": ")) // and never the rest
	if p := readProblem(t, resp); p.Status != http.StatusRequestTimeout || p.Code != codeTimeout {
		t.Errorf("problem: %+v", p)
	}
}

func TestRequestThatTakesTooLongIsUnknown(t *testing.T) {
	t.Parallel()
	s := serveOne(t, io.Discard, route{serve: func(c *call) (reply, error) {
		<-c.r.Context().Done()
		return reply{}, c.r.Context().Err()
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
		c := &request{api: &API{cfg: Config{MaxWait: time.Minute}}, w: httptest.NewRecorder(), r: r}
		if got := c.wait(); got != want {
			t.Errorf("Prefer: %s waits %v, want %v", header, got, want)
		}
		if applied := c.w.Header().Get("Preference-Applied"); (applied != "") != (want > 0) {
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
		s := serveOne(t, io.Discard, route{mayWait: mayWait, serve: func(c *call) (reply, error) {
			deadline, _ := c.r.Context().Deadline()
			left = time.Until(deadline)
			return reply{}, nil
		}})
		postIt(t, s, nil)
		s.Close()
		if long := left > time.Second; long != mayWait || left > time.Minute {
			t.Errorf("mayWait %t: %v", mayWait, left)
		}
	}
	if !endpointRoute.mayWait {
		t.Error("an endpoint may not")
	}
}
