package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// The pages whose headings number the guarantees and the notes on etcd.
const (
	guaranteesPage = "docs/protocol.md"
	notesPage      = "docs/etcd-notes.md"
	mutants        = "test/mutants/"
)

var (
	guaranteeHead = regexp.MustCompile(`(?m)^### G(\d): `)
	noteHead      = regexp.MustCompile(`(?m)^### (\d+)\. `)
	decisionName  = regexp.MustCompile(`^docs/decisions/(\d+)-.*\.md$`)

	citedGuarantee = regexp.MustCompile(`\bG(\d)\b`)
	citedNotes     = regexp.MustCompile("(?:\\b[Ee]tcd |`)notes? (\\d+(?:(?:, | and )\\d+)*)|\\bTestNote(\\d\\d)_")
	citedDecision  = regexp.MustCompile(`\bdecisions/(\d+)`)
	citedTest      = regexp.MustCompile(`(func |-run )?\b((?:Test|Fuzz|Benchmark)[A-Z]\w*)(…?)`)
	citedFile      = regexp.MustCompile(`[\w./{}<>$*:…-]*\w\.(?:go|md)\b`)
	citedFolder    = regexp.MustCompile("(?:^|[\\s\"(`])((?:pkg|internal|cmd|test|bench|docs|deploy|examples|tools)/[\\w.-][\\w./-]*)")
	digits         = regexp.MustCompile(`\d+`)
)

// What comments and pages cite by number or name exists.
func TestNothingIsCitedThatDoesNotExist(t *testing.T) {
	t.Parallel()
	k, texts := readAll(t, os.DirFS(root))
	if len(k.guarantees) != 9 || len(k.notes) < 25 || len(k.tests) < 700 || len(texts) < 10_000 {
		t.Fatalf("found %d guarantees, %d notes, %d tests, %d lines", len(k.guarantees), len(k.notes), len(k.tests), len(texts))
	}
	for _, p := range k.missing(texts) {
		t.Error(p)
	}
}

// known is all that may be cited.
type known struct {
	guarantees, notes, decisions map[int]bool
	tests                        []string
	paths                        map[string]bool // of files and folders, and every end of them
}

// text is a line of a page or of a comment, or a string of the list of guards.
type text struct {
	file, line string
	guard      bool
	words      string
}

