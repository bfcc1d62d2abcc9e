package metrics_test

import (
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"
)

// Every package may say what happened, so this one must not import any: the
// way back would be a cycle, or a reason to leave something unmeasured. The words of
// the domain, which do nothing, are labels.
func TestImportsNothingButTheDomain(t *testing.T) {
	t.Parallel()
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		checked++
		for _, spec := range parsed.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			prometheus := strings.HasPrefix(path, "github.com/prometheus/client_golang/") || path == "github.com/prometheus/client_model/go" // what its series are read into
			if strings.Contains(path, ".") && !prometheus && path != "github.com/weft-run/weft/pkg/workflow" {
				t.Errorf("%s imports %s: only the standard library, client_golang, its model and pkg/workflow are allowed here", f.Name(), path)
			}
		}
	}
	if checked == 0 {
		t.Fatal("no source files found")
	}
}
