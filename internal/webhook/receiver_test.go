package webhook_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/webhook"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
)

// verify reads the body of a webhook's request, and says whether it is one: signed with the
// secret that both sides know, and not older than five minutes.
func verify(r *http.Request, secret string) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 64<<10))
	if err != nil {
		return nil, err
	}
	id, at := r.Header.Get("webhook-id"), r.Header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(at, 10, 64)
	if age := time.Since(time.Unix(seconds, 0)); err != nil || age > 5*time.Minute || age < -5*time.Minute {
		return nil, fmt.Errorf("it is of %q", at)
	}
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%s.%s.%s", id, at, body)
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, signature := range strings.Fields(r.Header.Get("webhook-signature")) { // two while a secret is exchanged
		if hmac.Equal([]byte(signature), []byte(want)) {
			return body, nil
		}
	}
	return nil, fmt.Errorf("no signature fits")
}

// What the page for receivers shows is what is tested here.
func TestThePageForReceiversVerifies(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("receiver_test.go")
	if err != nil {
		t.Fatal(err)
	}
	from := strings.Index(string(source), "func verify(")
	code := string(source)[from:]
	code = code[:strings.Index(code, "\n}\n")+3]
	if !strings.Contains(string(page), "```go\n"+code+"```") {
		t.Errorf("docs/webhooks.md has not this code:\n%s", code)
	}

	m := newMember(t, clustertest.Namespace(t), "a")
	m.Publish(quick)
	heard := make(chan error, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, err := verify(r, secretText)
		heard <- err
	}))
	t.Cleanup(server.Close)
	m.put(webhook.Definition{Name: "w", URL: server.URL, On: []webhook.Kind{webhook.Ended}, Secrets: []string{"next", "signs"}})
	m.Start("quick", "one", "")
	if err := <-heard; err != nil {
		t.Error(err)
	}

	r := newReceiver(t)
	m.put(webhook.Definition{Name: "w2", URL: r.server.URL, On: []webhook.Kind{webhook.Ended}})
	m.Start("quick", "two", "")
	g := r.about("two")
	for name, change := range map[string]func(h http.Header, body string) string{
		"as it was":    func(_ http.Header, body string) string { return body },
		"another body": func(_ http.Header, body string) string { return strings.Replace(body, "two", "six", 1) },
		"another id":   func(h http.Header, body string) string { h.Set("webhook-id", "x"); return body },
		"another time": func(h http.Header, body string) string {
			h.Set("webhook-timestamp", strconv.FormatInt(time.Now().Unix()-7, 10))
			return body
		},
		"an old one":        func(h http.Header, body string) string { h.Set("webhook-timestamp", "1"); return body },
		"no signature":      func(h http.Header, body string) string { h.Del("webhook-signature"); return body },
		"another signature": func(h http.Header, body string) string { h.Set("webhook-signature", "v1,AAAA"); return body },
	} {
		header := g.header.Clone()
		req := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(change(header, string(g.body))))
		req.Header = header
		if _, err := verify(req, secretText); (err == nil) != (name == "as it was") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
