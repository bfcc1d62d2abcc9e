package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

const goroutinePage = "docs/goroutines.md"

// The page says of every goroutine who waits for it: each file that
// starts one is in its table, and each file in the table starts one.
func TestEveryGoroutineHasAnOwner(t *testing.T) {
	t.Parallel()
	tree := os.DirFS(root)
	_, section, found := strings.Cut(read(t, tree, goroutinePage), "\n## Goroutines")
	if !found {
		t.Fatalf("%s has no section about goroutines", goroutinePage)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	listed := map[string]bool{}
	for line := range strings.Lines(section) {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		for _, l := range linksOf(line) {
			listed[path.Join(path.Dir(goroutinePage), l.name)] = true
		}
	}
	started := starters(t, tree, "cmd", "pkg", "internal", "clients")
	if len(started) < 10 {
		t.Fatalf("only %d files start goroutines", len(started))
	}
	for _, file := range started {
		if !listed[file] {
			t.Errorf("%s starts a goroutine; say in %s who waits for it", file, goroutinePage)
		}
	}
	for _, file := range slices.Sorted(maps.Keys(listed)) {
		if !slices.Contains(started, file) {
			t.Errorf("%s says that %s starts a goroutine: it does not", goroutinePage, file)
		}
	}
}

// starters are the files of the product with a go statement, a call of a method
// Go, as groups have it, or a timer that calls a function. What helps tests only
// is no product.
func starters(t *testing.T, tree fs.FS, folders ...string) []string {
	t.Helper()
	var out []string
	for _, folder := range folders {
		err := fs.WalkDir(tree, folder, func(name string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && (entry.Name() == "testdata" || strings.HasSuffix(entry.Name(), "test") && entry.Name() != "workflowtest"):
				return fs.SkipDir
			case entry.IsDir(), !strings.HasSuffix(name, ".go"), strings.HasSuffix(name, "_test.go"):
				return nil
			}
			src, err := parser.ParseFile(token.NewFileSet(), name, read(t, tree, name), parser.SkipObjectResolution)
			if err == nil && startsOne(src) {
				out = append(out, name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func startsOne(src *ast.File) bool {
	found := false
	ast.Inspect(src, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = true
		case *ast.CallExpr:
			sel, ok := n.Fun.(*ast.SelectorExpr)
			if !ok {
				break
			}
			x, ok := sel.X.(*ast.Ident)
			found = found || sel.Sel.Name == "Go" || ok && x.Name == "time" && sel.Sel.Name == "AfterFunc"
		}
		return !found
	})
	return found
}

func TestGoroutinesAreFound(t *testing.T) {
	t.Parallel()
	code := func(body string) *fstest.MapFile { return file("package p\n\nfunc f() {\n" + body + "\n}\n") }
	got := starters(t, fstest.MapFS{
		"pkg/a/statement.go":      code("go f()"),
		"pkg/a/group.go":          code("s.loops.Go(func() {})"),
		"pkg/a/timer.go":          code("time.AfterFunc(1, f)"),
		"pkg/a/none.go":           code("context.AfterFunc(ctx, f); s.going()"),
		"pkg/a/some_test.go":      code("go f()"),
		"pkg/clustertest/etcd.go": code("go f()"),
	}, "pkg")
	if want := []string{"pkg/a/group.go", "pkg/a/statement.go", "pkg/a/timer.go"}; !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
}
