package remote_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// listener is a server that notes which tokens come.
func listener(t *testing.T) (address string, tokens func() string) {
	t.Helper()
	came := make(chan string, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		came <- strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"items": []}`))
	}))
	t.Cleanup(s.Close)
	return s.URL, func() string {
		var all []string
		for len(came) > 0 {
			all = append(all, <-came)
		}
		return strings.Join(all, ",")
	}
}

// A context can be written before its server is there, and what no flag says of it stays.
func TestContextsAreSet(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.refuses(2, "say with --server where it is", "context", "set", "prod")
	u.refuses(2, "must be a URL", "context", "set", "prod", "--server", "prod")
	u.refuses(2, "has no token", "context", "set", "prod", "--server", "http://127.0.0.1:1", "--token-file", u.file("blank", "\n"))
	u.wants(0, "", "context", "list")
	u.wants(0, "prod  is http://127.0.0.1:1\n", "context", "set", "prod", "--server", "http://127.0.0.1:1", "--token-file", u.file("token", "tok-1\n"))
	u.wants(0, "test  is http://127.0.0.1:2\n", "context", "set", "test", "--server", "http://127.0.0.1:2")
	u.wants(0, "prod  http://127.0.0.1:1  true   true\ntest  http://127.0.0.1:2  false  false\n", "context", "list", "--no-headers")
	u.refuses(5, "nothing listens at http://127.0.0.1:1", "nodes", "list")
	there, tokens := listener(t)
	u.wants(0, "prod  is "+there+"/\n", "context", "set", "prod", "--server", there+"/")
	u.wants(0, "*", "nodes", "list")
	if got := tokens(); got != "" {
		t.Errorf("the token of the old server went to the new one: %q", got)
	}
	u.in = "tok-2\n"
	u.wants(0, "prod  is "+there+"/\n", "context", "set", "prod", "--token-file", "-")
	u.wants(0, "*", "nodes", "list")
	u.wants(0, "*", "nodes", "list", "--server", there)
	if got := tokens(); got != "tok-2,tok-2" {
		t.Errorf("tokens %q", got)
	}

	file := filepath.Join(u.home, ".config", "weft", "config.yaml")
	if err := os.WriteFile(file, []byte("current: prod\ncontexts:\n  prod:\n    sever: https://weft.example\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	u.refuses(2, "sever", "nodes", "list")
	if err := os.WriteFile(file, []byte("current: prod\ncontexts:\n  prod: {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	u.refuses(2, `the context "prod" has no server; weft context set prod --server URL gives it one`, "nodes", "list")
	u.wants(0, "prod  forgotten\n", "context", "delete", "prod")
	u.refuses(2, "no context is used", "logout")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	u.wants(0, "", "context", "list")
}

// Whom a command asks: a flag, also --context, goes before what the environment says, whose token no other server sees.
func TestWhoIsAsked(t *testing.T) {
	t.Parallel()
	named, ofNamed := listener(t)
	exported, ofExported := listener(t)
	u := newUser(t, "WEFT_SERVER="+exported, "WEFT_TOKEN=exported")
	u.wants(0, "*", "context", "set", "named", "--server", named, "--token-file", u.file("token", "named"))
	u.wants(0, "*", "context", "set", "open", "--server", named)
	for _, step := range []struct {
		args            []string
		named, exported string // tokens
	}{
		{nil, "", "exported"},
		{[]string{"--context", "named"}, "named", ""},
		{[]string{"--context", "open"}, "", ""},
		{[]string{"--context", "named", "--token-file", u.file("other", "other")}, "other", ""},
		{[]string{"--context", "named", "--server", exported}, "", "exported"},
		{[]string{"--server", named}, "named", ""}, // that of the context in use, whose server it is
		{[]string{"--server", named, "--token-file", u.file("other", "other")}, "other", ""},
		{[]string{"--server", exported + "/"}, "", "exported"},
	} {
		u.wants(0, "*", append([]string{"nodes", "list"}, step.args...)...)
		if a, b := ofNamed(), ofExported(); a != step.named || b != step.exported {
			t.Errorf("%q: the context's server got %q, the environment's %q", step.args, a, b)
		}
	}
	strict := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"code": "unauthenticated", "detail": "a token is needed", "status": 401}`))
	}))
	t.Cleanup(strict.Close)
	for _, command := range [][]string{{"nodes", "list"}, {"login"}} {
		u.refuses(4, "a token is needed; WEFT_TOKEN was not sent, as it is for WEFT_SERVER: give the token of "+strict.URL+" with --token-file", append(command, "--server", strict.URL)...)
	}
	u.wants(0, "*", "login", "--server", named)
	if a, b := ofNamed(), ofExported(); a != "" || b != "" {
		t.Errorf("login at another server than WEFT_SERVER: %q, %q", a, b)
	}
	u.environ = append(u.environ, "WEFT_CONTEXT=named")
	u.wants(0, "*", "nodes", "list")
	if a, b := ofNamed(), ofExported(); a != "" || b != "exported" {
		t.Errorf("WEFT_CONTEXT beside WEFT_SERVER: %q, %q", a, b)
	}
}
