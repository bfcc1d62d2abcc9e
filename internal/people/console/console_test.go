package console

import (
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"testing"
)

// The page about oneself shows each key that leads somewhere.
func TestThePageShowsTheKeys(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile("app/console.ts")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("templates/me.html")
	if err != nil {
		t.Fatal(err)
	}
	_, places, _ := strings.Cut(string(script), "const places: Record<string, string> = {")
	places, _, _ = strings.Cut(places, "}")
	var keys int
	for entry := range strings.SplitSeq(places, ",") {
		if key, _, is := strings.Cut(strings.TrimSpace(entry), ":"); is {
			keys++
			if row := "<kbd>g</kbd> <kbd>" + key + "</kbd>"; !strings.Contains(string(page), row) {
				t.Errorf("the page does not show g %s", key)
			}
		}
	}
	if shown := strings.Count(string(page), "<kbd>g</kbd>"); keys < 10 || shown != keys {
		t.Errorf("the page shows %d keys, and there are %d", shown, keys)
	}
}

// TestCodeMirrorIsAsItWasRecorded holds the file to what its page says of it.
func TestCodeMirrorIsAsItWasRecorded(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("codemirror/README.md")
	if err != nil {
		t.Fatal(err)
	}
	file, err := static.ReadFile("static/codemirror.js")
	if err != nil {
		t.Fatal(err)
	}
	if sum := fmt.Sprintf("%x", sha256.Sum256(file)); !strings.Contains(string(page), sum) {
		t.Errorf("codemirror/README.md does not have the hash %s", sum)
	}
}
