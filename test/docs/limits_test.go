package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

const (
	limitsPage   = "docs/operations/limits.md"
	settingsPage = "docs/settings.md"
	fixedLimits  = "## Limits that errors name"
)

// saysLimit is how texts say that there is a limit.
var saysLimit = regexp.MustCompile(`(?i)more than (%|[1-9]|is taken)|% [a-z ]*at most\b|at most (%|[1-9])|\bup to (%|[1-9])|may have (up to |at most )?(%|[1-9])|\btoo (many|large|long|deep|big|great|much)\b|` +
	`(longer|larger|greater|bigger|deeper) than (%|[1-9]|a |it )|\bexceed|as may\b|(from|must have|must be|give|be) 1 to %|from 1 to [1-9]|there may be %|may be %|repeat too much`)

// noLimits are texts that read like one.
var noLimits = []string{
	"wait=30 waits up to 30 seconds for the end of the instance.",                   // describes a route
	", and makes it again as retracted, with the versions that are there (up to …)", // a repair, and a version
	"disk quota exceeded", // what the system says, which is looked for
	"Request too large",   // the name of a port of an activity
	"File too large",      // another
	"a whole number of at most 64 bits, -9223372036854775808 to 9223372036854775807", // the name of a type
}

// TestEachLimitThatAnErrorNamesCanBeSet holds that a text of the program which names a limit
// says by which setting it is raised, or that the page about limits says why it is fixed.
func TestEachLimitThatAnErrorNamesCanBeSet(t *testing.T) {
	t.Parallel()
	tree := os.DirFS(root)
	texts, err := limitTexts(tree, "cmd", "internal", "pkg")
	if err != nil {
		t.Fatal(err)
	}
	settings := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `--([a-z-]+)`").FindAllStringSubmatch(read(t, tree, settingsPage), -1) {
		settings[m[1]] = true
	}
	fixed := fixedOn(read(t, tree, limitsPage))
	for _, text := range noLimits {
		if texts[text] == "" {
			t.Errorf("nothing says %q", text)
		}
		delete(texts, text)
	}
	if len(texts) < 40 || len(settings) < 40 || len(fixed) < 20 {
		t.Fatalf("found %d texts, %d settings, %d limits that are fixed", len(texts), len(settings), len(fixed))
	}
	for _, p := range unsettable(texts, settings, fixed) {
		t.Error(p)
	}
}

// unsettable says which texts name neither a setting nor stand among the fixed ones, and which
// of those nothing says.
func unsettable(texts map[string]string, settings, fixed map[string]bool) []string {
	var problems []string
	for _, text := range slices.Sorted(maps.Keys(texts)) {
		named := slices.ContainsFunc(words.FindAllString(text, -1), func(w string) bool { return settings[strings.TrimPrefix(w, "--")] })
		switch {
		case named && fixed[text]:
			problems = append(problems, limitsPage+" says that this is fixed, and it names its setting: "+text)
		case !named && !fixed[text]:
			problems = append(problems, texts[text]+" names a limit, and neither its setting nor has "+limitsPage+" it as fixed: `"+text+"`")
		}
	}
	for _, text := range slices.Sorted(maps.Keys(fixed)) {
		if texts[text] == "" {
			problems = append(problems, limitsPage+" has the limit of a text that nothing says: "+text)
		}
	}
	return problems
}

// words may be names of settings: one that is a plain word counts with its dashes only.
var words = regexp.MustCompile(`--[a-z-]+|[a-z]+(-[a-z]+)+`)

// fixedOn are the texts of the page, in the first cells of its table.
func fixedOn(page string) map[string]bool {
	out := map[string]bool{}
	_, section, _ := strings.Cut(page, fixedLimits)
	section, _, _ = strings.Cut(section, "\n## ")
	for line := range strings.SplitSeq(section, "\n") {
		cell, _, ok := strings.Cut(strings.TrimPrefix(line, "|"), " |")
		if !ok || !strings.HasPrefix(line, "|") {
			continue
		}
		for _, m := range inCode.FindAllStringSubmatch(cell, -1) {
			out[m[1]] = true
		}
	}
	return out
}

