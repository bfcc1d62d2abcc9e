package docs

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/workflow"
)

var (
	codeInLine = regexp.MustCompile("`([^`\n]+)`")
	kebab      = regexp.MustCompile(`^[a-z][a-z0-9]*(?:-[a-z0-9]+)+$`)
	kebabIn    = regexp.MustCompile(`[a-z][a-z0-9]*(?:-[a-z0-9]+)+`)
	goString   = regexp.MustCompile("\"(?:[^\"\\\\\n]|\\\\.)*\"|`[^`]*`")
)

// Words with hyphens that pages show as code are codes, reasons, causes, states, names of files and the like: each stands
// in a string of the program, in a file that is shipped, or is the name of one. A code that was renamed is found so.
func TestCodesOfPagesExist(t *testing.T) {
	t.Parallel()
	files := os.DirFS(root)
	there := wordsOf(t, files)
	if !there[string(workflow.CodeInstanceGated)] || there["instance-is-gated-by"] {
		t.Fatal("the program's words are not read")
	}
	for _, page := range pagesOf(t, files) {
		raw, err := fs.ReadFile(files, page)
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range strings.Split(string(raw), "\n") {
			for _, word := range unknownWords(line, there) {
				t.Errorf("%s:%d: `%s` is nowhere in the program", page, n+1, word)
			}
		}
	}
}

// Such words are found in a line, and not in what is more than one word.
func TestUnknownWordsAreFound(t *testing.T) {
	t.Parallel()
	there := map[string]bool{"instance-refused": true}
	for line, want := range map[string][]string{
		"409 `instance-refused`, or `instance-gated`": {"instance-gated"},
		"run `weft fsck --data-dir x` and `a-b` `c`":  {"a-b"},
		"an instance-gated one":                       nil,
	} {
		if got := unknownWords(line, there); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", line, got, want)
		}
	}
}

func unknownWords(line string, there map[string]bool) (unknown []string) {
	for _, m := range codeInLine.FindAllStringSubmatch(line, -1) {
		if word := m[1]; kebab.MatchString(word) && !there[word] && !madeUp[word] {
			unknown = append(unknown, word)
		}
	}
	return unknown
}

// madeUp are words of examples.
var madeUp = map[string]bool{}

// wordsOf are the words with hyphens of the program's strings and of what is shipped with it.
func wordsOf(t *testing.T, files fs.FS) map[string]bool {
	t.Helper()
	there := map[string]bool{}
	take := func(text string) {
		for _, w := range kebabIn.FindAllString(text, -1) {
			there[w] = true
		}
	}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == ".git" || d.IsDir() && (d.Name() == "node_modules" || d.Name() == "rapid") {
			return skip(d, err)
		}
		take(d.Name())
		take(strings.TrimSuffix(d.Name(), path.Ext(name)))
		if d.IsDir() {
			return nil
		}
		switch ext := path.Ext(name); {
		case strings.HasSuffix(name, "_test.go"):
		case ext == ".go":
			raw, err := fs.ReadFile(files, name)
			if err != nil {
				return err
			}
			for _, s := range goString.FindAllString(string(raw), -1) {
				take(s)
			}
		case ext == ".yml", ext == ".yaml", ext == ".cfg", ext == ".conf", ext == ".sh", ext == ".html", ext == ".ts", ext == ".css", ext == ".service", ext == ".mod", ext == ".tpl", ext == ".toml":
			raw, err := fs.ReadFile(files, name)
			if err != nil {
				return err
			}
			take(string(raw))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return there
}

func skip(d fs.DirEntry, err error) error {
	if err == nil && d.IsDir() {
		return fs.SkipDir
	}
	return err
}

// pagesOf are the pages for people.
func pagesOf(t *testing.T, files fs.FS) (pages []string) {
	t.Helper()
	err := fs.WalkDir(files, "docs", func(name string, d fs.DirEntry, err error) error {
		if err == nil && path.Ext(name) == ".md" {
			pages = append(pages, name)
		}
		return err
	})
	if err != nil || len(pages) < 40 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	return append(pages, "README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md")
}

// Each reason of a dead letter, and each state of a receipt, is told on the page that is for them.
func TestReasonsAreTold(t *testing.T) {
	t.Parallel()
	for page, of := range map[string]struct{ file, typ string }{
		"docs/runbooks/dead-letters.md": {"pkg/workflow/outcome.go", "DeadReason"},
		"docs/api.md":                   {"internal/store/receipt.go", "FateState"},
	} {
		text, src := read(t, os.DirFS(root), page), read(t, os.DirFS(root), of.file)
		consts := regexp.MustCompile(`(?m)^\s+\w+\s+`+of.typ+`\s+= ("[^"]+")`).FindAllStringSubmatch(src, -1)
		if len(consts) < 6 {
			t.Errorf("%s has %d constants of %s", of.file, len(consts), of.typ)
		}
		for _, c := range consts {
			if value, err := strconv.Unquote(c[1]); err != nil || !strings.Contains(text, "`"+value+"`") {
				t.Errorf("%s does not tell of %s", page, c[1])
			}
		}
	}
}

// What a page calls the default of a flag in a table of limits is that.
func TestDefaultsOfPagesAreThose(t *testing.T) {
	t.Parallel()
	settings := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `--([a-z-]+)[^`]*` .*$").FindAllStringSubmatch(read(t, os.DirFS(root), "docs/settings.md"), -1) {
		settings[row[1]] = row[0]
	}
	if len(settings) < 60 {
		t.Fatalf("%d settings", len(settings))
	}
	checked := 0
	for n, line := range strings.Split(read(t, os.DirFS(root), "docs/operations/retention.md"), "\n") {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		for _, m := range regexp.MustCompile("`--([a-z-]+) ([^` ]+)`").FindAllStringSubmatch(line, -1) {
			checked++
			if row := settings[m[1]]; !strings.Contains(row, "`"+m[2]+"`") && !strings.Contains(row, " "+m[2]+" ") && !strings.Contains(row, m[2]+"0m0s") {
				t.Errorf("docs/operations/retention.md:%d: --%s %s; docs/settings.md has: %s", n+1, m[1], m[2], row)
			}
		}
	}
	if checked < 3 {
		t.Errorf("%d defaults are looked at", checked)
	}
}
