package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weft-run/weft/internal/auth"
)

// Strangers who are refused fill no disk; what was left out is counted, and what
// somebody may do is always there.
func TestStrangersFillNoAuditLog(t *testing.T) {
	t.Parallel()
	guard, keys := keysOf(t)
	var out bytes.Buffer
	a := &API{Config: Config{Auth: guard, Gatherer: prometheus.NewRegistry(), Audit: slog.New(slog.NewJSONHandler(&out, nil))}, log: slog.New(slog.DiscardHandler)}
	a.routes = []Route{{Method: "POST", Path: "/pause", Name: "pause", Kind: Changes, Role: auth.Admin, Target: "it"}}
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

// A target is bounded, whatever it is about.
func TestATargetIsCut(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/", nil)
	if got := new(API).target(r, &Exchange{target: strings.Repeat("ü", 5000)}); len([]rune(got)) != maxTarget+1 {
		t.Error(fmt.Sprint("a target has ", len(got), " bytes"))
	}
}
