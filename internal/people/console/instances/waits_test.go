package instances

import (
	"fmt"
	"testing"

	"github.com/weft-run/weft/internal/people/console/shape"
)

// What an event may bring is guessed from what is read of it, and from nothing else.
func TestASampleIsGuessed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ source, event, want string }{
		{"root:\n  - event: paid\n    result: p\n  - writeLine: ${{ variables.p.by + variables.p.by + variables.other.x }}\n  - if: ${{ variables.p.n >= 3 }}\n", "paid", `{"by": "…", "n": 0}`},
		{"outputs:\n  granted: ${{ variables.d?.granted }}\nroot:\n  - event: decided\n    result: d\n  - if: ${{ variables.d.granted }}\n    then: [{writeLine: \"${{ variables.d.by }}\"}]\n", "decided", `{"granted": true, "by": "…"}`},
		{"root:\n  - event: 'paid' # it\n    timeout: 3h\n\n    result: \"p\"\n  - writeLine: ${{ variables.p.by }}\n", "paid", `{"by": "…"}`},
		{"root:\n  - event: paid\n  - event: sent\n    result: p\n  - writeLine: ${{ variables.p.by }}\n", "paid", ""},
		{"root:\n  - event: paid\n    result: p\n", "paid", ""},
		{"root:\n  - event: paid\n    result: p\n  - writeLine: ${{ variables.p.by }}\n", "other", ""},
		{"", "paid", ""}, {"{\"root\": {}}", "", ""}, {"- event:", "", ""},
	} {
		if got := sample(c.source, c.event); got != c.want {
			t.Errorf("%q in %q: %q, want %q", c.event, c.source, got, c.want)
		}
	}
}

// Of the widest instance a page has a hundred places, and leads to all.
func TestWaitsArePaged(t *testing.T) {
	t.Parallel()
	all := make([]shape.Bookmark, 10_000)
	for i := range all {
		all[i].BookmarkID = fmt.Sprint(i)
	}
	for from, want := range map[string]string{
		"":      "0 100 1 100  /i?from=100&tab=waits",
		"100":   "100 100 101 200 /i?from=0&tab=waits /i?from=200&tab=waits",
		"9999":  "9900 100 9901 10000 /i?from=9800&tab=waits ",
		"50000": "9900 100 9901 10000 /i?from=9800&tab=waits ",
		"-1":    "0 100 1 100  /i?from=100&tab=waits",
		"x":     "0 100 1 100  /i?from=100&tab=waits",
	} {
		w := waitsFrom(all, "/i", from)
		if got := fmt.Sprintf("%s %d %d %d %s %s", w.Shown[0].BookmarkID, len(w.Shown), w.From, w.To, w.Before, w.Next); got != want {
			t.Errorf("from %q: %q, want %q", from, got, want)
		}
	}
	for n, want := range map[int]string{0: "0 1 0  ", 1: "1 1 1  ", 100: "100 1 100  ", 101: "100 1 100  /i?from=100&tab=waits"} {
		w := waitsFrom(all[:n], "/i", "")
		if got := fmt.Sprintf("%d %d %d %s %s", len(w.Shown), w.From, w.To, w.Before, w.Next); got != want {
			t.Errorf("of %d: %q, want %q", n, got, want)
		}
	}
}
