package elsajson

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

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
