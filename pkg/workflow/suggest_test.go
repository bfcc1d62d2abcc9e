package workflow

import (
	"strings"
	"testing"
)

func TestNearestFindsSlipsOnly(t *testing.T) {
	t.Parallel()
	names := []string{"writeLine", "while", "fork", "for", "if", "sendHttpRequest"}
	for word, want := range map[string]string{
		"writeLin": "writeLine", "WriteLine": "writeLine", "wrietLine": "writeLine", "sendHTTPrequst": "sendHttpRequest",
		"fro": "for", "xyz": "", "": "", "somethingElse": "", "forkk": "fork", strings.Repeat("x", 10_000): "",
	} {
		if got := Nearest(word, names); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
	if got := DidYouMean("iff", names); got != " (did you mean if?)" {
		t.Errorf("%q", got)
	}
}
