package docs

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const glossary = "docs/glossary.md"

var transaction = regexp.MustCompile(`(?m)^\| \*\*([^*]+)\*\*`)

// The glossary has each word once, each is in use, what replaces a word to avoid
// is a word of its own, and each transaction that keys.md names is a word.
func TestGlossary(t *testing.T) {
	t.Parallel()
	tree := os.DirFS(root)
	pages, _ := files(t, tree)
	var text strings.Builder
	for _, page := range pages {
		if page != glossary {
			text.WriteString(read(t, tree, page))
		}
	}
	words, problems := glossaryOf(read(t, tree, glossary), text.String())
	for _, p := range problems {
		t.Error(p)
	}
	if len(words) < 120 {
		t.Errorf("%d words found", len(words))
	}
	keys := transaction.FindAllStringSubmatch(read(t, tree, "docs/keys.md"), -1)
	if len(keys) < 20 {
		t.Errorf("docs/keys.md names %d transactions", len(keys))
	}
	for _, m := range keys {
		if !slices.Contains(words, m[1]) {
			t.Errorf("docs/keys.md has the transaction %q, %s has not (section Transactions)", m[1], glossary)
		}
	}
}

// glossaryOf gives the words of a glossary, and what is wrong with it; used is
// the text of all other pages.
func glossaryOf(page, used string) (words, problems []string) {
	page, avoid, _ := strings.Cut(page, section)
	for _, cells := range rows(page) {
		if len(cells) != 2 || cells[1] == "" {
			problems = append(problems, "not a word and a meaning: "+strings.Join(cells, " | "))
			continue
		}
		// Words that need each other to be explained share a line.
		for _, word := range strings.Split(cells[0], ", ") {
			word, _, _ = strings.Cut(word, " (")
			if slices.Contains(words, word) {
				problems = append(problems, word+" is there twice")
			}
			words = append(words, word)
			if !strings.Contains(strings.ToLower(used), strings.ToLower(word)) {
				problems = append(problems, "no page uses "+word)
			}
		}
	}
	for _, cells := range rows(avoid) {
		for _, word := range strings.Split(cells[0], ", ") {
			if slices.Contains(words, word) {
				problems = append(problems, word+" is a word, and one to avoid")
			}
		}
	}
	return words, problems
}

// section is where the glossary lists words to avoid.
const section = "\n## Words to avoid\n"

var backquoted = regexp.MustCompile("`[^`]*`")

// The words of the glossary's last table are in no page and in no comment of the
// product.
func TestWordsToAvoidAreNowhere(t *testing.T) {
	t.Parallel()
	tree := os.DirFS(root)
	words := avoided(read(t, tree, glossary))
	if len(words) < 5 {
		t.Fatalf("found %q to avoid", words)
	}
	_, texts := readAll(t, tree)
	for _, p := range have(words, texts) {
		t.Error(p)
	}
}

// avoided gives the words of the last table of a glossary.
func avoided(page string) []string {
	_, page, _ = strings.Cut(page, section)
	var words []string
	for _, cells := range rows(page[strings.LastIndex(page, "\n\n")+1:]) {
		words = append(words, strings.Split(cells[0], ", ")...)
	}
	return words
}

// have says which of the texts have one of the words. Names in back-quotes do not count,
// nor do the words of tests and of the glossary itself.
func have(words []string, texts []text) []string {
	pattern := regexp.MustCompile(`(?i)\b(?:` + strings.Join(words, "|") + `)\b`)
	var problems []string
	for _, x := range texts {
		if x.file == glossary || x.guard || strings.HasSuffix(x.file, "_test.go") || strings.HasPrefix(x.file, "test/") {
			continue
		}
		for _, word := range pattern.FindAllString(backquoted.ReplaceAllString(x.words, ""), -1) {
			problems = append(problems, x.file+":"+x.line+": "+word+" is a word to avoid, see "+glossary)
		}
	}
	return problems
}

func TestAvoidedWordsAreFound(t *testing.T) {
	t.Parallel()
	words := avoided("# G\n\n| word | meaning |\n|---|---|\n| burst | A. |\n\n## Words to avoid\n\n| not this | but this |\n|---|---|\n| job | burst |\n\n" +
		"These are nowhere:\n\n| not this | but this |\n|---|---|\n| anew, blue print | again |\n| slot | permit |\n")
	if want := []string{"anew", "blue print", "slot"}; !slices.Equal(words, want) {
		t.Fatalf("words %q, want %q", words, want)
	}
	problems := have(words, []text{
		{file: "a.go", line: "1", words: "// Anew a job, a Blue print; slots, `slot`"}, {file: "a_test.go", line: "1", words: "// anew"},
		{file: "test/a.go", line: "1", words: "// anew"}, {file: glossary, line: "1", words: "anew"}, {file: "b.md", line: "2", words: "renewed; a slot."},
	})
	want := []string{
		"a.go:1: Anew is a word to avoid, see " + glossary, "a.go:1: Blue print is a word to avoid, see " + glossary,
		"b.md:2: slot is a word to avoid, see " + glossary,
	}
	if !slices.Equal(problems, want) {
		t.Errorf("problems %q, want %q", problems, want)
	}
}

// rows gives the cells of each line of a page's tables but their heads.
func rows(page string) [][]string {
	var out [][]string
	lines := strings.Split(page, "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|--") || i+1 < len(lines) && strings.HasPrefix(lines[i+1], "|--") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		out = append(out, cells)
	}
	return out
}

func TestGlossaryIsRead(t *testing.T) {
	t.Parallel()
	page := "# G\n\n| word | meaning |\n|---|---|\n| burst, mail (of one) | A. |\n| dust | B. |\n\n## More\n\n| word | meaning |\n|---|---|\n| burst | C. |\n| lonely | |\n\n" +
		"## Words to avoid\n\n| not this | but this |\n|---|---|\n| job, mail | burst |\n"
	words, problems := glossaryOf(page, "A Burst and its mail.")
	if want := []string{"burst", "mail", "dust", "burst"}; !slices.Equal(words, want) {
		t.Errorf("words %v, want %v", words, want)
	}
	want := []string{"no page uses dust", "burst is there twice", "not a word and a meaning: lonely | ", "mail is a word, and one to avoid"}
	if !slices.Equal(problems, want) {
		t.Errorf("problems %q, want %q", problems, want)
	}
}
