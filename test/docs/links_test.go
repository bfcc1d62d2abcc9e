package docs

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"
)

const root = "../.."

// written are the files and folders whose pages people read.
var written = []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "docs", "deploy"}

var (
	inlineCode = regexp.MustCompile("``[^`]*(?:`[^`]+)*``|`[^`]*`")
	link       = regexp.MustCompile(`\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)`)
	reference  = regexp.MustCompile(`^\s{0,3}\[[^\]]+\]:\s*<?([^\s>]+)`)
	attribute  = regexp.MustCompile(`\b(?:href|src)="([^"]+)"`)
	heading    = regexp.MustCompile(`^#{1,6}\s+(.*?)\s*#*$`)
	linkText   = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	mergeMark  = regexp.MustCompile(`^(<{7}|>{7}) `)
	scheme     = regexp.MustCompile(`^[a-z][a-z0-9+.-]*:`)
	pageNamed  = regexp.MustCompile(`\bdocs/[\w./-]*\w`)
)

func TestNoLinkLeadsNowhere(t *testing.T) {
	t.Parallel()
	tree := os.DirFS(root)
	pages, others := files(t, tree)
	if len(pages) < 30 || len(others) < 10 {
		t.Fatalf("%d pages and %d other files found", len(pages), len(others))
	}
	for _, p := range slices.Concat(brokenLinks(t, tree, pages), brokenNames(t, tree, others)) {
		t.Error(p)
	}
}

// A reader who begins at docs/README.md finds every page: each is linked from
// there, or from the README.md of its own folder, which is linked from there.
func TestEveryPageIsInTheIndex(t *testing.T) {
	t.Parallel()
	tree := os.DirFS(root)
	pages, _ := files(t, tree)
	for _, p := range unlisted(t, tree, pages) {
		t.Errorf("no index leads to %s", p)
	}
}

// What a merge could not decide was decided before it was committed.
func TestNoPageHasTheMarksOfAMerge(t *testing.T) {
	t.Parallel()
	tree := os.DirFS(root)
	pages, others := files(t, tree)
	for _, name := range slices.Concat(pages, others) {
		for i, line := range strings.Split(read(t, tree, name), "\n") {
			if mergeMark.MatchString(line) {
				t.Errorf("%s:%d: %s", name, i+1, line)
			}
		}
	}
}

// files gives the Markdown pages, and the other files, of what is written.
func files(t *testing.T, tree fs.FS) (pages, others []string) {
	t.Helper()
	for _, name := range written {
		err := fs.WalkDir(tree, name, func(file string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir():
			case strings.HasSuffix(file, ".md"):
				pages = append(pages, file)
			default:
				others = append(others, file)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return pages, others
}

// brokenLinks says which links of pages lead to no file or no heading.
func brokenLinks(t *testing.T, tree fs.FS, pages []string) []string {
	t.Helper()
	var problems []string
	for _, page := range pages {
		for _, l := range linksOf(read(t, tree, page)) {
			if why := follow(t, tree, page, l.name); why != "" {
				problems = append(problems, fmt.Sprintf("%s:%d: %s: %s", page, l.line, l.name, why))
			}
		}
	}
	return problems
}

// brokenNames says which pages of docs/ are named in files that are no pages,
// such as alerts, and do not exist.
func brokenNames(t *testing.T, tree fs.FS, names []string) []string {
	t.Helper()
	var problems []string
	for _, name := range names {
		for i, line := range strings.Split(read(t, tree, name), "\n") {
			for _, cited := range pageNamed.FindAllString(line, -1) {
				if _, err := fs.Stat(tree, cited); err != nil {
					problems = append(problems, fmt.Sprintf("%s:%d: %s: %v", name, i+1, cited, err))
				}
			}
		}
	}
	return problems
}

func unlisted(t *testing.T, tree fs.FS, pages []string) []string {
	t.Helper()
	const index = "docs/README.md"
	listed := map[string]bool{index: true}
	list := func(page string) {
		for _, l := range linksOf(read(t, tree, page)) {
			target, _, _ := strings.Cut(l.name, "#")
			listed[path.Join(path.Dir(page), target)] = true
		}
	}
	list(index)
	for _, page := range pages {
		if path.Base(page) == "README.md" && page != index && listed[page] {
			list(page)
		}
	}
	var missing []string
	for _, page := range pages {
		if strings.HasPrefix(page, "docs/") && !listed[page] {
			missing = append(missing, page)
		}
	}
	return missing
}

// follow says why a link of a page leads nowhere, or nothing.
func follow(t *testing.T, tree fs.FS, page, to string) string {
	t.Helper()
	if scheme.MatchString(to) {
		return "" // another host's
	}
	name, anchor, hasAnchor := strings.Cut(to, "#")
	target := page
	if name != "" {
		target = path.Join(path.Dir(page), name)
	}
	if target == ".." || strings.HasPrefix(target, "../") || strings.HasPrefix(name, "/") {
		return "leads out of the project"
	}
	if _, err := fs.Stat(tree, target); err != nil {
		return "there is no " + target
	}
	if !hasAnchor {
		return ""
	}
	if !strings.HasSuffix(target, ".md") {
		return "only a page has headings"
	}
	if !slices.Contains(anchorsOf(read(t, tree, target)), anchor) {
		return target + " has no such heading"
	}
	return ""
}

type place struct {
	name string
	line int
}

// prose calls each for the lines that are no code, without their inline code if
// so asked.
func prose(text string, keepCode bool, each func(line string, number int)) {
	fence := ""
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case fence != "":
			if strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, fence[:1]) == "" {
				fence = ""
			}
			continue
		case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
			fence = trimmed[:3]
			continue
		}
		if !keepCode {
			line = inlineCode.ReplaceAllString(line, "")
		}
		each(line, i+1)
	}
}

