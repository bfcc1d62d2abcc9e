package check_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/authoring/check"
	"github.com/weft-run/weft/internal/expression"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson"
	"github.com/weft-run/weft/pkg/workflow/yaml"
)

// places of definitions that are right: examples, and Elsa's own.
var places = []string{"../../../examples", "../../../test/conformance/testdata/good", "../../../pkg/workflow/elsajson/testdata", "../../../internal/catalog/testdata"}

func TestDefinitionsThatAreRightGiveNoProblem(t *testing.T) {
	t.Parallel()
	n := 0
	for _, dir := range places {
		err := filepath.WalkDir(filepath.FromSlash(dir), func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.Contains(file, ".test.") {
				return err
			}
			src, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			var def *workflow.Definition
			var problems workflow.Problems
			switch filepath.Ext(file) {
			case ".yaml":
				def, problems = yaml.Read(src, file, activities.Default())
			case ".json":
				def, problems = elsajson.Read(src, file, activities.Default())
			default:
				return nil
			}
			if len(problems) > 0 {
				return nil // it is no definition, or holds what its own test looks at
			}
			n++
			_, problems = check.Definition(def, options())
			for _, p := range problems.WithExcerpts(src) {
				if p.Code != "unknown-definition" && p.Code != "not-usable-as-activity" && p.Code != "unknown-activity-type" && p.Code != "not-a-trigger" {
					t.Errorf("%s: %s %s: %s\n%s", p.Place, p.Severity(), p.Code, p.Detail, p.Excerpt)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	if n < 15 {
		t.Errorf("only %d definitions were found", n)
	}
}

func options() check.Options {
	return check.Options{Options: engine.Options{Registry: activities.Default(), Evaluators: expression.All()}}
}
