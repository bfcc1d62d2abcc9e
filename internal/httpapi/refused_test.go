package httpapi

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/polltest"
)

// Who may not do something is told so before the body comes, by every route.
func TestWhoMayNotWaitsForNoBody(t *testing.T) {
	t.Parallel()
	guard, keys := keysOf(t)
	a := &API{cfg: Config{Auth: guard, MaxBody: 1 << 20, BodyTimeout: time.Hour, RequestTimeout: time.Hour}, log: slog.New(slog.DiscardHandler),
		routes: []route{{method: "POST", path: "/it", bare: true, kind: open, role: auth.Admin, serve: func(*call) (reply, error) { return reply{}, nil }}}}
	a.mux = a.mount()
	s := httptest.NewServer(a)
	t.Cleanup(s.Close)
	for key, want := range map[string]int{"": 401, keys[auth.Designer]: 403} {
		head := "POST /it HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n"
		if key != "" {
			head += "Authorization: Bearer " + key + "\r\n"
		}
		if resp := answerOf(t, dialed(t, s, head+"\r\n")); resp.StatusCode != want || !resp.Close {
			t.Errorf("%d, want %d; closes: %t", resp.StatusCode, want, resp.Close)
		}
	}
}

// dialed is a connection on which text was sent.
func dialed(t *testing.T, s *httptest.Server, text string) net.Conn {
	t.Helper()
	var d net.Dialer
	c, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	return c
}

func answerOf(t *testing.T, c net.Conn) *http.Response {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// Large bodies on their way, and the values in them, share the memory that all may
// have; small ones are not refused for it, and what is over makes room.
func TestBodiesInFlightShareTheirMemory(t *testing.T) {
	t.Parallel()
	const budget = 1 << 20
	a := &API{cfg: Config{MaxBody: budget, BodyTimeout: time.Hour, RequestTimeout: time.Hour}, log: slog.New(slog.DiscardHandler), places: newPlaces(4, budget),
		routes: []route{{method: "POST", path: "/it", bare: true, kind: open, serve: func(c *call) (reply, error) {
			var body struct {
				V any `json:"v"`
			}
			return reply{}, c.decode(&body)
		}}}}
	a.mux = a.mount()
	s := httptest.NewServer(a)
	t.Cleanup(s.Close)
	now := func() int64 {
		a.places.bodies.mu.Lock()
		defer a.places.bodies.mu.Unlock()
		return a.places.bodies.left
	}
	left := func(want int64) {
		t.Helper()
		polltest.Eventually(t, fmt.Sprintf("%d bytes are left", want), func() bool { return now() == want })
	}
	sent := func(what, v string, want int) {
		t.Helper()
		before := now()
		if resp := postIt(t, s, strings.NewReader(`{"v": `+v+`}`)); resp.StatusCode != want {
			t.Errorf("%s: %d, want %d", what, resp.StatusCode, want)
		}
		left(before) // nobody else comes or goes meanwhile
	}
	text := func(n int) string { return `"` + strings.Repeat("x", n) + `"` }
	values := "[" + strings.Repeat("1,", 8000) + "1]"
	sent("a text", text(400_000), 200)
	sent("many values", values, 200)
	large := dialed(t, s, "POST /it HTTP/1.1\r\nHost: localhost\r\nContent-Length: 800000\r\n\r\n"+strings.Repeat(" ", 700_000))
	const rest = budget - (700_000 - freeBody)
	left(rest) // what was announced and is not there does not count
	sent("a text beside it", text(400_000), 503)
	sent("many values beside it", values, 503)
	sent("a text that leaves others too little", text(200_000), 503)
	sent("a smaller text beside it", text(80_000), 200)
	if !a.places.bodies.take("another", 0, rest) {
		t.Error("another caller gets nothing of what is left")
	}
	left(0)
	sent("a text when all is taken", text(10_000), 503)
	sent("a small one when all is taken", text(8000), 200)
	a.places.bodies.give("another", rest)
	left(rest)
	if _, err := io.WriteString(large, strings.Repeat(" ", 99_998)+"{}"); err != nil {
		t.Fatal(err)
	}
	if resp := answerOf(t, large); resp.StatusCode != http.StatusOK {
		t.Errorf("the one that was on its way: %d", resp.StatusCode)
	}
	left(budget)
}