// readAll reads the tree once: what may be cited, and what may cite.
func readAll(t *testing.T, tree fs.FS) (*known, []text) {
	t.Helper()
	k := &known{
		guarantees: numbers(guaranteeHead, read(t, tree, guaranteesPage)),
		notes:      numbers(noteHead, read(t, tree, notesPage)),
		decisions:  map[int]bool{}, paths: map[string]bool{},
	}
	var texts []text
	err := fs.WalkDir(tree, ".", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case file == ".git" && entry.IsDir():
			return fs.SkipDir
		case file == ".git":
			return nil // of a worktree
		}
		for end := file; ; {
			k.paths[end] = true
			_, after, more := strings.Cut(end, "/")
			if !more {
				break
			}
			end = after
		}
		if m := decisionName.FindStringSubmatch(file); m != nil {
			n, _ := strconv.Atoi(m[1])
			k.decisions[n] = true
		}
		switch {
		case entry.IsDir(), slices.Contains(strings.Split(file, "/"), "testdata"):
		case strings.HasSuffix(file, ".go"):
			found, tests, err := readGo(file, read(t, tree, file))
			texts, k.tests = append(texts, found...), append(k.tests, tests...)
			return err
		case slices.Contains([]string{".md", ".yml", ".yaml", ".sh"}, path.Ext(file)), file == "Makefile", file == ".ci/run":
			for i, line := range strings.Split(read(t, tree, file), "\n") {
				texts = append(texts, text{file: file, line: strconv.Itoa(i + 1), words: line})
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return k, texts
}

// readGo gives the comments of a Go file, of a list of guards also the strings
// that name notes and tests, and the tests that it declares.
func readGo(file, source string) (texts []text, tests []string, err error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, err
	}
	for _, group := range f.Comments {
		for _, c := range group.List {
			for i, line := range strings.Split(c.Text, "\n") {
				texts = append(texts, text{file: file, line: strconv.Itoa(fset.Position(c.Pos()).Line + i), words: line})
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if m := citedTest.FindString(n.Name.Name); m != "" && n.Recv == nil {
				tests = append(tests, n.Name.Name)
			}
		case *ast.BasicLit:
			if s, err := strconv.Unquote(n.Value); err == nil && strings.HasPrefix(file, mutants) {
				texts = append(texts, text{file: file, line: strconv.Itoa(fset.Position(n.Pos()).Line), guard: true, words: "`" + s})
			}
		}
		return true
	})
	return texts, tests, nil
}

func numbers(pattern *regexp.Regexp, s string) map[int]bool {
	out := map[int]bool{}
	for _, m := range pattern.FindAllStringSubmatch(s, -1) {
		n, _ := strconv.Atoi(m[1])
		out[n] = true
	}
	return out
}

// missing says what texts cite and nobody has.
func (k *known) missing(texts []text) []string {
	var problems []string
	for _, x := range texts {
		report := func(format string, args ...any) {
			problems = append(problems, fmt.Sprintf("%s:%s: there is no %s", x.file, x.line, fmt.Sprintf(format, args...)))
		}
		check := func(what string, have map[int]bool, list string) {
			for _, d := range digits.FindAllString(list, -1) {
				if n, err := strconv.Atoi(d); err != nil || !have[n] {
					report("%s %s", what, d)
				}
			}
		}
		for _, m := range citedNotes.FindAllStringSubmatch(x.words, -1) {
			check("note on etcd", k.notes, m[1]+m[2])
		}
		for _, m := range citedTest.FindAllStringSubmatch(x.words, -1) {
			begins := x.guard || m[1] == "-run " || m[3] != ""
			if m[1] != "func " && !k.hasTest(m[2], begins) {
				report("test %s", m[2])
			}
		}
		if x.guard {
			continue // the rest of it is code
		}
		for _, m := range citedGuarantee.FindAllString(x.words, -1) {
			check("guarantee", k.guarantees, m)
		}
		for _, m := range citedDecision.FindAllStringSubmatch(x.words, -1) {
			check("decision", k.decisions, m[1])
		}
		for _, name := range append(citedFile.FindAllString(x.words, -1), folders(x.words)...) {
			pattern := strings.ContainsAny(name, "{}<>$*:…") || strings.HasPrefix(name, "_") // or of another place
			if !pattern && !k.has(x.file, name) {
				report("%s", name)
			}
		}
	}
	return problems
}

// hasTest tells whether there is a test of this name, or, where it is part of a
// pattern, one whose name begins so.
func (k *known) hasTest(name string, begins bool) bool {
	return slices.ContainsFunc(k.tests, func(have string) bool {
		return have == name || begins && strings.HasPrefix(have, name)
	})
}

// has tells whether there is such a file or folder: seen from the root, from the
// file that cites it, or under any folder.
func (k *known) has(from, name string) bool {
	return k.paths[path.Clean(name)] || k.paths[path.Join(path.Dir(from), name)] ||
		k.paths[strings.TrimLeft(path.Clean(name), "./")]
}

// folders are the cited ones of this tree. Decisions are cited by number, and files
// are found by citedFile.
func folders(s string) []string {
	var out []string
	for _, m := range citedFolder.FindAllStringSubmatch(s, -1) {
		name := strings.TrimRight(m[1], "./")
		if !citedDecision.MatchString(name) && !citedFile.MatchString(name) {
			out = append(out, name)
		}
	}
	return out
}

// The check itself, on a tree made up for it.
func TestCitationsAreFollowed(t *testing.T) {
	t.Parallel()
	tree := fstest.MapFS{
		guaranteesPage:           file("### G1: a\n### G2: b\n"),
		notesPage:                file("### 1. a\n### 7. b\n"),
		"docs/decisions/0003.md": file("no number of its own"),
		"docs/decisions/0004-x.md": file("G1, G3. See decisions/0004, decisions/0005, [up](../protocol.md), pkg/a/b.go, pkg/a/c.go, a/b.go, c/b.go.\n" +
			"TestOne, TestO…, TestTwo, `TestTw…`, `note 1: x` `notes 1, 7, 8: x`, pkg/a, pkg/b, https://x/pkg/y.md, {a}/b.md, *.go, _test.go, -run TestO."),
		"pkg/a/b.go":        file("// Package a is of etcd notes 1 and 2; release note 9. See docs/no.md.\npackage a\n\nconst s = \"G9, x.md\"\n"),
		"pkg/a/b_test.go":   file("package a\n\n// func TestSample(t)\nfunc TestOne() {}\nfunc TestNote07_X() {}\n// TestNote03_X\n"),
		"test/mutants/a.go": file("package m\n\nvar _ = []string{\"note 8: x\", \"note 7\", \"TestOn|TestNote07\", \"TestThree\", \"x/y.go\"}\n"),
	}
	k, texts := readAll(t, tree)
	got := k.missing(texts)
	want := []string{
		"docs/decisions/0004-x.md:1: there is no guarantee 3",
		"docs/decisions/0004-x.md:1: there is no decision 0005",
		"docs/decisions/0004-x.md:1: there is no pkg/a/c.go",
		"docs/decisions/0004-x.md:1: there is no c/b.go",
		"docs/decisions/0004-x.md:2: there is no note on etcd 8",
		"docs/decisions/0004-x.md:2: there is no test TestTwo",
		"docs/decisions/0004-x.md:2: there is no test TestTw",
		"docs/decisions/0004-x.md:2: there is no pkg/b",
		"pkg/a/b.go:1: there is no note on etcd 2",
		"pkg/a/b.go:1: there is no docs/no.md",
		"pkg/a/b_test.go:6: there is no note on etcd 03",
		"pkg/a/b_test.go:6: there is no test TestNote03_X",
		"test/mutants/a.go:3: there is no note on etcd 8",
		"test/mutants/a.go:3: there is no test TestThree",
	}
	finds(t, got, want)
}
