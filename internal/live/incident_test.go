package live_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/weft-run/weft/internal/live"
)

// A row has the beginning of a message, of whole characters, and never a part of a resume link.
func TestARowHasTheBeginningOfAMessage(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{"": "", "no stock": "no stock", strings.Repeat("ä", 300): strings.Repeat("ä", 200), strings.Repeat("x", 200): strings.Repeat("x", 200)} {
		if got := live.ShortIncident(message); got != want {
			t.Errorf("%.20q: %d characters, want %d", message, utf8.RuneCountInString(got), utf8.RuneCountInString(want))
		}
	}
	token := "eyJiIjoi" + strings.Repeat("A", 60) + "." + strings.Repeat("B", 43)
	for n := range 220 { // wherever the cut falls
		if got := live.ShortIncident(strings.Repeat("x", n) + " https://weft.example/links/" + token + " failed"); strings.Contains(got, "eyJiIjoi") {
			t.Fatalf("behind %d characters a part of a link is shown: %s", n, got)
		}
	}
}
