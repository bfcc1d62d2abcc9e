package docs

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	otel "go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"github.com/weft-run/weft/internal/nodetest"
	"github.com/weft-run/weft/pkg/node"
)

var updateWalks = flag.Bool("walks", false, "write docs/walks.md again")

// TestWalks records through which functions a start and an event come to etcd, and holds
// docs/walks.md to it: a change that adds a room shows in the page.
func TestWalks(t *testing.T) {
	t.Parallel()
	w := &walk{}
	n := nodetest.Start(t, node.Config{Traces: sdk.NewTracerProvider(sdk.WithSpanProcessor(w)), GroupCommit: node.GroupCommitOff})
	call := func(method, path, contentType, body string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, method, nodetest.Address(n)+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", contentType)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		said, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode >= 300 {
			t.Fatalf("%s %s: %s %s, %v", method, path, resp.Status, said, err)
		}
		return string(said)
	}
	call("POST", "/api/v1/definitions", "application/yaml", "id: order\nroot:\n  - writeLine: taken\n  - event: paid\n  - writeLine: sent\n")
	call("POST", "/api/v1/definitions/order/execute", "application/json", `{"correlationId": "41"}`) // the first one compiles
	start := w.of("POST /api/v1/definitions/{id}/execute", func() {
		call("POST", "/api/v1/definitions/order/execute", "application/json", `{"correlationId": "42"}`)
	})
	event := w.of("POST /api/v1/events/{name}", func() { call("POST", "/api/v1/events/paid", "application/json", `{"correlationId": "42"}`) })

	var page strings.Builder
	page.WriteString(`# Walks

Through which functions a start and an event come to etcd, one after the other, on the node that has the instance. The functions
are those on the stack as the request to etcd is made, of each goroutine its own; what has returned before is not on it. What it means is told in
[life-of-an-event.md](life-of-an-event.md), and where a package stands in [packages.md](packages.md).
A test records this page: ` + "`go test ./test/docs -run TestWalks -walks`" + ` writes it again.
`)
	for _, one := range []struct{ title, text string }{{"A start", start}, {"An event for an instance that waits", event}} {
		fmt.Fprintf(&page, "\n## %s\n\n%s", one.title, one.text)
	}
	file := filepath.Join("..", "..", "docs", "walks.md")
	if *updateWalks {
		if err := os.WriteFile(file, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	has, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(has) != page.String() {
		t.Errorf("docs/walks.md is not what was walked (go test ./test/docs -run TestWalks -walks writes it again):\n%s", page.String())
	}
}

// walk notes the stacks of the requests to etcd of one trace.
type walk struct {
	mu       sync.Mutex
	requests []string // guarded by mu
}

// of gives what do walks.
func (w *walk) of(route string, do func()) string {
	w.mu.Lock()
	w.requests = nil
	w.mu.Unlock()
	do()
	w.mu.Lock()
	defer w.mu.Unlock()
	return fmt.Sprintf("`%s`, requests to etcd: %d.\n\n%s", route, len(w.requests), strings.Join(w.requests, "\n"))
}

// OnStart runs on the goroutine that begins the span.
func (w *walk) OnStart(_ context.Context, s sdk.ReadWriteSpan) {
	if !strings.HasPrefix(s.Name(), "etcd ") {
		return
	}
	operations := ""
	for _, a := range s.Attributes() {
		if a.Key == otel.Key("db.operation.batch.size") {
			operations = fmt.Sprintf(" of %d operations", a.Value.AsInt64())
		}
	}
	here := stack()
	if waits := caller(); waits != "" {
		here = waits + "\n   which waits for another goroutine, and that is in\n" + here
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests = append(w.requests, fmt.Sprintf("%d. `%s`%s\n%s", len(w.requests)+1, strings.TrimPrefix(s.Name(), "etcd "), operations, here))
}

func (w *walk) OnEnd(sdk.ReadOnlySpan)           {}
func (w *walk) Shutdown(context.Context) error   { return nil }
func (w *walk) ForceFlush(context.Context) error { return nil }

const product = "github.com/weft-run/weft/"

// stack is the functions of the product that this goroutine is in.
func stack() string {
	pcs := make([]uintptr, 200)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
	var names []string
	for {
		f, more := frames.Next()
		names = append(names, f.Function)
		if !more {
			return rooms(names)
		}
	}
}

// caller is the functions in which the goroutine of the HTTP request waits for another one; "" if it is this one.
func caller() string {
	const serves = product + "internal/httpapi/serve.(*API).ServeHTTP("
	all := make([]byte, 8<<20)
	for {
		for i, g := range strings.Split(string(all[:runtime.Stack(all, true)]), "\n\n") {
			if !strings.Contains(g, serves) {
				continue
			}
			head, calls, _ := strings.Cut(g, "\n")
			switch {
			case i == 0: // this one is the first
				return ""
			case strings.Contains(head, "[select") || strings.Contains(head, "[chan receive"):
				var names []string
				for line := range strings.Lines(calls) {
					if at := strings.LastIndexByte(line, '('); at > 0 && line[0] != '\t' {
						names = append(names, line[:at])
					}
				}
				return rooms(names)
			}
		}
		runtime.Gosched() // it is on its way to where it waits
	}
}

// rooms are the functions of the product, the outermost first, a line for each package. names has the innermost first.
func rooms(names []string) string {
	var lines []string
	last := ""
	for _, name := range slices.Backward(names) {
		name, ours := strings.CutPrefix(name, product)
		if !ours || strings.HasPrefix(name, "internal/tracing.") || strings.HasPrefix(name, "test/") {
			continue
		}
		at := strings.LastIndex(name, "/") + 1
		at += strings.IndexByte(name[at:], '.')
		pkg, name := name[:at], named(name[at+1:])
		if pkg != last {
			lines = append(lines, fmt.Sprintf("   - %s: `%s`", pkg, name))
		} else if !strings.HasSuffix(lines[len(lines)-1], "`"+name+"`") {
			lines[len(lines)-1] += ", `" + name + "`"
		}
		last = pkg
	}
	return strings.Join(lines, "\n") + "\n"
}

// named is a function's name without pointers, type arguments and closures: of a closure, that of the function that it is in.
func named(name string) string {
	name, _, _ = strings.Cut(name, "[")
	name = strings.NewReplacer("(*", "", ")", "").Replace(name)
	name = strings.TrimSuffix(name, "-fm")
	parts := strings.Split(name, ".")
	for i, p := range parts {
		if strings.HasPrefix(p, "func") && len(p) > 4 && p[4] >= '0' && p[4] <= '9' || strings.HasPrefix(p, "gowrap") {
			return strings.Join(parts[:i], ".")
		}
	}
	return name
}
