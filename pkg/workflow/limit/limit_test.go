package limit

import (
	"strings"
	"testing"
)

// A name is one that a path and a line can have.
func TestTheNameOfALimit(t *testing.T) {
	t.Parallel()
	for name, ok := range map[string]bool{
		"card-service": true, "a/b": true, "…": true, "a b%2F": true, strings.Repeat("x", MaxName): true,
		"": false, ".": false, "..": false, "a\nb": false, "\x1b[2J": false, "\xff": false, strings.Repeat("x", MaxName+1): false,
	} {
		if err := (Line{Limit: name}).Check(); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}
