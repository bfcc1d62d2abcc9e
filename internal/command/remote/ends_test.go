package remote_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// What answers and is no node of Weft is told as that, in a line, and nothing was refused.
func TestAnotherServer(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	page := func(status int) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(status)
			fmt.Fprint(w, "<p>It works!</p>\x1b[2J")
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secure.Close)
	for _, c := range []struct {
		code        int
		server, why string
	}{
		{5, page(200), "is it a node of Weft"},
		{5, page(404), "no node of Weft says so; is there a node at http://127.0.0.1:"},
		{4, page(401), "401 Unauthorized, and no node of Weft says so; sign in"},
		{3, page(413), "413"},
		{5, strings.Replace(secure.URL, "https:", "http:", 1), "takes https:// only"},
		{5, strings.Replace(page(200), "http:", "https:", 1), "say http:// with --server"},
		{5, secure.URL, "--cacert names the authorities"},
	} {
		got := u.refuses(c.code, c.why, "definitions", "list", "--server", c.server)
		lines := strings.Split(strings.TrimSpace(got.err), "\n")
		if last := lines[len(lines)-1]; !strings.Contains(last, c.why) || strings.Contains(got.err, "\x1b") {
			t.Errorf("%s: %q", c.server, got.err)
		}
	}
	// What a POST brought to such a place may have been done: the line to repeat it is there.
	u.refuses(5, "outcome unknown; repeat with: weft events send go --server=", "events", "send", "go", "--server", page(200))
	u.refuses(5, "outcome unknown; repeat with: weft queue delete q-1 --server=http://127.0.0.1:1 --yes=true", "queue", "delete", "q-1", "--yes", "--server", "http://127.0.0.1:1")
}

// Half of an object is no text, and an empty text is one.
func TestPayloads(t *testing.T) {
	t.Parallel()
	u := at(t)
	for _, bad := range []string{`{by: "Ada"}`, `{"by": "Ada"`, `[1, 2`, `"Ada`, `{"a": 1} {"b": 2}`} {
		u.refuses(2, "begins as JSON does and is none", "events", "send", "pay-0", "-d", bad)
		u.refuses(2, "begins as JSON does and is none", "run", "x", "-i", "n="+bad)
	}
	u.wants(0, "", "queue", "list", "--jq", `.items[] | select(.name == "pay-0") | .id`)
	for i, c := range []struct{ given, brought string }{
		{"", `""`}, {"Ada", `"Ada"`}, {"007", `"007"`}, {"7", "7"}, {`"7"`, `"7"`}, {"null", "null"}, {`{"by": "Ada"}`, `{"by":"Ada"}`}, {" [1]", "[1]"}, {"a [1", `"a [1"`},
	} {
		name := fmt.Sprintf("pay-%d", i+1)
		id := strings.Fields(u.wants(0, "*", "events", "send", name, "-d", c.given).out)[1]
		if got := u.wants(0, "*", "queue", "show", id, "--jq", ".brought.input.payload | tojson").out; got != c.brought+"\n" {
			t.Errorf("-d %q brought %s", c.given, got)
		}
		u.wants(0, "*", "queue", "delete", id, "--yes")
	}
}

// With --curl the request that would do it is printed, not the look before.
func TestCurlOfAJob(t *testing.T) {
	t.Parallel()
	got := newUser(t).wants(0, "*", "instances", "cancel", "--query", "def:x", "--curl", "--server", "http://127.0.0.1:1")
	if !strings.Contains(got.out, `{"kind":"cancel","q":"def:x"}`) || strings.Contains(got.out, "dryRun") || strings.Count(got.out, "\n") != 1 {
		t.Errorf("%s", got.out)
	}
}
