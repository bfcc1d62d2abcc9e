package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

// TestPatchesApply keeps the patches from rotting: each finds its guard, and the
// tests that have to notice are there. That they do is shown by make mutants.
func TestPatchesApply(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for i := range patches {
		p := &patches[i]
		changed, err := p.apply(root)
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := parser.ParseFile(token.NewFileSet(), p.file, changed, 0); err != nil {
			t.Errorf("patch %q gives no Go: %v", p.guard, err)
		}
		if seen[p.guard] {
			t.Errorf("two patches are called %q", p.guard)
		}
		seen[p.guard] = true
		if !hasTest(t, p.pkg, p.run) {
			t.Errorf("patch %q: %s has no test %s", p.guard, p.pkg, p.run)
		}
	}
}

func hasTest(t *testing.T, pkg, run string) bool {
	t.Helper()
	want := regexp.MustCompile(run)
	files, err := filepath.Glob(filepath.Join(root, pkg, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(src)) {
			if name, ok := strings.CutPrefix(line, "func "); ok && strings.HasPrefix(name, "Test") && want.MatchString(name[:strings.IndexByte(name, '(')]) {
				return true
			}
		}
	}
	return false
}

// A patch whose guard was changed must be an error, not a mutant that proves
// nothing.
func TestAPatchThatDoesNotApplyIsAnError(t *testing.T) {
	t.Parallel()
	p := patches[0]
	p.old += " "
	if _, err := p.apply(root); err == nil || !strings.Contains(err.Error(), "does not apply") {
		t.Errorf("got %v", err)
	}
}
