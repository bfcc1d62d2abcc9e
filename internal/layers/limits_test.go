package layers

import (
	"cmp"
	"fmt"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The limits of size. What is larger is split by meaning; until it is, it stands in the table beside
// it with a number that may only fall. How long and how winding a function may be is in .golangci.yml.
const (
	maxMethods = 60   // of one type, as [methods] counts them
	maxLines   = 2500 // of one package, without tests and generated files
)

// target says how large something may be that is larger than its limit, and until when
// it is to be within it.
type target struct {
	most  int
	until string // a day
}

// fallen is by how much something is smaller than its target when the target has to follow.
const fallen = 0.85

// largeTypes have more than maxMethods methods.
var largeTypes = map[string]target{
	"internal/authoring/check.checker":              {65, "2026-12-31"},
	"internal/catalog.Catalog":                      {65, "2026-12-31"},
	"internal/expression/js.scriptRun":              {70, "2026-12-31"},
	"internal/people/command/ask.Asker":             {70, "2026-12-31"},
	"internal/store/etcdstore/fsck.fsck":            {65, "2026-12-31"},
	"internal/store/etcdstore/fsck.fsckGates":       {65, "2026-12-31"},
	"internal/store/etcdstore/fsck.fsckParts":       {65, "2026-12-31"},
	"internal/store/etcdstore/internal/record.Keys": {110, "2026-12-31"},
	"pkg/client.owner":                              {80, "2026-12-31"},
	"pkg/engine.Burst":                              {80, "2027-01-31"},
	"pkg/engine.Execution":                          {120, "2027-01-31"},
	"pkg/metrics.Metrics":                           {65, "2026-12-31"},
}

// largePackages have more than maxLines lines.
var largePackages = map[string]target{
	"pkg/client": {5200, "2026-12-31"},
	"pkg/engine": {9200, "2027-01-31"},
}

// product says whether a package is part of what users run or import, and not of
// tests or measurements.
func product(pkg string) bool {
	root, _, _ := strings.Cut(pkg, "/")
	return (root == "pkg" || root == "internal" || root == "cmd") && testHelpers[pkg] == "" && pkg != "internal/layers"
}

func TestNothingIsTooLarge(t *testing.T) {
	t.Parallel()
	for _, p := range tooLarge("lines", maxLines, sizes(readTree(t, filepath.Join("..", ".."))), largePackages) {
		t.Error(p)
	}
}

func TestNoTypeHasTooManyMethods(t *testing.T) {
	t.Parallel()
	p, err := ofProduct()
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range tooLarge("methods", maxMethods, methods(p, module, product), largeTypes) {
		t.Error(problem)
	}
}

// sizes counts the lines of each package of the product.
func sizes(packages map[string][]source) map[string]int {
	lines := map[string]int{}
	for pkg, sources := range packages {
		if !product(pkg) {
			continue
		}
		for _, src := range sources {
			if src.kind == code && !src.generated {
				lines[pkg] += src.lines
			}
		}
	}
	return lines
}

// methods counts what each type of the wanted packages can do: its methods, those that embedded types of the
// module give it, and the functions of its package whose first parameter it is, which are methods by
// another form. What is generated does not count.
func methods(p *checked, module string, wanted func(pkg string) bool) map[string]int {
	out := map[string]int{}
	for path, pkg := range p.done {
		name := strings.TrimPrefix(path, module+"/")
		if !wanted(name) {
			continue
		}
		written := func(o types.Object) bool {
			return o.Pkg() != nil && within(o.Pkg().Path(), module) && !p.generated[p.fset.Position(o.Pos()).Filename]
		}
		for _, object := range p.defined[path] {
			if types.IsInterface(object.Type()) {
				continue
			}
			set := types.NewMethodSet(types.NewPointer(object.Type()))
			for i := range set.Len() {
				if written(set.At(i).Obj()) {
					out[name+"."+object.Name()]++
				}
			}
		}
		for _, n := range pkg.Scope().Names() {
			f, ok := pkg.Scope().Lookup(n).(*types.Func)
			if !ok || f.Signature().Params().Len() == 0 || !written(f) {
				continue
			}
			first := f.Signature().Params().At(0).Type()
			if pointer, ok := types.Unalias(first).(*types.Pointer); ok {
				first = pointer.Elem()
			}
			if named, ok := types.Unalias(first).(*types.Named); ok && named.Obj().Pkg() == pkg && !types.IsInterface(named) {
				out[name+"."+named.Obj().Name()]++
			}
		}
	}
	return out
}

// tooLarge says what passes its limit or its target, and which targets are to be lowered, or needed no more.
func tooLarge(what string, limit int, sizes map[string]int, targets map[string]target) []string {
	var problems []string
	for _, name := range slices.SortedFunc(maps.Keys(sizes), func(a, b string) int {
		return cmp.Or(sizes[b]-sizes[a], strings.Compare(a, b))
	}) {
		n, most := sizes[name], targets[name].most
		switch {
		case n > limit && most == 0:
			problems = append(problems, fmt.Sprintf("%s has %d %s, more than %d: split it by meaning", name, n, what, limit))
		case n > limit && n > most:
			problems = append(problems, fmt.Sprintf("%s has %d %s, more than the %d of its target in internal/layers, which may only fall: split it by meaning", name, n, what, most))
		case n > limit && float64(n) < fallen*float64(most):
			problems = append(problems, fmt.Sprintf("%s has %d %s: lower its target in internal/layers, which is %d", name, n, what, most))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(targets)) {
		if sizes[name] <= limit {
			problems = append(problems, fmt.Sprintf("%s has %d %s and needs no target in internal/layers", name, sizes[name], what))
		}
		if _, err := time.Parse(time.DateOnly, targets[name].until); err != nil {
			problems = append(problems, fmt.Sprintf("%s is to be within its limit until no day: %v", name, err))
		}
	}
	return problems
}

// The check itself, on a tree made up for it.
func TestSizesAreMeasured(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{
		"go.mod":                 "module m\n\ngo 1.26\n",
		"pkg/client/a.go":        "package client\n\ntype T int\ntype Base struct{}\nfunc (b Base) In() {}\nfunc (t T) A() {}\nfunc (*T) b() {}\nfunc T2(t *T) {}\nfunc other(n int, t T) {}\n",
		"pkg/client/b.go":        "package client\n\nimport \"sync\"\n\ntype List[E any] struct{ *Base; sync.Mutex }\nfunc (l *List[E]) A() {}\nfunc (l List[_]) B() {}\n",
		"pkg/client/made.go":     "// Code generated by hand. DO NOT EDIT.\n\npackage client\n\nfunc (t T) D() {}\n",
		"pkg/client/a_test.go":   "package client\n\nfunc (t T) E() {}\n",
		"pkg/node/doc.go":        "package node",
		"test/e2e/a.go":          "package e2e\n\ntype T int\nfunc (t T) A() {}\n",
		"internal/polltest/a.go": "package polltest\n\ntype T int\nfunc (t T) A() {}\n",
	})
	lines := sizes(readTree(t, root))
	if want := map[string]int{"pkg/client": 16, "pkg/node": 1}; !maps.Equal(lines, want) {
		t.Errorf("lines %v, want %v", lines, want)
	}
	p, err := list(root, "m")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.all("m", product); err != nil {
		t.Fatal(err)
	}
	if got, want := methods(p, "m", product), map[string]int{"pkg/client.T": 3, "pkg/client.Base": 1, "pkg/client.List": 3}; !maps.Equal(got, want) {
		t.Errorf("methods %v, want %v", got, want)
	}
	day := "2026-12-31"
	got := tooLarge("lines", 10, map[string]int{"a": 10, "b": 11, "c": 12, "d": 13, "e": 9, "f": 50, "g": 50},
		map[string]target{"c": {12, day}, "e": {12, day}, "f": {49, day}, "g": {60, day}, "gone": {12, "soon"}})
	want := []string{
		"f has 50 lines, more than the 49 of its target in internal/layers, which may only fall: split it by meaning",
		"g has 50 lines: lower its target in internal/layers, which is 60",
		"d has 13 lines, more than 10: split it by meaning",
		"b has 11 lines, more than 10: split it by meaning",
		"e has 9 lines and needs no target in internal/layers",
		"gone has 0 lines and needs no target in internal/layers",
		"gone is to be within its limit until no day: parsing time \"soon\" as \"2006-01-02\": cannot parse \"soon\" as \"2006\"",
	}
	finds(t, got, want)
}
