package wire_test

import (
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/httpapi/wire"
)

func TestCountValues(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]int64{
		`1`: 1, `{}`: 1, `[ ]`: 1, `[{},{}]`: 3, `[[],[[]], 1 , "a,[{b\",\\"]`: 6, `{"a": 1, "b": [1, 2]}`: 5, "": 0, `"open`: 1, `"\`: 1,
		"[" + strings.Repeat("{},", 999) + "{}]": 1001,
	} {
		if got := wire.CountValues([]byte(body)); got != want {
			t.Errorf("%.40s has %d values, want %d", body, got, want)
		}
	}
}
