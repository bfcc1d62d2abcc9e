package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weft-run/weft/internal/auth"
)

// Strangers who are refused fill no disk; what was left out is counted, and what
// somebody may do is always there.
func TestStrangersFillNoAuditLog(t *testing.T) {
	t.Parallel()
	guard, keys := keysOf(t)
	var out bytes.Buffer
	a := &API{cfg: Config{Auth: guard, Gatherer: prometheus.NewRegistry(), Audit: slog.New(slog.NewJSONHandler(&out, nil))}, log: slog.New(slog.DiscardHandler)}
	a.routes = []route{{method: "POST", path: "/pause", name: "pause", kind: changes, role: auth.Admin, target: "it"}}
	a.mux = a.mount()
	ask := func(key string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/v1/pause", nil)
		r.Header.Set("Authorization", "Bearer "+key)
		a.ServeHTTP(httptest.NewRecorder(), r)
	}
	const asked = 3000
	for range asked {
		ask("weft_wrong")
	}
	for range 3 {
		ask(keys[auth.Viewer]) // may not, and is known
	}
	lines, counted, known := 0, 0, 0
	for line := range strings.Lines(out.String()) {
		var l struct {
			Who        string
			Suppressed int
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		lines, counted = lines+1, counted+l.Suppressed
		if l.Who == "key:viewer" {
			known++
		}
	}
	if known != 3 || lines+counted != asked+3 || counted < asked/2 {
		t.Errorf("%d lines, %d of a known caller, %d counted; %d were asked for", lines, known, counted, asked+3)
	}
}

// Time gives lines again, and a clock that is set back takes none.
func TestStrangersHaveLinesAgain(t *testing.T) {
	t.Parallel()
	var s strangers
	now := time.Now()
	got := func(at time.Time, n int) (written int) {
		for range n {
			if _, ok := s.line(at, true); ok {
				written++
			}
		}
		return written
	}
	for _, c := range []struct {
		after   time.Duration
		n, want int
	}{{0, 1000, strangerLines}, {time.Second, 1000, strangerRate}, {-time.Hour, 5, 0}, {time.Second - time.Hour, 1000, strangerRate}, {24 * time.Hour, 1000, strangerLines}} {
		if n := got(now.Add(c.after), c.n); n != c.want {
			t.Errorf("after %v: %d, want %d", c.after, n, c.want)
		}
	}
	if n, ok := s.line(now, false); !ok || n == 0 {
		t.Errorf("a known caller: %d, %t", n, ok)
	}
}

// Each line of the audit log says what it is about.
func TestEveryAuditedRouteHasATarget(t *testing.T) {
	t.Parallel()
	a := &API{cfg: Config{Gatherer: prometheus.NewRegistry()}}
	for _, rt := range a.table() {
		if rt.kind >= changes && rt.target == "" && !strings.Contains(rt.path, "{id}") && !strings.Contains(rt.path, "{name}") {
			t.Errorf("%s %s", rt.method, rt.path)
		}
	}
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/", nil)
	if got := a.target(r, &exchange{target: strings.Repeat("ü", 5000)}); len([]rune(got)) != maxTarget+1 {
		t.Error(fmt.Sprint("a target has ", len(got), " bytes"))
	}
}
