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

	"github.com/prometheus/client_golang/prometheus"
	"go.yaml.in/yaml/v4"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/authoring/api"
	"github.com/weft-run/weft/internal/httpapi/run"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/pkg/activities"
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

// inPath is what a path takes.
var inPath = regexp.MustCompile(`\{(\w+)\}`)

// everyRoute is the contract of a node with all that there is.
func everyRoute(t *testing.T) []serve.Route {
	t.Helper()
	more, err := api.Routes(activities.Default())
	if err != nil {
		t.Fatal(err)
	}
	return table(&serve.Config{More: more})
}

// served is an API with all routes, and nothing behind them.
func served(t *testing.T, cfg serve.Config) *serve.API {
	t.Helper()
	cfg.Gatherer = prometheus.NewRegistry()
	a := serve.New(cfg)
	if err := a.Open(everyRoute(t), &run.Endpoint); err != nil {
		t.Fatal(err)
	}
	return a
}

// Every route, with no credentials, wrong ones and those of each role: what is
// not said to be open is closed.
func TestEveryRouteIsClosedToThoseBelowItsRole(t *testing.T) {
	t.Parallel()
	guard, keys := keysOf(t)
	a := serve.New(serve.Config{Auth: guard, Gatherer: prometheus.NewRegistry(), MaxBody: 1 << 10, MaxInFlight: 10, BodyBytes: 1 << 20})
	routes := everyRoute(t)
	if len(routes) < 30 {
		t.Fatalf("there are %d routes only", len(routes))
	}
	reached := 0
	for i := range routes { // only the way to the handler is tested, not what is behind
		routes[i].Kind = serve.Open
		routes[i].Serve = func(*serve.Call) (serve.Reply, error) { reached++; return serve.Reply{}, nil }
	}
	if err := a.Open(routes, &run.Endpoint); err != nil {
		t.Fatal(err)
	}
	for i := range routes {
		rt := &routes[i]
		for role := auth.Role(-1); role <= auth.Admin; role++ {
			r := httptest.NewRequestWithContext(t.Context(), rt.Method, inPath.ReplaceAllString(rt.FullPath(), "x"), nil)
			switch {
			case role == -1:
				r.Header.Set("Authorization", "Bearer weft_wrong")
			case role >= auth.Viewer:
				r.Header.Set("Authorization", "Bearer "+keys[role])
			}
			want := http.StatusOK
			switch {
			case rt.Role == auth.Anyone:
			case role < auth.Viewer:
				want = http.StatusUnauthorized
			case role < rt.Role:
				want = http.StatusForbidden
			}
			w := httptest.NewRecorder()
			before := reached
			a.ServeHTTP(w, r)
			if w.Code != want || (reached > before) != (want == http.StatusOK) {
				t.Errorf("%s %s as %v: %d, handler reached: %v; want %d", rt.Method, rt.FullPath(), role, w.Code, reached > before, want)
			}
			if challenge := w.Header().Get("WWW-Authenticate"); (want != http.StatusOK) != strings.HasPrefix(challenge, `Bearer realm="weft"`) {
				t.Errorf("%s %s as %v: WWW-Authenticate is %q", rt.Method, rt.FullPath(), role, challenge)
			}
		}
	}
	var public []string
	for _, rt := range routes {
		if rt.Role == auth.Anyone {
			public = append(public, rt.FullPath())
		}
	}
	if !slices.Equal(public, []string{"/livez", "/readyz", "/metrics", serve.LinkPath + "{token}", serve.LinkPath + "{token}"}) {
		t.Errorf("without credentials: %v", public)
	}
}

// What does not exist is told only to those who are known.
func TestStrangersLearnNothingOfRoutes(t *testing.T) {
	t.Parallel()
	guard, keys := keysOf(t)
	a := served(t, serve.Config{Auth: guard})
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
	for _, rt := range everyRoute(t) {
		for r, list := range lists {
			if has := strings.Contains(list, "`"+rt.Method+" "+rt.Path+"`"); has != (r == rt.Role) {
				t.Errorf("docs/security.md, list of %v: `%s %s` is there: %v; the route needs %v", r, rt.Method, rt.Path, has, rt.Role)
			}
		}
	}
}
