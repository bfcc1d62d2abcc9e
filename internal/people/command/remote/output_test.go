package remote_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weft-run/weft/internal/polltest"
)

// Every command that does something tells a program of it as JSON.
func TestWhatWasDoneAsJSON(t *testing.T) {
	t.Parallel()
	u := at(t)
	file := u.file("done.yaml", fmt.Sprintf(waiting, "done"))
	u.wants(0, "done 0 1 published\n", "apply", file, "--jq", `.items[] | "\(.id) \(.before) \(.version) \(.outcome)"`)
	u.wants(0, "*", "run", "done", "--id", "done-1", "-i", "n=1")
	u.wants(0, "instances/done-2\n", "run", "done", "--id", "done-2", "-o", "name")
	u.wants(0, "true\n", "instances", "export", "done-1", "--jq", ".sequence > 0")
	u.wants(0, "done-1 deleted\n", "instances", "delete", "done-1", "--yes", "--jq", `"\(.id) \(.outcome)"`)
	u.wants(0, "{\"accepted\":false,\"id\":\"done-2\",\"outcome\":\"deleted\"}\n", "instances", "delete", "done-2", "--yes", "-o", "jsonl")
	u.wants(0, "[] []\n", "dead-letters", "delete", "--reason", "too-large", "--yes", "--jq", `"\(.done) \(.refused)"`)
	u.wants(0, "here\n", "context", "set", "here", "--server", "http://127.0.0.1:1", "--jq", ".id")
	u.wants(0, "done\n", "definitions", "get", "done", "--jq", ".id // .definitionId")
	u.refuses(2, `-o is "table"; it must be one of yaml, json`, "definitions", "get", "done", "-o", "table")
	u.refuses(2, `-o is "json"; it must be one of text, svg, mermaid, dot`, "graph", file, "-o", "json")
	u.refuses(2, "they are the same", "graph", file, "-o", "svg", "--format", "dot")
	if svg := u.wants(0, "*", "graph", file, "-o", "svg"); !strings.HasPrefix(svg.out, "<svg") || svg.out != u.wants(0, "*", "graph", file, "--format", "svg").out {
		t.Errorf("as a picture: %.80s", svg.out)
	}
}

func TestMistakesAsJSON(t *testing.T) {
	t.Parallel()
	u := at(t)
	bad := u.file("flows/bad.yaml", "id: json-bad\nroot:\n  - writeLin: Hi\n")
	doubtful := u.file("flows/doubtful.yaml", "id: json-doubtful\nroot:\n  - executeWorkflow: {workflowDefinitionId: nobody-here}\n")
	for _, server := range [][]string{nil, {"--server", sharedServer(t)}} {
		got := u.wants(1, "*", append([]string{"validate", filepath.Dir(bad), "--jq", `.valid, (.items[] | "\(.file) \(.line):\(.column) \(.severity) \(.code)")`}, server...)...)
		if !strings.HasPrefix(got.out, "false\n"+bad+" 3:5 error unknown-activity-type\n") || got.err != "" {
			t.Errorf("%q: %s%s", server, got.out, got.err)
		}
	}
	u.wants(0, "true\n"+doubtful+" warning\n", "validate", doubtful, "--server", sharedServer(t), "--jq", `.valid, (.items[] | "\(.file) \(.severity)")`)
	// Where the answer has no place for them, warnings stand beside it.
	for _, args := range [][]string{{"apply", doubtful, "--dry-run", "-o", "json"}, {"diff", doubtful, "-o", "json"}} {
		if got := u.weft(args...); !strings.Contains(got.err, doubtful+":3:") || !strings.Contains(got.err, "warning: ") {
			t.Errorf("%q: %s%s", args, got.out, got.err)
		}
	}
	if got := u.wants(0, "true\n", "validate", doubtful, "--jq", ".valid"); got.err != "" {
		t.Errorf("validate as data, and beside it %s", got.err)
	}
	u.wants(0, "true []\n", "validate", u.file("fine.yaml", fmt.Sprintf(waiting, "json-fine")), "--jq", `"\(.valid) \(.items)"`)
	// A context that is named is asked as a server is.
	u.refuses(2, `there is no context "prod"`, "validate", doubtful, "--context", "prod")
}

