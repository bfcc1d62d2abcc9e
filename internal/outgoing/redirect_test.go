package outgoing

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// TestRedirects sends a request with credentials to a server that sends it on, and
// says what the second server got.
func TestRedirects(t *testing.T) {
	t.Parallel()
	type got struct {
		header http.Header
		body   string
	}
	var second []got
	take := func(r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		second = append(second, got{r.Header, string(body)})
	}
	var home *httptest.Server
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/back" {
			http.Redirect(w, r, home.URL+"/end", http.StatusFound)
			return
		}
		take(r)
	}))
	defer other.Close()
	redirect := func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		switch {
		case r.URL.Path == "/end":
			take(r)
		case q.Get("code") == "307":
			http.Redirect(w, r, q.Get("to"), http.StatusTemporaryRedirect)
		default:
			http.Redirect(w, r, q.Get("to"), http.StatusFound)
		}
	}
	home = httptest.NewServer(http.HandlerFunc(redirect))
	defer home.Close()
	safe := httptest.NewTLSServer(http.HandlerFunc(redirect))
	defer safe.Close()
	name := strings.Replace(home.URL, "127.0.0.1", "LOCALHOST", 1)

	for _, c := range []struct {
		what, from, to, code string
		method, body         string
		refused              string
		kept                 bool
		gotBody              string
	}{
		{what: "the same origin keeps all", from: home.URL, to: "/end", method: "GET", kept: true},
		{what: "and the body", from: home.URL, to: "/end", code: "307", method: "POST", body: "order", kept: true, gotBody: "order"},
		{what: "another port", from: home.URL, to: other.URL + "/end", method: "GET"},
		{what: "another name", from: home.URL, to: name + "/end", method: "GET"},
		{what: "after a POST", from: home.URL, to: other.URL + "/end", method: "POST", body: "order"},
		{what: "307 with a body", from: home.URL, to: other.URL + "/end", code: "307", method: "POST", body: "order", refused: "with a body to another server"},
		{what: "307 without", from: home.URL, to: other.URL + "/end", code: "307", method: "DELETE"},
		{what: "back to the first", from: home.URL, to: other.URL + "/back", method: "GET"},
		{what: "https to http", from: safe.URL, to: home.URL + "/end", method: "GET", refused: "from https to http"},
		{what: "https to http of the same name and port", from: safe.URL, to: strings.Replace(safe.URL, "https", "http", 1) + "/end", method: "GET", refused: "from https to http"},
		{what: "https to https elsewhere", from: safe.URL, to: strings.Replace(safe.URL, "127.0.0.1", "localhost", 1) + "/end", method: "GET"},
		{what: "https to https", from: safe.URL, to: safe.URL + "/end", method: "GET", kept: true},
		{what: "a file", from: home.URL, to: "file:///etc/passwd", method: "GET", refused: "the scheme"},
	} {
		t.Run(c.what, func(t *testing.T) {
			client := NewClient(true)
			trusted := safe.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
			trusted.ServerName = "example.com" // as in the test server's certificate
			client.Transport.(*transport).plain.TLSClientConfig = trusted
			defer client.CloseIdleConnections()
			second = nil
			target := c.from + "/start?" + url.Values{"to": {c.to}, "code": {c.code}, "token": {"in-the-url"}}.Encode()
			req, err := http.NewRequestWithContext(t.Context(), c.method, target, strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range []string{"Authorization", "X-Api-Key", "Cookie", "Idempotency-Key", "X-Whatever"} {
				req.Header.Set(h, "secret")
			}
			req.Header.Set("User-Agent", UserAgent)
			resp, err := client.Do(req)
			if err == nil {
				resp.Body.Close()
			}
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) || len(second) > 0 {
					t.Errorf("%v; the second server got %v", err, second)
				}
				return
			}
			if err != nil || len(second) != 1 {
				t.Fatalf("%v; the second server got %v", err, second)
			}
			for _, h := range []string{"Authorization", "X-Api-Key", "Cookie", "Idempotency-Key", "X-Whatever"} {
				if has := second[0].header.Get(h) != ""; has != c.kept {
					t.Errorf("%s was sent on: %v, not %v", h, has, c.kept)
				}
			}
			if ref := second[0].header.Get("Referer"); ref != "" && !c.kept {
				t.Errorf("Referer %q", ref)
			}
			if second[0].body != c.gotBody || second[0].header.Get("User-Agent") != UserAgent {
				t.Errorf("got %+v", second[0])
			}
		})
	}
}
