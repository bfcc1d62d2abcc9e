package layers

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// kind says what a file is to its package.
type kind int

const (
	code         kind = iota
	insideTest        // _test.go, package x
	externalTest      // _test.go, package x_test
)

// source is what the rules need to know of one file.
type source struct {
	name    string // relative to the root, with slashes
	kind    kind
	doc     string // of the package
	imports []reference
	// declares holds the calls that make a collector.
	declares []reference

	generated bool
	lines     int
}

// reference is something named at a line.
type reference struct {
	name string
	line int
}

func TestPackagesKeepTheirFloors(t *testing.T) {
	t.Parallel()
	packages := readTree(t, filepath.Join("..", ".."))
	for _, p := range check(packages) {
		t.Error(p)
	}
	for name := range table {
		if packages[name] == nil {
			t.Logf("%s does not exist yet", name)
		}
	}
}

// readTree parses every Go file of the module. It reads the files itself, and
// not through go list, so that the test cache notices a change in any of them,
// and so that no build tag hides an import.
func readTree(t *testing.T, root string) map[string][]source {
	t.Helper()
	packages := map[string][]source{}
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() {
			if file == root {
				return nil
			}
			if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "vendor" {
				return filepath.SkipDir
			}
			if _, err := os.Stat(filepath.Join(file, "go.mod")); err == nil {
				return filepath.SkipDir // another module, as tools is
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		src, err := parse(file, filepath.ToSlash(rel))
		if err != nil {
			return err
		}
		dir := path.Dir(src.name)
		packages[dir] = append(packages[dir], src)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) == 0 {
		t.Fatal("no packages found")
	}
	return packages
}

func parse(file, name string) (source, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return source{}, err
	}
	src := source{name: name, doc: f.Doc.Text(), generated: ast.IsGenerated(f), lines: fset.Position(f.FileEnd - 1).Line}
	if strings.HasSuffix(name, "_test.go") {
		src.kind = insideTest
		if strings.HasSuffix(f.Name.Name, "_test") {
			src.kind = externalTest
		}
	}
	prometheus := ""
	for _, spec := range f.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return source{}, err
		}
		src.imports = append(src.imports, reference{imported, fset.Position(spec.Pos()).Line})
		if imported == "github.com/prometheus/client_golang/prometheus" {
			prometheus = "prometheus"
			if spec.Name != nil {
				prometheus = spec.Name.Name
			}
		}
	}
	if prometheus != "" {
		ast.Inspect(f, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok || !collectors[sel.Sel.Name] {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == prometheus {
				src.declares = append(src.declares, reference{"prometheus." + sel.Sel.Name, fset.Position(sel.Pos()).Line})
			}
			return true
		})
	}
	return src, nil
}

// check returns what is against the rules, in a stable order.
func check(packages map[string][]source) []string {
	var problems []string
	report := func(format string, args ...any) {
		problems = append(problems, fmt.Sprintf(format, args...))
	}
	for pkg, sources := range packages {
		for _, element := range strings.Split(pkg, "/") {
			if emptyNames[element] {
				report("%s: the name %q says nothing; name the one job of the package", pkg, element)
			}
		}
		if _, ok := table[pkg]; !ok {
			report("%s is not in the table of internal/layers; give it a floor", pkg)
			continue
		}
		hasCode, hasDoc := false, false
		for _, src := range sources {
			if src.kind == code {
				hasCode = true
				hasDoc = hasDoc || src.doc != ""
			}
			for _, imported := range src.imports {
				if why := refuse(pkg, src.kind, imported.name); why != "" {
					report("%s:%d: %s must not import %s: %s", src.name, imported.line, pkg, imported.name, why)
				}
			}
			if src.kind == code && pkg != "pkg/metrics" {
				for _, d := range src.declares {
					report("%s:%d: %s declares a metric with %s: only pkg/metrics does", src.name, d.line, pkg, d.name)
				}
			}
		}
		if !hasCode && table[pkg].floor < top {
			report("%s has tests and no code: a test stands beside what it tests", pkg)
		}
		if hasCode && !hasDoc {
			report("%s has no package doc; write what it guarantees, what not, and who may call what", pkg)
		}
	}
	slices.Sort(problems)
	return problems
}

// refuse says why pkg must not import what it does, or nothing.
func refuse(pkg string, k kind, imported string) string {
	target, ours := strings.CutPrefix(imported, module+"/")
	if !ours {
		if k != code {
			return ""
		}
		for _, l := range libraries {
			if !within(imported, l.prefix) {
				continue
			}
			for _, owner := range l.owners {
				if within(pkg, owner) {
					return ""
				}
			}
			return l.why
		}
		return ""
	}
	for _, s := range strangers {
		if k == code && within(pkg, s.pkg) && within(target, s.apart) {
			return s.why
		}
	}
	from := table[pkg]
	to, ok := table[target]
	switch {
	case !ok:
		return "it is not in the table of internal/layers"
	case k == code && testHelpers[target] != "" && testHelpers[pkg] == "" && from.floor < top:
		return "it is for tests"
	case k == code && to.floor <= from.floor && meets(pkg, target):
		return "the machine does not know what stands beside it, nor authoring what people see: it is given at wiring, as pkg/node/full does"
	case pkg == target && k == externalTest:
		return ""
	case to.floor < from.floor:
		return ""
	case within(pkg, target), within(target, pkg):
		return ""
	case to.floor == from.floor && to.wing == from.wing && to.step < from.step:
		return ""
	case k != code && testHelpers[target] != "":
		return ""
	case k == externalTest && to.floor < 7:
		return ""
	case k == insideTest:
		return fmt.Sprintf("it is on floor %d, from floor %d, and a test inside a package is that package; an external test (package x_test) may", to.floor, from.floor)
	case to.floor == from.floor:
		return fmt.Sprintf("both are on floor %d, and siblings do not import each other", to.floor)
	default:
		return fmt.Sprintf("it is on floor %d, above floor %d", to.floor, from.floor)
	}
}

// part is what a package belongs to beside the machine; "": it is of the machine.
func part(pkg string) string {
	for name, parents := range beside {
		if slices.ContainsFunc(parents, func(parent string) bool { return within(pkg, parent) }) {
			return name
		}
	}
	return ""
}

// meets reports whether an import would make the machine know what stands beside it, or authoring what people see.
func meets(pkg, target string) bool {
	from, to := part(pkg), part(target)
	if joins[pkg] != "" || testHelpers[pkg] != "" || from == "" && table[pkg].floor == top {
		return false
	}
	return to != "" && (from == "" || from == "authoring" && to == "people")
}

// within says whether an import path is parent or below it.
func within(name, parent string) bool {
	return name == parent || strings.HasPrefix(name, parent+"/")
}
