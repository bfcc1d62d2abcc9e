package instances

import (
	"strings"
	"testing"

	"github.com/weft-run/weft/internal/authoring/compare"
	"github.com/weft-run/weft/pkg/apiclient"
)

// What two instances did again in the same way stands beside each other, behind where they parted.
func TestWaysAreBesideEachOther(t *testing.T) {
	t.Parallel()
	entries := func(words string) (all []apiclient.Journal) {
		for w := range strings.FieldsSeq(words) {
			all = append(all, apiclient.Journal{Event: w})
		}
		return all
	}
	for _, c := range []struct {
		same, a, b string
		parted     int
		want       string
	}{
		{"x y", "", "", 0, "x=x y=y"},
		{"", "a", "b", 1, "!a|b"},
		{"x", "a b", "", 2, "x=x !a| b|"},
		{"x", "", "a b", 2, "x=x !|a |b"},
		{"", "a c", "b c", 1, "!a|b c=c"},
		{"", "a a c d", "b c e", 1, "!a|b a| c=c d|e"},
		{"", "c", "a b c", 1, "!|a |b c=c"},
		{"", "a b c", "c", 1, "!a| b| c=c"},
	} {
		var got []string
		for _, r := range besides(&compare.Ways{Parted: c.parted, Same: entries(c.same), A: entries(c.a), B: entries(c.b)}) {
			a, b, mark := "", "", "|"
			if r.A != nil {
				a = r.A.Event
			}
			if r.B != nil {
				b = r.B.Event
			}
			if r.Same {
				mark = "="
			}
			if r.Parted {
				a = "!" + a
			}
			got = append(got, a+mark+b)
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%q, %q and %q: %s, want %s", c.same, c.a, c.b, text, c.want)
		}
	}
}
