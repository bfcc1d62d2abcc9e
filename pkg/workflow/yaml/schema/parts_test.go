package schema

import (
	"testing"

	"github.com/weft-run/weft/pkg/workflow/yaml/notation"
)

func TestEveryCommonKeyHasASchema(t *testing.T) {
	t.Parallel()
	for _, k := range notation.Common {
		if commonSchemas[k.Name] == nil {
			t.Errorf("the key %s has no schema", k.Name)
		}
	}
	if len(commonSchemas) != len(notation.Common) {
		t.Errorf("%d schemas for %d keys", len(commonSchemas), len(notation.Common))
	}
}
