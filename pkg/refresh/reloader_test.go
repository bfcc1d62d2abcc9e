package refresh_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/refresh"
)

// tree writes files, and links given as "-> target".
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, isLink := strings.CutPrefix(content, "-> "); isLink {
			err = os.Symlink(target, path)
		} else {
			err = os.WriteFile(path, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestReloadReadsYAMLAndJSONSideBySide(t *testing.T) {
	b := newBundle(t)
	n := b.node("node-1")
	outside := tree(t, map[string]string{"secret.yaml": waiting("secret", "e")})
	dir := tree(t, map[string]string{
		"a.yaml":            waiting("a", "e"),
		"sub/deep/b.yml":    waiting("b", "e"),
		"sub/c.json":        `{"definitionId": "c", "root": {"type": "Elsa.WriteLine", "text": {"typeName": "String", "expression": {"type": "Literal", "value": "x"}}}}`,
		"README.md":         "# not a definition",
		"activities/a.yaml": "type: acme.Ship\n",
		".hidden/d.yaml":    waiting("d", "e"),
		".e.yaml":           waiting("e", "e"),
		"uses.yaml":         "id: uses\nroot:\n  - workflow: zchild\n",
		"zchild.yaml":       "id: zchild\noptions: {usableAsActivity: true}\nroot:\n  - writeLine: x\n",
		"a.test.yaml":       "cases: []\n",
		"bad.yaml":          "id: bad\nroot:\n  - writeLin: x\n  - noSuchThing: {}\n",
		"twice.yaml":        waiting("a", "other"),
		"data/f.yaml":       waiting("f", "e"),
		"link.yaml":         "-> data/f2.yaml",
		"data/f2.yaml.real": "",
		"out.yaml":          "-> " + filepath.Join(outside, "secret.yaml"),
		"outdir":            "-> " + outside,
		"dots.yaml":         "-> ../../../../../../etc/passwd",
		"directory.yaml/x":  "",
	})
	if err := os.WriteFile(filepath.Join(dir, "data", "f2.yaml"), []byte(waiting("f2", "e")), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := n.reloader(dir).Reload(t.Context())
	if err != nil || r.Status != refresh.Completed {
		t.Fatalf("%+v, %v", r, err)
	}
	if want := []string{"a", "b", "c", "f", "f2", "uses", "zchild"}; !slices.Equal(r.Refreshed, want) {
		t.Errorf("read %v, want %v", r.Refreshed, want)
	}
	reasons := map[string]string{}
	for _, not := range r.NotRefreshed {
		reasons[not.ID] = not.Reason
	}
	for name, parts := range map[string][]string{
		"bad.yaml":   {"bad.yaml", "line 3", "line 4", "writeLin", "noSuchThing", "^"},
		"twice.yaml": {"a.yaml"},
		"out.yaml":   {"escapes"},
		"dots.yaml":  {"escapes"},
		"pipe.yaml":  {"regular"},
		// The link's target is there twice now: by its own name and by the link's.
		"link.yaml": {"data/f2.yaml"},
	} {
		for _, part := range parts {
			if !strings.Contains(reasons[name], part) {
				t.Errorf("%s: %q does not say %q", name, reasons[name], part)
			}
		}
		delete(reasons, name)
	}
	if len(reasons) != 0 {
		t.Errorf("more that was not read: %v", reasons)
	}
	if _, err := n.catalog.Head(t.Context(), "secret"); err == nil {
		t.Error("a link led outside")
	}
}

func TestThreeNodesThatReloadAtOnceMakeOneVersion(t *testing.T) {
	b := newBundle(t)
	dir := tree(t, map[string]string{"a.yaml": waiting("a", "e"), "b.yaml": waiting("b", "e")})
	nodes := b.nodes(3)
	for range 3 {
		var all sync.WaitGroup
		for _, n := range nodes {
			all.Go(func() {
				if r, err := n.reloader(dir).Reload(t.Context()); err != nil || len(r.Refreshed) != 2 {
					t.Errorf("%+v, %v", r, err)
				}
			})
		}
		all.Wait()
	}
	for _, id := range []string{"a", "b"} {
		if h, err := nodes[0].catalog.Confirm(t.Context(), id); err != nil || h.Latest != 1 || h.Published != 1 {
			t.Errorf("%+v, %v", h, err)
		}
	}
}

// stuck is a reloader that waits inside.
type stuck struct{ entered, goOn chan struct{} }

// Reload implements [refresh.Reloader].
func (s stuck) Reload(context.Context) (refresh.Result, error) {
	close(s.entered)
	<-s.goOn
	return refresh.Result{Status: refresh.Completed}, nil
}

func TestOneNodeReloadsAtATime(t *testing.T) {
	b := newBundle(t)
	nodes := b.nodes(2)
	s := stuck{make(chan struct{}), make(chan struct{})}
	distributed := func(n *node, inner refresh.Reloader) refresh.Reloader {
		return &refresh.DistributedReloader{Inner: inner, Locks: n.session.Locks(), Log: n.log, Metrics: n.metrics}
	}
	first := make(chan refresh.Result, 1)
	go func() {
		r, err := distributed(nodes[0], s).Reload(t.Context())
		if err != nil {
			t.Error(err)
		}
		first <- r
	}()
	<-s.entered
	second := distributed(nodes[1], nodes[1].reloader(t.TempDir()))
	if r, err := second.Reload(t.Context()); err != nil || r.Status != refresh.AlreadyInProgress || r.Holder != "node-1" {
		t.Errorf("%+v, %v", r, err)
	}
	// A refresh is something else.
	if r, err := nodes[1].refresher(nodes[1].local()).Refresh(t.Context(), nil); err != nil || r.Status != refresh.Completed {
		t.Errorf("%+v, %v", r, err)
	}
	close(s.goOn)
	if r := <-first; r.Status != refresh.Completed {
		t.Errorf("%+v", r)
	}
	if r, err := second.Reload(t.Context()); err != nil || r.Status != refresh.Completed {
		t.Errorf("%+v, %v", r, err)
	}
	if n := nodes[1].counted(metrics.TargetReload, metrics.RefreshAlreadyInProgress); n != 1 {
		t.Errorf("%d refusals were counted", n)
	}
}

func TestADirectoryThatIsNotThere(t *testing.T) {
	b := newBundle(t)
	n := b.node("node-1")
	if _, err := n.reloader(filepath.Join(t.TempDir(), "no")).Reload(t.Context()); err == nil {
		t.Error("no error")
	}
	if r, err := n.reloader("").Reload(t.Context()); err != nil || r.Status != refresh.Completed {
		t.Errorf("none: %+v, %v", r, err)
	}
}

func TestTheExamplesLoad(t *testing.T) {
	b := newBundle(t)
	n := b.node("node-1")
	r, err := n.reloader(filepath.Join("..", "..", "examples")).Reload(t.Context())
	if err != nil || len(r.Refreshed) == 0 || len(r.NotRefreshed) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}
