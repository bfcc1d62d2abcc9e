package signin

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/people/console/page"
	"github.com/weft-run/weft/internal/people/console/session"
)

// TestAnEndedSessionIsKnown holds that a browser still has a session that has ended, for what
// was typed meanwhile.
func TestAnEndedSessionIsKnown(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	all, err := session.New(session.Config{Secrets: [][]byte{[]byte(strings.Repeat("a", 32))}, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	c := &Desk{Sessions: all}
	for _, s := range []session.Session{{Who: &session.Who{Name: "oidc:ada", Role: auth.Viewer}, Made: now, Seen: now}, {Ticket: "t", Made: now, Seen: now}} {
		w := httptest.NewRecorder()
		if err := all.Enter(w, s, "ada"); err != nil {
			t.Fatal(err)
		}
		kept := w.Result().Cookies()[0]
		if lasts := time.Duration(kept.MaxAge) * time.Second; lasts < s.Life()+time.Hour {
			t.Errorf("the browser keeps a session of %s for %s", s.Life(), lasts)
		}
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		if c.mayKeep(r) != page.MaxKept {
			t.Error("a stranger may send what is large")
		}
		r.AddCookie(kept)
		if c.mayKeep(r) != page.MaxForm {
			t.Error("what somebody typed is too large to keep")
		}
	}
}

func TestPeopleComeBackToWhereTheyWere(t *testing.T) {
	t.Parallel()
	for host, c := range map[string]struct {
		tls       bool
		url, want string
	}{
		"localhost:8080":    {want: "http://localhost:8080/console/callback"},
		"127.0.0.1:8080":    {want: "http://127.0.0.1:8080/console/callback"},
		"[::1]:8080":        {tls: true, want: "https://[::1]:8080/console/callback"},
		"localhost":         {tls: true, want: "https://localhost/console/callback"},
		"weft.example":      {want: "https://weft.example/console/callback"},
		"weft.example:8443": {tls: true, want: "https://weft.example:8443/console/callback"},
		"node-1":            {url: "https://weft.example/", want: "https://weft.example/console/callback"},
	} {
		r := &http.Request{Host: host}
		if c.tls {
			r.TLS = &tls.ConnectionState{}
		}
		if got := (&Desk{URL: c.url}).comeBack(r); got != c.want {
			t.Errorf("%s: %s, want %s", host, got, c.want)
		}
	}
}
