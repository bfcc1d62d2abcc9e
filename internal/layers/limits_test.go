package layers

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The limits of size. What is larger is split by meaning, or has its reason in the
// table beside it. How long and how winding a function may be is in .golangci.yml.
const (
	maxMethods = 60   // of one type
	maxLines   = 2500 // of one package, without tests and generated files
)

// largeTypes have more than maxMethods methods, each for a reason.
var largeTypes = map[string]string{
	"pkg/engine.Execution":     "it is all that an activity may ask and do, in one place, as testing.T is for a test",
	"internal/edit.change":     "each step of an edit writes to its splices and to the tree that it means, and the two must agree",
	"internal/catalog.Catalog": "all that a node knows of definitions is one table, which each of its methods reads once, and so at one revision",
}

// largePackages have more than maxLines lines, each for a reason.
var largePackages = map[string]string{
	"pkg/console":              "a page is a view of what the API answers, a function that reads it and a template; the pages share how they ask and are shown, and there is no line between them that readers would know",
	"internal/catalog":         "every question about definitions is of one table of heads and one cache of versions, and every change of one starts from the same read",
	"internal/expression/js":   "one guard around one machine: each function that it bounds spends the budget of the same run",
	"internal/store/etcdstore": "its parts write each other's records, and share all formats, compares and limits: the package doc says more",
	"internal/httpapi":         "one table of routes serves, guards, counts and describes each call, and a handler is a few lines",
	"internal/upkeep":          "a worker for each thing that a node does by itself, which share only their loop",
	"pkg/activities":           "a file for each activity, which have nothing in common but the engine's contract",
	"pkg/client":               "the states of one owner, what it commits, and what decides whether it may run: places, deaths, quarantine",
	"pkg/cluster":              "session, members and locks are one lease, and end with its epoch",
	"pkg/engine":               "a node has an activity, which takes an execution, which is of a burst, which runs nodes: a knot by nature",
	"pkg/graph":                "one recursion measures and places every shape that the notation has, and each writer needs what it knows",
	"pkg/node":                 "it wires every part, and says of every setting what may be set",
	"pkg/runtime":              "the ways in to instances, one type each: they share the look, the answers of keys, and what a refusal is called",
	"internal/edit":            "the tree, the text and what each edit does to both, which must agree: what is written is held against what was meant",
	"pkg/workflow":             "the words that all packages have in common, and the one writer and the one reader of their values, which must agree",
	"pkg/workflow/elsajson":    "reader and writer of one notation, which must agree on each of its fields",
	"pkg/workflow/yaml":        "reader, writer and schema of one notation, which must agree on each of its keys",
	"pkg/workflowtest":         "test files, expectations and a run's clock are one language for those who write tests",
}

// product says whether a package is part of what users run or import, and not of
// tests or measurements.
func product(pkg string) bool {
	root, _, _ := strings.Cut(pkg, "/")
	return (root == "pkg" || root == "internal" || root == "cmd") && testHelpers[pkg] == "" && pkg != "internal/layers"
}

func TestNothingIsTooLarge(t *testing.T) {
	t.Parallel()
	methods, lines := sizes(readTree(t, filepath.Join("..", "..")))
	for _, p := range slices.Concat(
		tooLarge("methods", maxMethods, methods, largeTypes),
		tooLarge("lines", maxLines, lines, largePackages),
	) {
		t.Error(p)
	}
}

// sizes counts the methods of each type and the lines of each package of the
// product.
func sizes(packages map[string][]source) (methods, lines map[string]int) {
	methods, lines = map[string]int{}, map[string]int{}
	for pkg, sources := range packages {
		if !product(pkg) {
			continue
		}
		for _, src := range sources {
			if src.kind != code || src.generated {
				continue
			}
			lines[pkg] += src.lines
			for name, n := range src.methods {
				methods[pkg+"."+name] += n
			}
		}
	}
	return methods, lines
}

// tooLarge says what passes its limit without a reason, and which reasons are
// needed no more.
func tooLarge(what string, limit int, sizes map[string]int, reasons map[string]string) []string {
	var problems []string
	for _, name := range slices.SortedFunc(maps.Keys(sizes), func(a, b string) int {
		return cmp.Or(sizes[b]-sizes[a], strings.Compare(a, b))
	}) {
		if sizes[name] > limit && reasons[name] == "" {
			problems = append(problems, fmt.Sprintf("%s has %d %s, more than %d: split it by meaning, or give the reason in internal/layers", name, sizes[name], what, limit))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(reasons)) {
		if sizes[name] <= limit {
			problems = append(problems, fmt.Sprintf("%s has %d %s and needs no exception in internal/layers", name, sizes[name], what))
		}
	}
	return problems
}

// The check itself, on a tree made up for it.
func TestSizesAreMeasured(t *testing.T) {
	t.Parallel()
	methods, lines := sizes(readTree(t, tree(t, map[string]string{
		"pkg/client/a.go":        "package client\n\nfunc (t T) A() {}\nfunc (*T) b() {}\nfunc T2() {}\n",
		"pkg/client/b.go":        "package client\n\nfunc (l *List[E]) A() {}\nfunc (l List[_]) B() {}\nfunc (t (T)) C() {}\n",
		"pkg/client/made.go":     "// Code generated by hand. DO NOT EDIT.\n\npackage client\n\nfunc (t T) D() {}\n",
		"pkg/client/a_test.go":   "package client\n\nfunc (t T) D() {}\n",
		"pkg/node/doc.go":        "package node",
		"test/e2e/a.go":          "package e2e\n\nfunc (t T) A() {}\n",
		"internal/polltest/a.go": "package polltest\n\nfunc (t T) A() {}\n",
	})))
	if want := map[string]int{"pkg/client.T": 3, "pkg/client.List": 2}; !maps.Equal(methods, want) {
		t.Errorf("methods %v, want %v", methods, want)
	}
	if want := map[string]int{"pkg/client": 10, "pkg/node": 1}; !maps.Equal(lines, want) {
		t.Errorf("lines %v, want %v", lines, want)
	}
	got := tooLarge("lines", 10, map[string]int{"a": 10, "b": 11, "c": 12, "d": 13, "e": 9}, map[string]string{"c": "why", "e": "why", "gone": "why"})
	want := []string{
		"d has 13 lines, more than 10: split it by meaning, or give the reason in internal/layers",
		"b has 11 lines, more than 10: split it by meaning, or give the reason in internal/layers",
		"e has 9 lines and needs no exception in internal/layers",
		"gone has 0 lines and needs no exception in internal/layers",
	}
	finds(t, got, want)
}
