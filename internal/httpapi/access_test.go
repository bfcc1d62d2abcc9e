package httpapi

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/internal/auth"
)

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

// Every route, with no credentials, wrong ones and those of each role: what is
// not said to be open is closed.
func TestEveryRouteIsClosedToThoseBelowItsRole(t *testing.T) {
	t.Parallel()
	guard, keys := keysOf(t)
	a := &API{cfg: Config{Auth: guard, Gatherer: prometheus.NewRegistry(), MaxBody: 1 << 10, RequestTimeout: time.Minute}, log: slog.New(slog.DiscardHandler), places: newPlaces(10, 1<<20)}
	a.routes = a.table()
	if err := checkRoles(a.routes); err != nil {
		t.Fatal(err)
	}
	if len(a.routes) < 30 {
		t.Fatalf("there are %d routes only", len(a.routes))
	}
	reached := 0
	for i := range a.routes { // only the way to the handler is tested, not what is behind
		a.routes[i].kind = open
		a.routes[i].serve = func(*call) (reply, error) { reached++; return reply{}, nil }
	}
	a.mux = a.mount()
	for i := range a.routes {
		rt := &a.routes[i]
		for role := auth.Role(-1); role <= auth.Admin; role++ {
			r := httptest.NewRequestWithContext(t.Context(), rt.method, pathParam.ReplaceAllString(rt.fullPath(), "x"), nil)
			switch {
			case role == -1:
				r.Header.Set("Authorization", "Bearer weft_wrong")
			case role >= auth.Viewer:
				r.Header.Set("Authorization", "Bearer "+keys[role])
			}
			want := http.StatusOK
			switch {
			case rt.role == auth.Anyone:
			case role < auth.Viewer:
				want = http.StatusUnauthorized
			case role < rt.role:
				want = http.StatusForbidden
			}
			w := httptest.NewRecorder()
			before := reached
			a.ServeHTTP(w, r)
			if w.Code != want || (reached > before) != (want == http.StatusOK) {
				t.Errorf("%s %s as %v: %d, handler reached: %v; want %d", rt.method, rt.fullPath(), role, w.Code, reached > before, want)
			}
			if challenge := w.Header().Get("WWW-Authenticate"); (want != http.StatusOK) != strings.HasPrefix(challenge, `Bearer realm="weft"`) {
				t.Errorf("%s %s as %v: WWW-Authenticate is %q", rt.method, rt.fullPath(), role, challenge)
			}
		}
	}
	var public []string
	for _, rt := range a.routes {
		if rt.role == auth.Anyone {
			public = append(public, rt.fullPath())
		}
	}
	if !slices.Equal(public, []string{"/livez", "/readyz", "/metrics", linkPath + "{token}", linkPath + "{token}"}) {
		t.Errorf("without credentials: %v", public)
	}
}

func TestRouteWithoutARoleIsNotServed(t *testing.T) {
	t.Parallel()
	if err := checkRoles([]route{{method: "GET", path: "/forgotten", role: auth.Viewer}, {method: "POST", path: "/forgotten"}}); err == nil ||
		!strings.Contains(err.Error(), "POST /api/v1/forgotten names no role") {
		t.Errorf("got %v", err)
	}
	// And if nobody had looked, it would still be closed to everyone.
	guard, keys := keysOf(t)
	a := &API{cfg: Config{Auth: guard}, log: slog.New(slog.DiscardHandler)}
	a.routes = []route{{method: "GET", path: "/forgotten", serve: func(*call) (reply, error) { return reply{}, nil }}}
	a.mux = a.mount()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/forgotten", nil)
	r.Header.Set("Authorization", "Bearer "+keys[auth.Admin])
	w := httptest.NewRecorder()
	if a.ServeHTTP(w, r); w.Code != http.StatusForbidden {
		t.Errorf("got %d", w.Code)
	}
}

// What does not exist is told only to those who are known.
func TestStrangersLearnNothingOfRoutes(t *testing.T) {
	t.Parallel()
	guard, keys := keysOf(t)
	a := &API{cfg: Config{Auth: guard, Gatherer: prometheus.NewRegistry()}, log: slog.New(slog.DiscardHandler)}
	a.routes = a.table()
	a.mux = a.mount()
	for path, want := range map[string]int{"/api/v1/nothing": 404, "/": 404, "/api/v1//nodes": 404, "/api/v1/locks": 405, "/api/v1/../metrics": 404} {
		for key, want := range map[string]int{"": 401, keys[auth.Viewer]: want} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPut, path, nil)
			if key != "" {
				r.Header.Set("Authorization", "Bearer "+key)
			}
			w := httptest.NewRecorder()
			if a.ServeHTTP(w, r); w.Code != want {
				t.Errorf("PUT %s, known: %v: got %d, want %d", path, key != "", w.Code, want)
			}
		}
	}
}

// docs/security.md says which role each route needs; this holds it to the table.
func TestDocumentationHasEveryRole(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	lists := map[auth.Role]string{}
	for r := auth.Anyone; r <= auth.Admin; r++ {
		m := regexp.MustCompile(`(?m)^- \*\*` + r.String() + `\*\*.*\n(?:  - .*\n)+`).Find(raw)
		if m == nil {
			t.Fatalf("docs/security.md has no list for %v", r)
		}
		lists[r] = string(m)
	}
	a := &API{cfg: Config{Gatherer: prometheus.NewRegistry()}}
	for _, rt := range a.table() {
		for r, list := range lists {
			if has := strings.Contains(list, "`"+rt.method+" "+rt.path+"`"); has != (r == rt.role) {
				t.Errorf("docs/security.md, list of %v: `%s %s` is there: %v; the route needs %v", r, rt.method, rt.path, has, rt.role)
			}
		}
	}
}
