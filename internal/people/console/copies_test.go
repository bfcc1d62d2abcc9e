package console

import (
	"strings"
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

// An argument that looks like a flag is none.
func TestAnArgumentIsNoFlag(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"o-1": "o-1", "-corr:x y": "-- -corr:x y", "--": "-- --", "": ""} {
		if got := strings.Join(word(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
