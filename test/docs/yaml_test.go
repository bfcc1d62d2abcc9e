package docs

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/authoring/check"
	"github.com/weft-run/weft/internal/expression"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml"
)

// otherYAML are blocks of YAML that are neither definitions nor parts of one, by their
// first line. Those of test files are run by pkg/workflowtest.
var otherYAML = []string{
	"definition: ",                        // a test file
	"apiVersion: ",                        // of Kubernetes
	"# overlay/kustomization.yaml",        // the same
	"# values.yaml",                       // of the Helm chart
	"- name: shop",                        // API keys
	"inputs: {amount: 1500, orderId: A-1", // the values of examples of expressions
}

// lacking are the problems of a part of a definition: what it uses is declared elsewhere.
var lacking = []string{"undeclared-input", "undeclared-variable", "unknown-variable", "unknown-activity", "unknown-definition"}

// ofADefinition is what a use of a definition as an activity lacks.
var ofADefinition = regexp.MustCompile(`^there is no activity type "[A-Z][^.]*"$`)

// TestEveryDefinitionOfThePagesIsRight has each definition that is printed on a page, and
// each part of one, without a mistake that can be found.
func TestEveryDefinitionOfThePagesIsRight(t *testing.T) {
	t.Parallel()
	tree := os.DirFS(root)
	pages, _ := files(t, tree)
	n := 0
	for _, page := range pages {
		if page == "docs/activities.md" {
			continue // its generator runs what it prints
		}
		blocks, problems := mistakes(read(t, tree, page), page)
		n += blocks
		for _, p := range problems {
			t.Error(p)
		}
	}
	if n < 15 {
		t.Errorf("only %d definitions were found", n)
	}
}

// mistakes are the problems of the definitions of a page.
func mistakes(text, page string) (blocks int, problems []string) {
	line := 0
	for text != "" {
		before, rest, ok := strings.Cut(text, "```yaml\n") // with a name it is a file of the tutorial, which is run
		if !ok {
			break
		}
		line += strings.Count(before, "\n") + 1
		block, after, _ := strings.Cut(rest, "```")
		text = after
		src, part := block, !strings.Contains("\n"+block, "\nid: ")
		switch {
		case slices.ContainsFunc(otherYAML, func(first string) bool { return strings.HasPrefix(block, first) }):
			line += strings.Count(block, "\n")
			continue
		case strings.HasPrefix(block, "- "):
			src = "root:\n" + block
		}
		blocks++
		for _, p := range problemsOf(src, part) {
			problems = append(problems, fmt.Sprintf("%s:%d: %s: %s\n%s", page, line, p.Code, p.Detail, p.Excerpt))
		}
		line += strings.Count(block, "\n")
	}
	return blocks, problems
}

func problemsOf(src string, part bool) workflow.Problems {
	types := activities.Default()
	def, problems := yaml.Read([]byte(src), "page.yaml", types)
	if def != nil {
		_, more := check.Definition(def, check.Options{Options: engine.Options{Registry: types, Evaluators: expression.All()}})
		problems = problems.Join(more)
	}
	return slices.DeleteFunc(problems.WithExcerpts([]byte(src)), func(p workflow.Problem) bool {
		return part && (slices.Contains(lacking, p.Code) || ofADefinition.MatchString(p.Detail))
	})
}

// The check itself, on a page made up for it.
func TestMistakesOfPagesAreFound(t *testing.T) {
	t.Parallel()
	page := "# A\n\n```yaml\n- writeLin: a\n```\n\n```yaml\nid: x\nroot:\n  - if: ${{ inputs.a }}\n    thn: []\n```\n\n```yaml\n- writeLine: ${{ variables.b }}\n```\n"
	n, problems := mistakes(page, "a.md")
	if got := strings.Join(problems, "\n"); n != 3 || !strings.Contains(got, "a.md:3: unknown-activity-type") || strings.Contains(got, "variables.b") || !strings.Contains(got, "a.md:7: ") {
		t.Errorf("%d blocks\n%s", n, got)
	}
}
