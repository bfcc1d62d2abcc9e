package node_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/node"
)

// A node that was made without wings says so to who wants the console, and is a node otherwise.
func TestANodeWithoutWingsHasNoConsole(t *testing.T) {
	t.Parallel()
	if _, err := node.New(t.Context(), node.Config{HTTPAddr: "127.0.0.1:0", DataDir: t.TempDir(), Console: node.ConsoleOn}); err == nil || !strings.Contains(err.Error(), "pkg/node/full") {
		t.Fatalf("a console without pages: %v", err)
	}
	n, err := node.New(t.Context(), node.Config{HTTPAddr: "127.0.0.1:0", DataDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{"/console/": http.StatusNotFound, "/api/v1/definitions": http.StatusOK} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, n.URL()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s: %s", path, res.Status)
		}
	}
}