func TestColumnsThatNothingHas(t *testing.T) {
	t.Parallel()
	got := at(t).wants(0, "-  node-1\n", "nodes", "list", "--columns", "nodeid,nodeId", "--no-headers")
	if !strings.Contains(got.err, `no row has "nodeid" (did you mean nodeId?); they have address, `) {
		t.Errorf("%q", got.err)
	}
	if got := at(t).wants(0, "*", "nodes", "list", "--columns", "nodeId,address"); got.err != "" {
		t.Errorf("%q", got.err)
	}
}

// shown is what a command has written up to now, for two goroutines.
type shown struct {
	mu sync.Mutex
	b  bytes.Buffer // guarded by mu
}

func (s *shown) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *shown) has(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(s.b.String(), text)
}

// What --watch shows is looked at when the stream tells of a change, and without one now and then; a time in which
// nobody answers does not end it.
func TestWatch(t *testing.T) {
	t.Parallel()
	for _, streams := range []bool{true, false} {
		t.Run(fmt.Sprintf("stream %v", streams), func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			row, away := "first", false // guarded by mu
			var refused atomic.Int64
			changed, topics := make(chan struct{}), make(chan string, 100)
			cluster := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/stream") {
					topics <- r.URL.Query().Get("topics")
					if !streams {
						http.NotFound(w, r)
						return
					}
					w.Header().Set("Content-Type", "text/event-stream")
					for {
						fmt.Fprint(w, "event: instances\ndata: {}\n\n")
						w.(http.Flusher).Flush()
						select {
						case <-changed:
						case <-r.Context().Done():
							return
						}
					}
				}
				mu.Lock()
				defer mu.Unlock()
				w.Header().Set("Content-Type", "application/json")
				if away {
					refused.Add(1)
					w.WriteHeader(http.StatusBadGateway)
					return
				}
				fmt.Fprintf(w, `{"items": [{"instanceId": %q, "definitionId": "d", "version": 1}]}`, row)
			}))
			t.Cleanup(cluster.Close)
			ctx, interrupt := context.WithCancel(t.Context())
			var out shown
			ended := make(chan said, 1)
			u := newUser(t)
			go func() {
				ended <- u.until(ctx, &out, &bytes.Buffer{}, "instances", "list", "def:d", "-w", "--server", cluster.URL)
			}()
			turn := func(to string) {
				mu.Lock()
				row, away = to, to == ""
				mu.Unlock()
				if streams {
					changed <- struct{}{}
				}
			}
			polltest.Eventually(t, "the first", func() bool { return out.has("first") })
			if got := <-topics; got != "instances:def:d" {
				t.Errorf("topics %q", got)
			}
			turn("second")
			polltest.Eventually(t, "the second", func() bool { return out.has("second") })
			turn("")
			polltest.Eventually(t, "all attempts of a look failed", func() bool { return refused.Load() >= 4 })
			turn("third")
			polltest.Eventually(t, "the third", func() bool { return out.has("third") })
			interrupt()
			if got := <-ended; got.code != 0 {
				t.Errorf("%d: %s", got.code, got.err)
			}
		})
	}
	u := at(t)
	u.refuses(2, "weft apply is done once: --watch is for what is only shown", "apply", "x.yaml", "--watch")
	u.refuses(2, "weft instances cancel is done once", "instances", "cancel", "x", "-w")
	u.refuses(3, "instance-not-found", "instances", "describe", "nobody-watches", "-w")
}

// A file is replaced whole, where it lies, with the mode that it had.
func TestFilesAreWrittenWhole(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	flow := u.file("w.yaml", fmt.Sprintf(waiting, "whole"))
	there := u.file("there.txt", "old")
	if err := os.Chmod(there, 0o644); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(u.home, "link.txt")
	if err := os.Symlink(there, link); err != nil {
		t.Fatal(err)
	}
	u.wants(0, "", "graph", flow, "--out", link)
	got, err := os.ReadFile(there)
	info, _ := os.Stat(there)
	if linked, lerr := os.Readlink(link); err != nil || !strings.HasPrefix(string(got), "whole\n") || info.Mode().Perm() != 0o644 || lerr != nil || linked != there {
		t.Errorf("%q, %v, %v, %v", got, err, info.Mode(), lerr)
	}
	fresh := filepath.Join(u.home, "fresh.txt")
	u.wants(0, "", "graph", flow, "--out", fresh)
	if info, err := os.Stat(fresh); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	u.refuses(2, "no such file", "graph", flow, "--out", filepath.Join(u.home, "nowhere", "x"))
}