// limitTexts are the texts that say a limit, with what is inserted as …, by the file that has
// them. Descriptions of flags, metrics, routes and activities are none: nobody meets a limit
// there.
func limitTexts(tree fs.FS, dirs ...string) (map[string]string, error) {
	out := map[string]string{}
	for _, dir := range dirs {
		err := fs.WalkDir(tree, dir, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (strings.HasSuffix(name, "test") || name == "pkg/metrics"):
				return fs.SkipDir
			case d.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "_gen.go"):
				return nil
			}
			source, err := fs.ReadFile(tree, name)
			if err != nil {
				return err
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(f, func(n ast.Node) bool { return limitIn(n, name, out) })
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// limitIn notes the text of a node; false: what is in the node is done.
func limitIn(n ast.Node, file string, out map[string]string) bool {
	switch n := n.(type) {
	case *ast.Field: // its tag describes it
		return false
	case *ast.KeyValueExpr:
		key, _ := n.Key.(*ast.Ident)
		return key == nil || !slices.Contains([]string{"Description", "Doc", "Short", "Long", "Example", "Use", "Summary", "Display"}, key.Name)
	case *ast.CallExpr:
		if f, ok := n.Fun.(*ast.SelectorExpr); ok && strings.HasSuffix(strings.TrimSuffix(f.Sel.Name, "P"), "Var") { // of a flag
			return false
		}
	case *ast.BinaryExpr, *ast.BasicLit:
		text, ok := joined(n)
		if ok {
			if text = insertedVerb.ReplaceAllString(text, "…"); saysLimit.MatchString(strings.ReplaceAll(text, "…", "%")) {
				out[text] = file
			}
			return false
		}
	}
	return true
}

var insertedVerb = regexp.MustCompile(`%[-+#0-9.]*[a-zA-Z]`)

// joined is a text that may be written in parts; what is no text in it is inserted.
func joined(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.BasicLit:
		return literal(n)
	case *ast.BinaryExpr:
		if n.Op != token.ADD {
			return "", false
		}
		left, ok := joined(n.X)
		right, also := joined(n.Y)
		if !ok && !also {
			return "", false
		}
		if !ok {
			left = "%s"
		}
		if !also {
			right = "%s"
		}
		return left + right, true
	}
	return "", false
}

// The check itself, on a program made up for it.
func TestLimitsAreFound(t *testing.T) {
	t.Parallel()
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	texts, err := limitTexts(fstest.MapFS{
		"pkg/a/a.go": file("package a\n\nimport \"fmt\"\n\ntype t struct {\n\tf int `doc:\"at most 3\"`\n}\n\n" +
			"var a = fmt.Errorf(\"more than %d things; raise \"+\"max-things\", 1)\nvar b = fmt.Errorf(\"it has %d bytes, and may have %d\", 1, 2)\n" +
			"var c = map[string]string{}\nvar d = T{Description: \"at most 5\"}\nvar e = fs.IntVar(&x, \"x\", \"at most 7\")\nvar g = \"nothing\"\nvar h = \"it is too long\" + g\n"),
		"pkg/a/a_test.go":    file("package a\n\nvar x = \"at most 9\"\n"),
		"pkg/atest/a.go":     file("package atest\n\nvar x = \"at most 9\"\n"),
		"pkg/metrics/a.go":   file("package metrics\n\nvar x = \"at most 9\"\n"),
		"pkg/a/types_gen.go": file("package a\n\nvar x = \"at most 9\"\n"),
	}, "pkg")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"more than … things; raise max-things": "pkg/a/a.go", "it has … bytes, and may have …": "pkg/a/a.go", "it is too long…": "pkg/a/a.go"}
	if !maps.Equal(texts, want) {
		t.Errorf("found %v, want %v", texts, want)
	}
	page := "x `nothing of it`\n" + fixedLimits + "\n\n| text | why |\n|---|---|\n| `it is too long…`, `nobody says it` | because `of this` |\n\n## Next\n\n| `other` |\n"
	fixed := fixedOn(page)
	if want := map[string]bool{"it is too long…": true, "nobody says it": true}; !maps.Equal(fixed, want) {
		t.Errorf("fixed are %v, want %v", fixed, want)
	}
	got := unsettable(texts, map[string]bool{"max-things": true}, fixed)
	if len(got) != 2 || !strings.Contains(got[0], "pkg/a/a.go names a limit, and neither") || !strings.Contains(got[1], "nothing says: nobody says it") {
		t.Errorf("says %q", got)
	}
	if got := unsettable(map[string]string{"more than … things; raise max-things": "f"}, map[string]bool{"max-things": true}, map[string]bool{"more than … things; raise max-things": true}); len(got) != 1 {
		t.Errorf("says %q", got)
	}
}
