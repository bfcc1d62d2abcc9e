package layers

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// loneInterfaces have fewer than two implementations in the product, each for a
// reason. An interface for the sake of a test, or of a second implementation that
// may come, costs every reader a jump.
var loneInterfaces = map[string]string{
	"pkg/client.Definitions":       "an instance knows no catalog: that is above it, and asks it back",
	"pkg/node.Pages":               "the machine does not import what people see: it knows only what a node asks of it",
	"pkg/node.Wings":               "the machine does not import what stands beside it: it knows only what a node takes of it",
	"pkg/engine.Admitter":          "it is one of the sides that an activity may have, beside engine.Resumer; of the built-in ones only the retry policy has it",
	"pkg/engine.Typed":             "it is one of the sides that an evaluator may have, beside engine.Checker; of the languages only C# means other things by other types",
	"pkg/runtime/people.Bookmarks": "what all tasks have in common stands above people, in pkg/runtime, which gives it to them",
	"pkg/workflowtest.TB":          "it is testing.TB without the method that nobody else may have, so that a test's own type fits",
}

func TestInterfacesHaveTwoImplementations(t *testing.T) {
	t.Parallel()
	p, err := ofProduct()
	if err != nil {
		t.Fatal(err)
	}
	counts := implementations(p, module, product)
	if len(counts) == 0 {
		t.Fatal("no interfaces found")
	}
	for _, p := range lone(counts, loneInterfaces) {
		t.Error(p)
	}
}

// lone says which interfaces have fewer than two implementations and no reason,
// and which reasons are needed no more.
func lone(counts map[string]int, reasons map[string]string) []string {
	var problems []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if counts[name] < 2 && reasons[name] == "" {
			problems = append(problems, fmt.Sprintf("the interface %s has %d implementations: use the type itself, or give the reason in internal/layers", name, counts[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(reasons)) {
		if n, ok := counts[name]; !ok || n >= 2 {
			problems = append(problems, fmt.Sprintf("the interface %s has %d implementations and needs no exception in internal/layers", name, n))
		}
	}
	return problems
}

// ofProduct has the types of the product; it is read once, for all tests.
var ofProduct = sync.OnceValues(func() (*checked, error) {
	p, err := list(filepath.Join("..", ".."), module)
	if err != nil {
		return nil, err
	}
	return p, p.all(module, product)
})

// implementations counts, for each interface of the wanted packages of a module,
// the types of these packages that have its methods.
func implementations(p *checked, module string, wanted func(pkg string) bool) map[string]int {
	interfaces := map[string]*types.Interface{}
	var all []types.Type
	for _, path := range slices.Sorted(maps.Keys(p.files)) {
		pkg := strings.TrimPrefix(path, module+"/")
		if !wanted(pkg) {
			continue
		}
		for _, object := range p.defined[path] {
			if face, ok := object.Type().Underlying().(*types.Interface); !ok {
				all = append(all, object.Type(), types.NewPointer(object.Type()))
			} else if face.NumMethods() > 0 && face.IsMethodSet() {
				interfaces[pkg+"."+object.Name()] = face
			}
		}
	}
	counts := map[string]int{}
	for name, face := range interfaces {
		counts[name] = 0
		for i := 0; i < len(all); i += 2 { // a type and its pointer
			if types.Implements(all[i], face) || types.Implements(all[i+1], face) {
				counts[name]++
			}
		}
	}
	return counts
}

// checked has the types of a module's packages, from their source: what a compiler
// keeps of a package is without most of what it does not export. Other packages
// are as the compiler keeps them.
type checked struct {
	fset    *token.FileSet
	files   map[string][]string // by package of the module
	done    map[string]*types.Package
	defined map[string][]*types.TypeName
	others  types.Importer

	generated map[string]bool // files
}

// all reads the wanted packages.
func (p *checked) all(module string, wanted func(pkg string) bool) error {
	for _, path := range slices.Sorted(maps.Keys(p.files)) {
		if !wanted(strings.TrimPrefix(path, module+"/")) {
			continue
		}
		if _, err := p.Import(path); err != nil {
			return err
		}
	}
	return nil
}

func list(root, module string) (*checked, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}\t{{range .GoFiles}}\t{{$.Dir}}/{{.}}{{end}}", "./...")
	cmd.Dir = root
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list packages: %w", err)
	}
	p := &checked{fset: token.NewFileSet(), files: map[string][]string{}, done: map[string]*types.Package{}, defined: map[string][]*types.TypeName{}, generated: map[string]bool{}}
	kept := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), "\t")
		export, files, _ := strings.Cut(rest, "\t")
		kept[name] = export
		if within(name, module) {
			p.files[name] = strings.Split(strings.TrimPrefix(files, "\t"), "\t")
		}
	}
	p.others = importer.ForCompiler(p.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(kept[path]) })
	return p, nil
}

