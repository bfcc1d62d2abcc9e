package remote_test

import (
	"fmt"
	"io"
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
	cuts := answersLike(t, func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) })
	// What a POST brought to such a place may have been done: the line to repeat it is there.
	u.refuses(5, "outcome unknown; repeat with: weft events send go --server=", "events", "send", "go", "--server", page(200))
	u.refuses(5, "outcome unknown; repeat with: weft queue delete q-1 --server="+cuts+" --yes=true", "queue", "delete", "q-1", "--yes", "--server", cuts)
	other := page(200)
	for _, wait := range [][]string{{"--wait", "30s"}, {"--wait"}, {"--wait=30s"}} { // each time as a word that the repeat takes
		u.refuses(5, "outcome unknown; repeat with: weft run x --server="+other+" --wait=30s --key ", append([]string{"run", "x", "--server", other}, wait...)...)
	}
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

func answersLike(t *testing.T, handler http.HandlerFunc) (url string) {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s.URL
}

// Where nothing listens no request was sent, and so nothing was done: that is said, and nothing of an unknown outcome.
func TestWhatWasNotSentWasNotDone(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	for _, args := range [][]string{{"events", "send", "go"}, {"queue", "delete", "q-1", "--yes"}, {"run", "order"}} {
		got := u.refuses(5, "nothing was done, as no request was sent", append(args, "--server", "http://127.0.0.1:1")...)
		if strings.Contains(got.err, "outcome unknown") {
			t.Errorf("%v: %s", args, got.err)
		}
	}
	if got := u.refuses(5, "nothing listens at", "queue", "list", "--server", "http://127.0.0.1:1"); strings.Contains(got.err, "nothing was done") {
		t.Error(got.err) // a list does nothing
	}
	// One attempt that was cut off may have been done, whatever the others met.
	var stop func()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		stop()
		panic(http.ErrAbortHandler)
	}))
	s.Start()
	stop = func() { _ = s.Listener.Close() }
	u.refuses(5, "outcome unknown; repeat with: weft events send go", "events", "send", "go", "--server", s.URL)
}

// Where a later page fails, what came before it is told, and then the error.
func TestALaterPageThatFails(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	first := map[string]string{
		"GET":  `{"items": [{"id": "q-1", "name": "go", "activityType": "Elsa.Event", "createdAt": "2026-01-01T00:00:00Z"}], "nextCursor": "n1"}`,
		"POST": `{"done": ["q-1", "q-2"], "refused": [], "nextCursor": "n1"}`,
	}
	server := answersLike(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.Query().Get("cursor") == "n1" || strings.Contains(string(body), `"cursor":"n1"`) {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(w, `{"type": "about:blank", "title": "Internal", "status": 500, "code": "internal", "detail": "it broke"}`)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, first[r.Method])
	})
	for _, c := range []struct{ out, why, args string }{
		{"q-1", "the first 1, and no more could be read; go on with --cursor n1", "queue list --all"},
		{`"id": "q-1"`, "it broke", "queue list --all -o json"},
		{"q-1", "it broke", "queue list --all -o jsonl"},
		{"send  2 done, 0 refused, and then it failed: there may be more", "it broke", "queue send --all --yes"},
		{"delete  2 done, 0 refused, and then it failed: there may be more", "it broke", "queue delete --all --yes"},
		{"replay  2 done, 0 refused, and then it failed: there may be more", "it broke", "dead-letters replay --all --yes"},
		{"would delete 2 of 2 dead letters", "it broke", "dead-letters delete --all --dry-run"},
		{`"q-2"`, "it broke", "dead-letters delete --all --yes -o json"},
	} {
		if got := u.refuses(3, c.why, append(strings.Fields(c.args), "--server", server)...); !strings.Contains(got.out, c.out) {
			t.Errorf("%s: %q", c.args, got.out)
		}
	}
}
