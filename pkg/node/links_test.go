package node_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/node"
	"github.com/weft-run/weft/pkg/node/full"
)

// A link resumes the one place that it is for, once, at any node, and only by POST.
func TestResumeLinks(t *testing.T) {
	t.Parallel()
	etcd, name := clustertest.Shared(t), clustertest.Namespace(t)
	mails := make(chan map[string]string, 10)
	mailer := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var links map[string]string
		if err := json.NewDecoder(r.Body).Decode(&links); err != nil {
			t.Error(err)
		}
		mails <- links
	}))
	t.Cleanup(mailer.Close)
	var log syncBuffer
	audit := filepath.Join(t.TempDir(), "audit.log")
	cfg := node.Config{
		AuditLog:      audit,
		EtcdEndpoints: etcd.Endpoints(), Cluster: name, AllowPrivateAddresses: true, PublicURL: "https://weft.example/sub/",
		Logger: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	a, b := start(t, cfg), start(t, cfg)
	status, answer := call(t, a, http.MethodPost, "/api/v1/definitions", `
id: approval
variables: {decision: object}
root:
  - parallel:
      - event: decided
        id: decision
        result: decision
      - sendHttpRequest:
          url: `+mailer.URL+`
          method: POST
          content: {yes: "${{ resumeUrl('decision', 'approve & <go>', '1h') }}", no: "${{ resumeUrl('decision', 'reject') }}", soon: "${{ resumeUrl('decision', '', '1s') }}"}
  - writeLine: outcome ${{ variables.decision.outcome }}
`)
	if status != 201 {
		t.Fatalf("publish: %d %v", status, answer)
	}
	begin := func(id string) map[string]string {
		t.Helper()
		if status, answer := call(t, a, http.MethodPost, "/api/v1/definitions/approval/execute", `{"instanceId": "`+id+`"}`); status != 200 || answer["subStatus"] != "Suspended" {
			t.Fatalf("%d %v", status, answer)
		}
		return <-mails
	}
	at := func(n *node.Node, link string) string {
		t.Helper()
		rest, ok := strings.CutPrefix(link, "https://weft.example/sub")
		if !ok {
			t.Fatalf("the link is %s", link)
		}
		return "http://" + n.HTTPAddr() + rest
	}
	follow := func(method, target string) (int, string, http.Header) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, target, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(body), resp.Header
	}
	want := func(what, method, target string, wanted int) string {
		t.Helper()
		got, body, h := follow(method, target)
		if got != wanted || !strings.HasPrefix(h.Get("Content-Type"), "text/html") || h.Get("Cache-Control") != "no-store" || h.Get("Referrer-Policy") != "no-referrer" ||
			!strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: %d, want %d: %s %v", what, got, wanted, body, h)
		}
		return body
	}

	links := begin("first")
	for _, n := range []*node.Node{a, b} {
		for range 2 { // a scanner looks, and looks again
			page := want("look", http.MethodGet, at(n, links["yes"]), 200)
			if !strings.Contains(page, `<form method="post">`) || !strings.Contains(page, "approve &amp; &lt;go&gt;") || strings.Contains(page, "<go>") {
				t.Errorf("page %s", page)
			}
		}
	}
	if _, in := call(t, a, http.MethodGet, "/api/v1/instances/first", ""); in["subStatus"] != "Suspended" {
		t.Errorf("looking changed it: %v", in)
	}
	u, _ := url.Parse(links["yes"])
	want("a changed token", http.MethodPost, at(b, "https://weft.example/sub"+u.Path[len("/sub"):len(u.Path)-4]), 404)
	want("follow at the other node", http.MethodPost, at(b, links["yes"]), 200)
	if _, in := call(t, a, http.MethodGet, "/api/v1/instances/first", ""); in["subStatus"] != "Finished" {
		t.Errorf("after the link: %v", in)
	}
	_, journal := call(t, a, http.MethodGet, "/api/v1/instances/first/journal", "")
	if !strings.Contains(fmt.Sprint(journal), "outcome approve & <go>") {
		t.Errorf("journal %v", journal)
	}
	token := strings.TrimPrefix(u.Path, "/sub/links/")
	if strings.Contains(fmt.Sprint(journal), token) || strings.Contains(log.String(), token) {
		t.Error("the link is in the journal or in the log")
	}
	want("again", http.MethodPost, at(a, links["yes"]), 410)
	if raw, err := os.ReadFile(audit); err != nil || !regexp.MustCompile(`"who":"anyone","role":"","operation":"followLink",[^\n]*"target":"first~[^"]+","result":"done"`).Match(raw) || strings.Contains(string(raw), token) {
		t.Errorf("the audit log does not say whose link was followed, or has the link: %v %s", err, raw)
	}
	want("the other outcome", http.MethodPost, at(a, links["no"]), 410)
	want("look again", http.MethodGet, at(a, links["no"]), 410)

	// A link of one instance is none of another's, and ends in time.
	links = begin("second")
	polltest.Eventually(t, "the link expires", func() bool {
		got, _, _ := follow(http.MethodGet, at(a, links["soon"]))
		return got == 410
	})
	want("expired", http.MethodPost, at(a, links["soon"]), 410)
	if _, in := call(t, a, http.MethodGet, "/api/v1/instances/second", ""); in["subStatus"] != "Suspended" {
		t.Errorf("an expired link changed it: %v", in)
	}
	if s := fmt.Sprint(call(t, b, http.MethodPost, "/api/v1/events/decided", `{"instanceId": "second", "payload": {"outcome": "by hand"}}`)); !strings.Contains(s, "resumed") {
		t.Error(s)
	}
	want("decided otherwise", http.MethodPost, at(a, links["yes"]), 410)

	// Asked for where nothing waits it is an incident that says what to do.
	if status, answer := call(t, a, http.MethodPost, "/api/v1/definitions", "id: early\nroot:\n  - writeLine: \"${{ resumeUrl('later') }}\"\n  - event: later\n    id: later\n"); status != 201 {
		t.Fatal(answer)
	}
	if _, answer := call(t, a, http.MethodPost, "/api/v1/definitions/early/execute", `{}`); !strings.Contains(fmt.Sprint(answer["incidents"]), "nothing waits at activity") {
		t.Errorf("%v", answer["incidents"])
	}
}

// Keys of links in a file: the first signs, the second still holds.
func TestLinkKeysChange(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "keys")
	for content, problem := range map[string]string{"": "no key", "short\n": "at least 32"} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := full.New(t.Context(), node.Config{HTTPAddr: "127.0.0.1:0", DataDir: t.TempDir(), LinkKeyFile: file})
		if err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%q: %v", content, err)
		}
	}
}
