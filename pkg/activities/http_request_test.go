package activities_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weft-run/weft/internal/outgoing"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/files"
)

func withHTTP(allowPrivate bool) option {
	return withEnv(func(e *engine.Env) { e.HTTP = outgoing.NewClient(allowPrivate) })
}

// server answers by path: /echo, /flaky (503 twice), /slow (never), /trickle (a
// body that does not end), /big and /bomb (bodies over the limit, the second
// compressed), /headers (too many), /round (20 redirects to itself), …
func server(t *testing.T) (*httptest.Server, *[]string) {
	t.Helper()
	var keys []string
	var mu sync.Mutex // guards keys
	var flaky, rounds atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		mu.Unlock()
		switch {
		case r.URL.Path == "/echo":
			body, _ := io.ReadAll(r.Body)
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"method":"`+r.Method+`","type":"`+r.Header.Get("Content-Type")+`","auth":"`+r.Header.Get("Authorization")+`","x":"`+r.Header.Get("X-A")+`","body":`+string(body)+`}`)
		case r.URL.Path == "/flaky" && flaky.Add(1) < 3:
			w.WriteHeader(http.StatusServiceUnavailable)
		case r.URL.Path == "/slow":
			<-r.Context().Done()
		case r.URL.Path == "/trickle":
			_, _ = io.WriteString(w, "a little")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		case r.URL.Path == "/big":
			_, _ = w.Write(make([]byte, files.MaxSize+1))
		case r.URL.Path == "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = z.Write(make([]byte, files.MaxSize+1))
			_ = z.Close()
		case r.URL.Path == "/headers":
			for i := range 300 {
				w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("a", 1<<10))
			}
		case r.URL.Path == "/round" && rounds.Add(1) < 20:
			http.Redirect(w, r, "/round", http.StatusFound)
		case strings.HasPrefix(r.URL.Path, "/404"):
			w.WriteHeader(http.StatusNotFound)
		default:
			_, _ = io.WriteString(w, "fine")
		}
	}))
	t.Cleanup(srv.Close)
	return srv, &keys
}

func TestSendHTTPRequest(t *testing.T) {
	t.Parallel()
	srv, keys := server(t)
	send := named("send", act("SendHttpRequest", inputs{
		"url": lit(srv.URL + "/echo"), "method": lit("post"), "content": expr(func(engine.Scope) (any, error) { return map[string]any{"a": 1}, nil }),
		"headers": lit(map[string]any{"X-A": "b"}), "authorization": lit("Bearer secret-token"),
	}))
	send.Outputs = map[string]string{"result": "answer"}
	def := root(send)
	def.Variables = []workflow.Variable{{Name: "answer"}}
	def.Outputs = []workflow.Output{{Name: "got", Value: ptr(varExpr("answer"))}}
	b := start(t, def, withHTTP(true)).wantStatus(workflow.Finished)
	answer, _ := b.header.Output["got"].(map[string]any)
	body, _ := answer["body"].(map[string]any)
	if answer["statusCode"] != int64(200) || body["method"] != "POST" || body["type"] != "application/json" || body["x"] != "b" || body["auth"] != "Bearer secret-token" {
		t.Errorf("answer %v", answer)
	}
	if len(*keys) != 1 || (*keys)[0] == "" {
		t.Errorf("idempotency keys %v", *keys)
	}
	for _, it := range b.journal {
		if data, _ := it.Data.(map[string]any); it.Event == engine.EventStarted {
			if in, _ := data["inputs"].(map[string]any); in["authorization"] != nil || in["headers"] != nil || in["url"] == nil {
				t.Errorf("journal %v", in)
			}
		}
	}
	// A repeated burst sends the same key, another instance another one.
	start(t, def, withHTTP(true))
	if (*keys)[0] != (*keys)[1] {
		t.Errorf("idempotency keys %v", *keys)
	}
}

func ptr[T any](v T) *T { return &v }

func TestSendHTTPRequestBranches(t *testing.T) {
	t.Parallel()
	srv, _ := server(t)
	cases := map[string]struct {
		path, timeout string
		ports         []string
		private       bool
		want          string
		fault         string
	}{
		"expected":             {path: "/x", private: true, ports: []string{"unmatchedStatusCode"}, want: "200"},
		"unmatched":            {path: "/404", private: true, ports: []string{"unmatchedStatusCode"}, want: "unmatchedStatusCode"},
		"unmatched, no branch": {path: "/404", private: true},
		"timeout":              {path: "/slow", private: true, timeout: "20ms", ports: []string{"timeout", "failedToConnect"}, want: "timeout"},
		"timeout, no branch":   {path: "/slow", private: true, timeout: "20ms", fault: "no answer within 20ms"},
		"timeout of the body":  {path: "/trickle", private: true, timeout: "50ms", ports: []string{"timeout", "failedToConnect"}, want: "timeout"},
		"too large":            {path: "/big", private: true, fault: "larger than"},
		"too large unpacked":   {path: "/bomb", private: true, fault: "larger than"},
		"headers too large":    {path: "/headers", private: true, fault: "response headers exceeded"},
		"redirects for ever":   {path: "/round", private: true, fault: "more than 10 redirects"},
		"no connection":        {path: "", private: true, ports: []string{"failedToConnect"}, want: "failedToConnect"},
		"private":              {path: "/x", ports: []string{"failedToConnect"}, fault: "address is private"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := srv.URL + c.path
			if c.path == "" {
				url = "http://127.0.0.1:1/"
			}
			in := inputs{"url": lit(url)}
			if c.timeout != "" {
				in["timeout"] = lit(c.timeout)
			}
			a := act("SendHttpRequest", in)
			a.Cases = []workflow.Case{{Label: "201", Activity: line("201")}, {Label: "200", Activity: line("200")}}
			for _, p := range c.ports {
				port(a, p, line(p))
			}
			b := start(t, root(a), withHTTP(c.private))
			if c.fault != "" {
				b.wantStatus(workflow.Faulted)
				if len(b.header.Incidents) != 1 || !strings.Contains(b.header.Incidents[0].Message, c.fault) {
					t.Errorf("incidents %v", b.header.Incidents)
				}
				return
			}
			b.wantStatus(workflow.Finished)
			if got := strings.Join(b.lines, ""); got != c.want {
				t.Errorf("lines %q, want %q", got, c.want)
			}
		})
	}
}

// What an instance keeps of a request that was not answered says why, and nothing
// of the network that the node is in, nor a password.
func TestFailuresNameNoAddresses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		url  string
		flow bool
		all  bool
		want string
	}{
		"refused":             {url: "http://user:passw0rd@localhost:1/x?q=t0ken", all: true, want: "refused"},
		"refused, flowchart":  {url: "http://user:passw0rd@localhost:1/x?q=t0ken", flow: true, all: true, want: "refused"},
		"private":             {url: "http://user:passw0rd@localhost:1/x?q=t0ken", want: "--allow-private-addresses"},
		"private, flowchart":  {url: "http://user:passw0rd@localhost:1/x?q=t0ken", flow: true, want: "--allow-private-addresses"},
		"no such name":        {url: "http://user:passw0rd@weft.invalid/", all: true, want: "name"},
		"no name, flow chart": {url: "http://user:passw0rd@weft.invalid/", flow: true, all: true, want: "name"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := inputs{"url": lit(c.url)}
			var a *workflow.Activity
			if a = act("SendHttpRequest", in); c.flow {
				a = flow("send -> yes", named("send", act("FlowSendHttpRequest", in)), say("yes"))
			}
			var log bytes.Buffer
			b := start(t, root(a), withHTTP(c.all), withEnv(func(e *engine.Env) { e.Log = slog.New(slog.NewTextHandler(&log, nil)) })).wantStatus(workflow.Faulted)
			if said := log.String(); !strings.Contains(said, "request not answered") || strings.Contains(said, "passw0rd") || strings.Contains(said, "t0ken") {
				t.Errorf("the log says %q", said)
			}
			text := b.header.Incidents[0].Message
			for _, word := range []string{"127.0.0.1", "::1", "lookup", ":53", "passw0rd"} {
				if strings.Contains(text, word) {
					t.Errorf("%q is in %q", word, text)
				}
			}
			if !strings.Contains(text, c.want) || !strings.Contains(text, "@") {
				t.Errorf("%q does not say %q and where", text, c.want)
			}
		})
	}
}

func TestSendHTTPRequestRetries(t *testing.T) {
	t.Parallel()
	srv, keys := server(t)
	a := named("send", act("FlowSendHttpRequest", inputs{"url": lit(srv.URL + "/flaky"), "retries": lit("3"), "retryDelay": lit("1ms")}))
	b := start(t, root(a), withHTTP(true)).wantStatus(workflow.Finished)
	if got := b.outcomes("send"); !slices.Equal(got, []string{"200", "Done"}) {
		t.Errorf("outcomes %v", got)
	}
	if k := *keys; len(k) != 3 || k[0] != k[1] || k[1] != k[2] {
		t.Errorf("keys %v", k)
	}
}

func TestFlowSendHTTPRequestOutcomes(t *testing.T) {
	t.Parallel()
	srv, _ := server(t)
	for want, in := range map[string]inputs{
		"200":                   {"url": lit(srv.URL + "/x")},
		"404":                   {"url": lit(srv.URL + "/404"), "expectedStatusCodes": lit([]any{200, "404"})},
		"Unmatched status code": {"url": lit(srv.URL + "/404")},
		"Failed to connect":     {"url": lit("http://127.0.0.1:1/")},
		"Timeout":               {"url": lit(srv.URL + "/slow"), "timeout": lit("20ms")},
	} {
		f := flow("send."+want+" -> yes", named("send", act("FlowSendHttpRequest", in)), say("yes"))
		start(t, root(f), withHTTP(true)).wantStatus(workflow.Finished).wantLines("yes")
	}
	f := flow("send -> yes", named("send", act("FlowSendHttpRequest", inputs{"url": lit("http://127.0.0.1:1/")})), say("yes"))
	start(t, root(f), withHTTP(true)).wantStatus(workflow.Faulted)
}

func TestHTTPRequestProblems(t *testing.T) {
	t.Parallel()
	a := act("SendHttpRequest", inputs{"url": lit("ftp://x"), "method": lit("GE T"), "timeout": lit("soon"), "retries": lit("many")})
	a.Cases = []workflow.Case{{Label: "abc"}}
	p := compileProblems(t, root(seq(a, act("SendHttpRequest", nil))))
	wantProblem(t, p, "bad-literal", "http:// or https://")
	wantProblem(t, p, "bad-literal", `"GE T" is no HTTP method`)
	wantProblem(t, p, "bad-literal", `"soon" is not a duration`)
	wantProblem(t, p, "bad-literal", `"many" is not a whole number`)
	wantProblem(t, p, "bad-literal", `"abc" is not a number`)
	wantProblem(t, p, "missing-input", "url")
}

func TestAHardStopDropsTheBurst(t *testing.T) {
	t.Parallel()
	srv, _ := server(t)
	prog, problems := engine.Compile(&workflow.Definition{ID: "d", Root: act("SendHttpRequest", inputs{"url": lit(srv.URL + "/slow")})}, engine.Options{Registry: activities.Default()})
	if problems != nil {
		t.Fatal(problems)
	}
	cause := io.ErrClosedPipe
	ctx, cancel := context.WithCancelCause(t.Context())
	burst, _ := engine.New(prog, "i", &workflow.Start{}, t0, engine.Env{Now: nowT0, HTTP: outgoing.NewClient(true)})
	go cancel(cause)
	if _, err := burst.Run(ctx, workflow.Command{ID: "s", Kind: workflow.CommandStart}); !errors.Is(err, cause) {
		t.Errorf("error %v", err)
	}
}
