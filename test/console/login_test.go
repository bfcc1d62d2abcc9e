package console

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/auth/authtest"
	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/node"
)

// TestSigningInAtAProvider goes to the provider and back, on one node of the cluster, and looks
// at pages of another.
func TestSigningInAtAProvider(t *testing.T) {
	t.Parallel()
	iss := authtest.NewIssuer(t)
	iss.Person(map[string]any{"sub": "ada", "roles": []string{"operator"}}, nil)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(authtest.Secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, true, func(c *node.Config) {
		c.AuthOIDCIssuer, c.AuthOIDCAudience, c.AuthOIDCClientID, c.AuthOIDCSecret = iss.URL, authtest.Audience, authtest.Client, secret
	})
	v := s.visitor()
	p := v.check("/console/cluster", http.StatusUnauthorized)
	if !strings.Contains(p.text, `href="/console/login?next=%2Fconsole%2Fcluster"`) || !strings.Contains(p.text, `name="apikey"`) {
		t.Fatalf("no way to the provider\n%s", p.text)
	}
	// What was typed when a session was over stands beside the way to the provider.
	typed := url.Values{"p.name": {"paid"}, "j.payload": {`"typed"`}, "key": {"k"}, "back": {"/console/events"}}
	p = v.post("/console/do/sendEvent", typed)
	for _, want := range []string{`action="/console/do/sendEvent"`, `&#34;typed&#34;</textarea>`, `name="p.name" value="paid"`, `target="_blank"`} {
		if p.status != http.StatusUnauthorized || !strings.Contains(p.text, want) {
			t.Errorf("%d, no %s\n%s", p.status, want, p.text)
		}
	}
	polltest.Eventually(t, "the provider is known", func() bool {
		p = v.get("/console/login?next=/console/cluster")
		return p.status == http.StatusOK
	})
	if p.url.Path != "/console/cluster" || !strings.Contains(p.text, "oidc:ada") || !strings.Contains(p.text, "this needs the role admin") {
		t.Errorf("%s\n%s", p.url, p.text)
	}
	// The session is of the whole cluster, and opens pages only.
	two := s.join("two")
	if p := v.do(http.MethodGet, "/console/me", nil, nil); p.status != http.StatusOK || !strings.Contains(p.text, "operator") {
		t.Errorf("%d\n%s", p.status, p.text)
	}
	other := *s
	other.base = "http://" + two.HTTPAddr()
	if p := (&visitor{&other, v.client}).get("/console/me"); p.status != http.StatusOK || !strings.Contains(p.text, "oidc:ada") {
		t.Errorf("another node: %d\n%s", p.status, p.text)
	}
	if p := v.get("/api/v1/instances"); p.status != http.StatusUnauthorized {
		t.Errorf("the API takes the cookie: %d", p.status)
	}
	polltest.Eventually(t, "node one has heard of the other, and shows what only that knows", func() bool {
		return v.get("/console/raw/nodes/two/bursts").status == http.StatusOK
	})
	if p := v.post("/console/do/pause", nil); p.status != http.StatusForbidden {
		t.Errorf("an operator pauses the cluster: %d", p.status)
	}
	v.post("/console/sign-out", nil)
	v.check("/console/me", http.StatusUnauthorized)

	// Answers to nobody's question, to that of another browser, and refusals.
	for what, path := range map[string]string{
		"not begun": "/console/callback?code=x&state=y", "no answer": "/console/callback", "refused": "/console/callback?error=access_denied&error_description=%3Cscript%3E",
	} {
		if p := s.visitor().check(path, http.StatusUnauthorized); strings.Contains(p.text, "<script>") || !strings.Contains(p.text, `role="alert"`) {
			t.Errorf("%s:\n%s", what, p.text)
		}
	}
	mine, theirs := s.visitor(), s.visitor()
	for _, one := range []*visitor{mine, theirs} { // both begin, and stay at the provider
		one.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	begun := func(v *visitor) string { return v.get("/console/login").head.Get("Location") }
	answered := func(address string) *url.URL {
		resp, err := mine.client.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		back, err := resp.Location()
		if err != nil {
			t.Fatal(err)
		}
		return back
	}
	own, back := answered(begun(mine)), answered(begun(theirs))
	if p := mine.get(back.RequestURI()); p.status != http.StatusUnauthorized || !strings.Contains(p.text, "another sign-in") {
		t.Errorf("with another browser's answer: %d\n%s", p.status, p.text)
	}
	if p := mine.get(own.RequestURI()); p.status != http.StatusSeeOther {
		t.Errorf("another's answer ended the sign-in under way: %d\n%s", p.status, p.text)
	}
	if p := theirs.get(back.RequestURI()); p.status != http.StatusSeeOther {
		t.Errorf("with its own: %d\n%s", p.status, p.text)
	}
	if p := theirs.get(back.RequestURI()); p.status != http.StatusUnauthorized {
		t.Errorf("an answer counts twice: %d", p.status)
	}
	for _, next := range []string{"https://evil.example/", "//evil.example", "/api/v1/pause"} {
		if p := s.visitor().get("/console/login?next=" + url.QueryEscape(next)); p.url.Path != "/console/" || p.url.Host != strings.TrimPrefix(s.base, "http://") {
			t.Errorf("next %s leads to %s", next, p.url)
		}
	}
	iss.Person(map[string]any{"sub": "eve", "roles": []string{"guest"}}, nil)
	if p := s.visitor().check("/console/login", http.StatusUnauthorized); !strings.Contains(p.text, "gives you no role") {
		t.Errorf("without a role:\n%s", p.text)
	}
	// Where there is no provider there is no way to it.
	s.as(auth.Viewer).check("/console/me", http.StatusOK)
}

func TestWithoutAProvider(t *testing.T) {
	t.Parallel()
	v := open(t, true).visitor()
	for _, path := range []string{"/console/login", "/console/callback?code=x&state=y"} {
		v.check(path, http.StatusNotFound)
	}
	if p := v.get("/console/me"); strings.Contains(p.text, "/console/login") {
		t.Error("a way to no provider")
	}
}

// TestTheAuditLogTellsThePagesActs holds that what a page does has its line, and says so.
func TestTheAuditLogTellsThePagesActs(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "audit")
	s := open(t, true, func(c *node.Config) { c.AuditLog = file })
	s.as(auth.Admin).post("/console/do/pause", nil)
	s.api(http.MethodPost, "/unpause", nil)
	polltest.Eventually(t, "both are written", func() bool {
		raw, err := os.ReadFile(file)
		if err != nil {
			return false
		}
		text := string(raw)
		pause, unpause := strings.Index(text, `"operation":"pause"`), strings.Index(text, `"operation":"unpause"`)
		return pause >= 0 && unpause > pause && strings.Contains(text[pause:unpause], `"via":"console"`) && strings.Contains(text[unpause:], `"via":""`)
	})
}
