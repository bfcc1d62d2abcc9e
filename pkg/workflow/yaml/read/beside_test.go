package read

import (
	"testing"

	"github.com/weft-run/weft/pkg/workflow/yaml/notation"
)

func TestEveryCommonKeyIsRead(t *testing.T) {
	t.Parallel()
	for _, k := range notation.Common {
		if commonReaders[k.Name].read == nil {
			t.Errorf("nothing reads the key %s", k.Name)
		}
	}
	if len(commonReaders) != len(notation.Common) {
		t.Errorf("%d readers for %d keys", len(commonReaders), len(notation.Common))
	}
}
