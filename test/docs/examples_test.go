package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

var promised = regexp.MustCompile("`(pkg/[a-z/]+)`")

// promising is the page that says which packages have a Go API.
const promising = "docs/architecture.md"

// What may be relied on is shown: each package of the Go API has an example whose output
// is checked.
func TestEachPromiseHasAnExample(t *testing.T) {
	t.Parallel()
	tree := os.DirFS(root)
	packages := goAPI(read(t, tree, promising))
	if len(packages) < 3 {
		t.Fatalf("%s promises only %q", promising, packages)
	}
	for _, pkg := range packages {
		if !hasExample(t, tree, pkg) {
			t.Errorf("%s promises %s, and its example_test.go has no example with an output", promising, pkg)
		}
	}
}

// goAPI are the packages in the row of the page that promises the Go API.
func goAPI(page string) []string {
	var packages []string
	for line := range strings.Lines(page) {
		names, promise, ok := strings.Cut(strings.TrimPrefix(line, "|"), "|")
		if !ok || !strings.Contains(promise, "**The Go API**") {
			continue
		}
		for _, m := range promised.FindAllStringSubmatch(names, -1) {
			packages = append(packages, m[1])
		}
	}
	return packages
}

func hasExample(t *testing.T, tree fs.FS, pkg string) bool {
	t.Helper()
	name := path.Join(pkg, "example_test.go")
	if _, err := fs.Stat(tree, name); err != nil {
		return false
	}
	f, err := parser.ParseFile(token.NewFileSet(), name, read(t, tree, name), parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, decl := range f.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && strings.HasPrefix(fn.Name.Name, "Example") && shown(f, fn) {
			return true
		}
	}
	return false
}

// shown reports whether an example has an output, without which it is not run.
func shown(f *ast.File, fn *ast.FuncDecl) bool {
	for _, c := range f.Comments {
		text := strings.ToLower(c.Text())
		if c.Pos() > fn.Body.Pos() && c.End() < fn.Body.End() && (strings.HasPrefix(text, "output:") || strings.HasPrefix(text, "unordered output:")) {
			return true
		}
	}
	return false
}

// The check itself, on a tree made up for it.
func TestExamplesAreFound(t *testing.T) {
	t.Parallel()
	tree := fstest.MapFS{
		"pkg/a/example_test.go": {Data: []byte("package a\n\nfunc ExampleT() {\n\t// Output: 1\n}\n")},
		"pkg/b/example_test.go": {Data: []byte("package b\n\n// Output: 1\nfunc Example() {\n\t// Nothing is run.\n}\n")},
		"pkg/c/c_test.go":       {Data: []byte("package c\n")},
	}
	for pkg, want := range map[string]bool{"pkg/a": true, "pkg/b": false, "pkg/c": false} {
		if got := hasExample(t, tree, pkg); got != want {
			t.Errorf("%s: %t", pkg, got)
		}
	}
	got := goAPI("| `pkg/a`, `pkg/b/c` | **The Go API**: `pkg/no` |\n| `pkg/d` | **Their place** |\n")
	if len(got) != 2 || got[0] != "pkg/a" || got[1] != "pkg/b/c" {
		t.Errorf("got %q", got)
	}
}
