package check_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/check"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml"
)

var update = flag.Bool("update", false, "write what is found behind each mistake of testdata/mistakes")

// mark begins the lines that say what is found.
const mark = "\n#! "

// TestMistakesAreFound holds each file of testdata/mistakes, a definition with a mistake,
// against the comments at its end: every problem with its place, code and text.
func TestMistakesAreFound(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/mistakes/*.yaml")
	if err != nil || len(files) < 150 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			src, want, _ := strings.Cut(string(raw), mark)
			got := strings.ReplaceAll(found(t, src+"\n"), "\n", mark)
			if *update {
				if err := os.WriteFile(file, []byte(src+mark+got+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if want = strings.TrimSuffix(want, "\n"); got != want {
				t.Errorf("found\n%s\nand not\n%s", got, want)
			}
			if got == "" {
				t.Error("nothing is found")
			}
		})
	}
}

// found says what is wrong with a definition, one problem a line.
func found(t *testing.T, src string) string {
	t.Helper()
	def, problems := yaml.Read([]byte(src), "", activities.Default())
	if def != nil {
		opts := options()
		opts.Defined = func(id string) bool { return id == "child" || id == "ship" }
		opts.Child = func(id string) *workflow.Definition { return map[string]*workflow.Definition{"ship": ship(t)}[id] }
		_, more := check.Definition(def, opts)
		problems = check.Join(problems, more)
	}
	problems = problems.WithExcerpts([]byte(src))
	problems.Sort()
	var lines []string
	for _, p := range problems {
		text := fmt.Sprintf("%d:%d %s %s: %s", p.Place.Line, p.Place.Column, p.Severity(), p.Code, p.Detail)
		lines = append(lines, strings.ReplaceAll(text, "\n", " / "))
	}
	return strings.Join(lines, "\n")
}

// ship is a definition that others run as a child.
func ship(t *testing.T) *workflow.Definition {
	t.Helper()
	def, problems := yaml.Read([]byte("id: ship\ninputs:\n  order: {type: string, required: true}\n  weight: number\nroot: []\n"), "", activities.Default())
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return def
}

// What may be meant is an error only for those who want it so.
func TestWarningsAreErrorsOnlyIfStrict(t *testing.T) {
	t.Parallel()
	ps := workflow.Problems{{Code: "a", Warning: true}, {Code: "b"}}
	errs, warnings := ps.Split()
	if len(errs) != 1 || errs[0].Code != "b" || len(warnings) != 1 || warnings[0].Severity() != "warning" {
		t.Errorf("errors %v, warnings %v", errs, warnings)
	}
	if errs, warnings = ps.Strict().Split(); len(errs) != 2 || warnings != nil {
		t.Errorf("strict: errors %v, warnings %v", errs, warnings)
	}
}

// TestDurationsAreNoMistake has durations of the language where a duration is wanted.
func TestDurationsAreNoMistake(t *testing.T) {
	t.Parallel()
	for _, value := range []string{`duration("1h")`, `date(inputs.when) - now()`} {
		if got := found(t, "id: nap\ninputs: {when: {type: string}}\nroot:\n  - delay: ${{ "+value+" }}\n"); got != "" {
			t.Errorf("%s: %s", value, got)
		}
	}
}

// TestALookHasABound holds that a definition made to be long to look at is not.
func TestALookHasABound(t *testing.T) {
	t.Parallel()
	var src strings.Builder
	src.WriteString("id: long\nvariables:\n")
	for i := range 5000 {
		fmt.Fprintf(&src, "  v%d: {type: string}\n", i)
	}
	src.WriteString("root:\n")
	for i := range 2000 {
		fmt.Fprintf(&src, "  - writeLine: ${{ variables.v%d + variables.v%d + variables.v%d }}\n", i, i+1, i+2)
	}
	if got := found(t, src.String()); !strings.Contains(got, "not-all-checked") || strings.Count(got, "\n") > 0 {
		t.Errorf("%.500s", got)
	}
}