// linksOf gives every link of a page that is not in code.
func linksOf(text string) []place {
	var out []place
	prose(text, false, func(line string, number int) {
		for _, pattern := range []*regexp.Regexp{link, reference, attribute} {
			for _, m := range pattern.FindAllStringSubmatch(line, -1) {
				out = append(out, place{m[1], number})
			}
		}
	})
	return out
}

// anchorsOf gives what GitHub makes of a page's headings: lower case, hyphens
// for spaces, no punctuation, and a number at the second of one name.
func anchorsOf(text string) []string {
	var out []string
	seen := map[string]int{}
	prose(text, true, func(line string, _ int) {
		m := heading.FindStringSubmatch(line)
		if m == nil {
			return
		}
		slug := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, linkText.ReplaceAllString(m[1], "$1"))
		seen[slug]++
		if n := seen[slug] - 1; n > 0 {
			slug = fmt.Sprintf("%s-%d", slug, n)
		}
		out = append(out, slug)
	})
	return out
}

func read(t *testing.T, tree fs.FS, name string) string {
	t.Helper()
	raw, err := fs.ReadFile(tree, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// The checks themselves, on pages made up for it: one that never fails would
// look just like pages without a fault.
func TestLinksAreFollowed(t *testing.T) {
	t.Parallel()
	tree := fstest.MapFS{
		"README.md": {Data: []byte("# Top\n[good](docs/a.md#two-words) [dir](docs) [web](https://x/y#z) [me](#top)\n" +
			"[gone](docs/gone.md)\n![picture](docs/no.svg)\n[out](../elsewhere.md)\n[ref]: docs/nothing.md\n<img src=\"none.png\">\n")},
		"docs/README.md": {Data: []byte("[a](a.md) [deep](deep/README.md)\n")},
		"docs/a.md": {Data: []byte("# A\n## Two *words*\n## `code`, and [a link](b.md)\n## Same\n## Same\n```\n# not a heading\n[x](not-a-link.md)\n```\n" +
			"`[y](not-either.md)` [up](../README.md#top) [second](#same-1) [named](#code-and-a-link)\n[third](#same-2)\n[in code](#not-a-heading)\n[b](b.md)\n[line](deep/c.txt#L3)\n")},
		"docs/b.md":           {Data: []byte("b\n")},
		"docs/deep/README.md": {Data: []byte("[d](d.md)\n")},
		"docs/deep/c.txt":     {Data: []byte("see docs/a.md and docs/missing.md.\n")},
		"docs/deep/d.md":      {Data: []byte("d\n")},
	}
	pages := []string{"README.md", "docs/README.md", "docs/a.md", "docs/b.md", "docs/deep/README.md", "docs/deep/d.md"}
	got := slices.Concat(brokenLinks(t, tree, pages), brokenNames(t, tree, []string{"docs/deep/c.txt"}), unlisted(t, tree, pages))
	want := []string{
		"README.md:3: docs/gone.md: there is no docs/gone.md",
		"README.md:4: docs/no.svg: there is no docs/no.svg",
		"README.md:5: ../elsewhere.md: leads out of the project",
		"README.md:6: docs/nothing.md: there is no docs/nothing.md",
		"README.md:7: none.png: there is no none.png",
		"docs/a.md:11: #same-2: docs/a.md has no such heading",
		"docs/a.md:12: #not-a-heading: docs/a.md has no such heading",
		"docs/a.md:14: deep/c.txt#L3: only a page has headings",
		"docs/deep/c.txt:1: docs/missing.md: ",
		"docs/b.md",
	}
	if len(got) != len(want) {
		t.Fatalf("got %d problems:\n%s", len(got), strings.Join(got, "\n"))
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("problem %d is\n\t%s\nwant\n\t%s", i, got[i], want[i])
		}
	}
}
