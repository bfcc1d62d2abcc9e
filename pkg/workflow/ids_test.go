package workflow_test

import (
	"strings"
	"testing"

	"github.com/weft-run/weft/pkg/workflow"
)

func TestIDsHaveAPathOfTheirOwn(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{
		"a": true, "...": true, ".a": true, "a..b": true, "-": true, "a:b_c-d.e": true, strings.Repeat("a", 128): true,
		".": false, "..": false, "": false, "a/b": false, "%2e": false, "a~b": false, "é": false, strings.Repeat("a", 129): false,
	} {
		if err := workflow.CheckID("it", id); (err == nil) != want {
			t.Errorf("%q: %v", id, err)
		}
	}
}
