package docs

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// houseWords are words of this house that people who only use it need not know, with what finds them.
var houseWords = map[string]*regexp.Regexp{
	"burst":    regexp.MustCompile(`\b[Bb]ursts?\b`),
	"stimulus": regexp.MustCompile(`\b[Ss]timul(?:us|i)\b`),
	"gate":     regexp.MustCompile(`\b[Gg]ates?\b`),
	"census":   regexp.MustCompile(`\b[Cc]ensus\b`),
}

var (
	asCode   = regexp.MustCompile("(?ms)^```.*?^```|`[^`\n]+`|^    .*?$")
	pageLink = regexp.MustCompile(`\[[^\]\n]*\]\([^)\n]*\)`)
)

// On the pages for users a word of the house leads to what it means where it is used first.
func TestWordsOfTheHouseAreToldAtFirstUse(t *testing.T) {
	t.Parallel()
	files := os.DirFS(root)
	pages := []string{"README.md"}
	for _, name := range []string{"tutorial", "notation", "testing", "console", "webhooks", "expressions", "api", "differences-from-elsa", "how-do-i", "security"} {
		pages = append(pages, "docs/"+name+".md")
	}
	operations, err := fs.Glob(files, "docs/operations/*.md")
	if err != nil || len(operations) < 10 {
		t.Fatalf("%d pages, %v", len(operations), err)
	}
	for _, page := range append(pages, operations...) {
		for _, w := range untold(read(t, files, page)) {
			t.Errorf("%s uses %q without a link to docs/glossary.md where it comes first", page, w)
		}
	}
}

// It is found where it is text, and not where it is code.
func TestUntoldWordsAreFound(t *testing.T) {
	t.Parallel()
	for page, want := range map[string]string{
		"a burst ends": "burst",
		"a [burst](glossary.md#workflows) ends; the burst":            "",
		"`burst`\n```\na gate\n```\n    a gate\n":                     "",
		"a [gate](api.md) is held, see the [gate](glossary.md#words)": "gate",
	} {
		if got := strings.Join(untold(page), " "); got != want {
			t.Errorf("%q: %q, want %q", page, got, want)
		}
	}
}

// untold are the words of the house whose first use on a page leads nowhere.
func untold(page string) (words []string) {
	text := asCode.ReplaceAllStringFunc(page, func(code string) string { return strings.Repeat(" ", len(code)) })
	for word, found := range houseWords {
		first := found.FindStringIndex(text)
		if first == nil {
			continue
		}
		told := false
		for _, link := range pageLink.FindAllStringIndex(text, -1) {
			told = told || link[0] <= first[0] && first[1] <= link[1] && strings.Contains(text[link[0]:link[1]], "glossary.md")
		}
		if !told {
			words = append(words, word)
		}
	}
	return words
}
