package page

import (
	"testing"
)

// What is shown for a shell is one word of it.
func TestWordsOfAShellAreQuoted(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"o-1": "o-1", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$(rm)": "'$(rm)'", "a\nb": "'a\nb'", "`x`": "'`x`'", "ü": "'ü'", "a;b": "'a;b'", "a&b": "'a&b'"} {
		if got := quoted(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if got := command([]string{"instances list", "--", "-corr:x y"}); got != "weft instances list -- '-corr:x y'" {
		t.Error(got)
	}
}