// Import is for [types.Config].
func (p *checked) Import(path string) (*types.Package, error) {
	names, ours := p.files[path]
	if !ours {
		return p.others.Import(path)
	}
	if pkg := p.done[path]; pkg != nil {
		return pkg, nil
	}
	var files []*ast.File
	for _, name := range names {
		f, err := parser.ParseFile(p.fset, name, nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return nil, err
		}
		p.generated[name] = ast.IsGenerated(f)
		files = append(files, f)
	}
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}}
	pkg, err := (&types.Config{Importer: p}).Check(path, p.fset, files, info)
	if err != nil {
		return nil, err
	}
	p.done[path] = pkg
	for _, object := range info.Defs {
		name, ok := object.(*types.TypeName)
		if _, isParam := types.Unalias(typeOf(object)).(*types.TypeParam); ok && !name.IsAlias() && !isParam {
			p.defined[path] = append(p.defined[path], name)
		}
	}
	return pkg, nil
}

func typeOf(o types.Object) types.Type {
	if o == nil { // the name in a package clause
		return types.Typ[types.Invalid]
	}
	return o.Type()
}

// The check itself, on a module made up for it.
func TestImplementationsAreCounted(t *testing.T) {
	t.Parallel()
	p, err := list(tree(t, map[string]string{
		"go.mod": "module m\n\ngo 1.26\n",
		"pkg/a/a.go": "package a\n\nimport \"io\"\n\ntype None interface{ None() }\ntype Reader interface{ io.Reader; private() }\ntype Any interface{}\ntype Text interface{ ~string }\n" +
			"type Same = Reader\ntype first struct{}\nfunc (first) Read([]byte) (int, error) { return 0, nil }\nfunc (first) private() {}\n" +
			"type second[E any] struct{ first; e E }\ntype third struct{}\nfunc (third) Read() {}\nfunc (third) private() {}\n",
		"pkg/a/a_test.go": "package a\n\ntype fake struct{}\nfunc (fake) None() {}\n",
		"pkg/b/b.go":      "package b\n\nimport \"m/pkg/a\"\n\nfunc f() {\n\ttype Local interface{ a.None }\n\ttype pointer int\n}\n\ntype One int\nfunc (*One) None() {}\n",
		"test/c/c.go":     "package c\n\ntype Two int\nfunc (Two) None() {}\ntype Other interface{ None() }\n",
	}), "m")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.all("m", product); err != nil {
		t.Fatal(err)
	}
	counts := implementations(p, "m", product)
	if want := map[string]int{"pkg/a.None": 1, "pkg/a.Reader": 2, "pkg/b.Local": 1}; !maps.Equal(counts, want) {
		t.Errorf("got %v, want %v", counts, want)
	}
	got := lone(map[string]int{"a": 0, "b": 1, "c": 2, "d": 1, "e": 2}, map[string]string{"d": "why", "e": "why", "gone": "why"})
	want := []string{
		"the interface a has 0 implementations: use the type itself, or give the reason in internal/layers",
		"the interface b has 1 implementations: use the type itself, or give the reason in internal/layers",
		"the interface e has 2 implementations and needs no exception in internal/layers",
		"the interface gone has 0 implementations and needs no exception in internal/layers",
	}
	finds(t, got, want)
}
