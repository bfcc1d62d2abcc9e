package console

import (
	"strings"
	"testing"
)

// An argument that looks like a flag is none.
func TestAnArgumentIsNoFlag(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"o-1": "o-1", "-corr:x y": "-- -corr:x y", "--": "-- --", "": ""} {
		if got := strings.Join(word(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
