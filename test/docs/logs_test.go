package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEveryGraveLineOfTheLogIsExplained holds the page about logs against the program: each
// message of a warning or an error stands there up to its first semicolon or colon, and the
// page has no other.
func TestEveryGraveLineOfTheLogIsExplained(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root, "docs/operations/logs.md"))
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{} // message to where it is said
	call := regexp.MustCompile(`[lL]og(?:ger)?\.(?:(?:Warn|Error)\(|(?:Warn|Error)Context\([^,]+, )"([^"]+)"`)
	message := regexp.MustCompile(`^[^;:.]+`)
	for _, dir := range []string{"cmd", "internal", "pkg"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if d != nil && d.IsDir() && strings.HasSuffix(path, "test") {
				return fs.SkipDir
			}
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			src, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, m := range call.FindAllStringSubmatch(string(src), -1) {
				said[logged(message, m[1])] = path
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(said) < 50 {
		t.Fatalf("only %d messages are found: is the expression right?", len(said))
	}
	text := string(page)
	from := strings.Index(text, "## Errors")
	to := strings.Index(text, "## What a healthy start says")
	if from < 0 || to < from {
		t.Fatal("the page has other headings")
	}
	explained := map[string]bool{}
	for line := range strings.SplitSeq(text[from:to], "\n") {
		cell, _, _ := strings.Cut(strings.TrimPrefix(line, "|"), "|")
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cell, -1) {
			explained[m[1]] = true
		}
	}
	for m, path := range said {
		if !explained[m] {
			t.Errorf("%s logs %q, which docs/operations/logs.md does not explain", path, m)
		}
	}
	for m := range explained {
		if said[m] == "" {
			t.Errorf("docs/operations/logs.md explains %q, which nothing logs", m)
		}
	}
}

// logged is how the page has a message: without what follows its first semicolon or colon.
func logged(head *regexp.Regexp, text string) string {
	if rest, ok := strings.CutPrefix(text, "console: "); ok {
		return "console: " + head.FindString(rest)
	}
	return head.FindString(text)
}
