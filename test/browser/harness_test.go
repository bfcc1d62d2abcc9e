package browser

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

const root = "../.."

// patience is for a browser on a busy machine.
const patience = 60 * time.Second

// program builds weft once.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "weft-browser-")
	if err != nil {
		return "", err
	}
	to := filepath.Join(dir, "weft")
	build := exec.Command("go", "build", "-o", to, "./cmd/weft")
	build.Dir = root
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build weft: %w\n%s", err, out)
	}
	return to, nil
})

// node is a process.
type node struct {
	addr, etcd string
	cmd        *exec.Cmd
}

func (n *node) kill() {
	_ = n.cmd.Process.Kill()
	_ = n.cmd.Wait()
}

// start runs a node until the test ends; etcd "" is one of its own.
func start(t *testing.T, etcd string, args ...string) *node {
	t.Helper()
	weft, err := program()
	if err != nil {
		t.Fatal(err)
	}
	args = append([]string{"--http-addr", "127.0.0.1:0", "--data-dir", t.TempDir(), "--log-format", "json", "--session-ttl", "5s"}, args...)
	if etcd != "" {
		args = append(args, "--etcd-endpoints", etcd)
	}
	n := &node{etcd: etcd, cmd: exec.Command(weft, args...)}
	stderr, err := n.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := n.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.kill)
	ready := make(chan struct{})
	go func() {
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			var entry struct{ Msg, HTTPAddr, ClientAddr string }
			if json.Unmarshal(lines.Bytes(), &entry) != nil {
				continue
			}
			switch entry.Msg {
			case "embedded etcd started":
				n.etcd = entry.ClientAddr
			case "ready":
				n.addr = entry.HTTPAddr
				close(ready)
			}
		}
	}()
	select {
	case <-ready:
	case <-time.After(patience):
		t.Fatal("the node is not ready")
	}
	return n
}

// front is a load balancer over nodes: it asks the first one that answers.
type front struct {
	url   string
	nodes []*node
	last  atomic.Int32 // which node served the last stream
}

func balance(t *testing.T, nodes ...*node) *front {
	t.Helper()
	f := &front{nodes: nodes}
	srv := &http.Server{ReadHeaderTimeout: time.Minute}
	proxies := make([]*httputil.ReverseProxy, len(nodes))
	for i, n := range nodes {
		to := &url.URL{Scheme: "http", Host: n.addr}
		proxies[i] = &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = r.In.Host
		}, ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusBadGateway)
		}}
	}
	srv.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for i, n := range nodes {
			ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
			probe, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+n.addr+"/readyz", nil)
			resp, err := http.DefaultClient.Do(probe)
			cancel()
			if err != nil {
				continue
			}
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				if strings.HasSuffix(r.URL.Path, "/stream") {
					f.last.Store(int32(i))
				}
				proxies[i].ServeHTTP(w, r)
				return
			}
		}
		http.Error(w, "no node", http.StatusServiceUnavailable)
	})
	l := listen(t)
	f.url = "http://" + strings.Replace(l.Addr().String(), "127.0.0.1", "localhost", 1)
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close() })
	return f
}

// call asks the API of a node.
func call(t *testing.T, method, address, key, body string) (answer map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= 300 {
		t.Fatalf("%s %s: %s %s %v", method, address, resp.Status, raw, err)
	}
	_ = json.Unmarshal(raw, &answer) // some answers have none
	return answer
}

// tab is a page of a browser. It notes what a page must not do.
type tab struct {
	t    *testing.T
	ctx  context.Context
	base string

	mu    sync.Mutex
	wrong []string
}

// browse opens a tab; base is the only address that a page may ask.
func browse(t *testing.T, base string) *tab {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		if os.Getenv("WEFT_REQUIRE_TOOLS") != "" {
			t.Fatal("there is no chromium")
		}
		t.Skip("there is no chromium")
	}
	alloc, cancel := chromedp.NewExecAllocator(t.Context(), chromedp.ExecPath(path), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.NoFirstRun, chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-dev-shm-usage", true))
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(alloc)
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx, base: base}
	if err := chromedp.Listen(ctx, b.heard); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.EmulateViewport(1280, 900))
	return b
}

// heard notes foreign requests, errors of scripts, and reports of the content policy.
func (b *tab) heard(ev any) {
	note := ""
	switch ev := ev.(type) {
	case *network.EventRequestWillBeSent:
		if at := ev.Request.URL; !strings.HasPrefix(at, b.base) && !strings.HasPrefix(at, "data:") && !strings.HasPrefix(at, "about:") {
			note = "asks " + at
		}
	case *runtime.EventExceptionThrown:
		note = "throws " + ev.ExceptionDetails.Text
	case *log.EventEntryAdded:
		// What a refused form, a gone page or a killed node answers is in the log too, and that a
		// page whose text was edited is left by a test, which no person has touched.
		if ev.Entry.Level == "error" && ev.Entry.Source != "network" && !strings.HasPrefix(ev.Entry.Text, "Blocked attempt to show a 'beforeunload'") {
			note = "says " + ev.Entry.Text
		}
	}
	if note != "" {
		b.mu.Lock()
		b.wrong = append(b.wrong, note)
		b.mu.Unlock()
	}
}

// clean fails if a page did what it must not.
func (b *tab) clean() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, w := range b.wrong {
		b.t.Errorf("a page %s", w)
	}
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		text, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string]("location.href + '\\n' + document.body.innerText"))
		b.t.Fatalf("%v\n%s", err, text)
	}
}

func (b *tab) open(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.base + path))
}

// eval runs an expression in the page.
func eval[T any](b *tab, js string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", js, err)
	}
	return v
}

// until waits for what a person would see; a page that loads just then is asked again.
func (b *tab) until(what, js string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	for {
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("Promise.resolve("+js+").then(Boolean)", chromedp.EvalAwaitPromise))
		if ok && err == nil {
			return
		}
		select {
		case <-ctx.Done():
			text, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string]("location.href + '\\n' + document.body.innerText"))
			b.t.Fatalf("%s: not seen\n%s", what, text)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// says waits for a text on the page.
func (b *tab) says(text string) {
	b.t.Helper()
	b.until(fmt.Sprintf("%q", text), fmt.Sprintf("document.querySelector('main')?.innerText.includes(%q)", text))
}
