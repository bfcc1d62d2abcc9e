package yaml_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/weft-run/weft/pkg/workflow"
)

// testTypes reads the descriptors that the notations' tests share.
func testTypes(t testing.TB) workflow.Types {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "testdata", "types.json"))
	if err != nil {
		t.Fatal(err)
	}
	var ds workflow.Descriptors
	if err := json.Unmarshal(raw, &ds); err != nil {
		t.Fatal(err)
	}
	return ds
}

// same compares definitions without places.
var same = cmp.Options{cmpopts.IgnoreTypes(workflow.Place{}), cmpopts.EquateEmpty()}

// diff compares definitions, without the nodeIds that JSON derives.
func diff(want, got *workflow.Definition) string {
	for _, d := range []*workflow.Definition{want, got} {
		workflow.Walk(d.Root, func(a, _ *workflow.Activity, _ int) bool {
			delete(a.Extra, "nodeId")
			return true
		})
	}
	return cmp.Diff(want, got, same)
}
