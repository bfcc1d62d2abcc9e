package serve

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/polltest"
)

func TestRouteWithoutARoleIsNotServed(t *testing.T) {
	t.Parallel()
	if err := checkRoles([]Route{{Method: "GET", Path: "/forgotten", Role: auth.Viewer}, {Method: "POST", Path: "/forgotten"}}); err == nil ||
		!strings.Contains(err.Error(), "POST /api/v1/forgotten names no role") {
		t.Errorf("got %v", err)
	}
	// And if nobody had looked, it would still be closed to everyone.
	guard, keys := keysOf(t)
	a := &API{Config: Config{Auth: guard}, log: slog.New(slog.DiscardHandler)}
	a.routes = []Route{{Method: "GET", Path: "/forgotten", Serve: func(*Call) (Reply, error) { return Reply{}, nil }}}
	a.mux = a.mount()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/forgotten", nil)
	r.Header.Set("Authorization", "Bearer "+keys[auth.Admin])
	w := httptest.NewRecorder()
	if a.ServeHTTP(w, r); w.Code != http.StatusForbidden {
		t.Errorf("got %d", w.Code)
	}
}

// Who may not do something is told so before the body comes, by every route.
func TestWhoMayNotWaitsForNoBody(t *testing.T) {
	t.Parallel()
	guard, keys := keysOf(t)
	a := &API{Config: Config{Auth: guard, MaxBody: 1 << 20, BodyTimeout: time.Hour, RequestTimeout: time.Hour}, log: slog.New(slog.DiscardHandler),
		routes: []Route{{Method: "POST", Path: "/it", Bare: true, Kind: Open, Role: auth.Admin, Serve: func(*Call) (Reply, error) { return Reply{}, nil }}}}
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
	a := &API{Config: Config{MaxBody: budget, BodyTimeout: time.Hour, RequestTimeout: time.Hour}, log: slog.New(slog.DiscardHandler), places: newPlaces(4, budget),
		routes: []Route{{Method: "POST", Path: "/it", Bare: true, Kind: Open, Serve: func(c *Call) (Reply, error) {
			var body struct {
				V any `json:"v"`
			}
			return Reply{}, c.Decode(&body)
		}}}}
	a.mux = a.mount()
	s := httptest.NewServer(a)
	t.Cleanup(s.Close)
	now := func() int64 {
		taken, _ := a.places.bodies.Taken()
		return budget - taken
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
	if !a.places.bodies.Take("another", 0, rest) {
		t.Error("another caller gets nothing of what is left")
	}
	left(0)
	sent("a text when all is taken", text(10_000), 503)
	sent("a small one when all is taken", text(8000), 200)
	a.places.bodies.Give("another", rest)
	left(rest)
	if _, err := io.WriteString(large, strings.Repeat(" ", 99_998)+"{}"); err != nil {
		t.Fatal(err)
	}
	if resp := answerOf(t, large); resp.StatusCode != http.StatusOK {
		t.Errorf("the one that was on its way: %d", resp.StatusCode)
	}
	left(budget)
}

// keysOf makes an API key of each role.
func keysOf(t *testing.T) (*auth.Authenticator, map[auth.Role]string) {
	t.Helper()
	keys := map[auth.Role]string{}
	var entries []auth.KeyEntry
	for r := auth.Viewer; r <= auth.Admin; r++ {
		key, entry, err := auth.NewKey(r.String(), r, nil)
		if err != nil {
			t.Fatal(err)
		}
		keys[r], entries = key, append(entries, entry)
	}
	raw, err := yaml.Marshal(entries)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	opened, err := auth.OpenKeys(path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return &auth.Authenticator{Keys: opened}, keys
}
