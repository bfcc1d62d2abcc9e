package differ

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestDifferencesLeadFromOneTextToTheOther applies what differs to the old text, for any two.
func TestDifferencesLeadFromOneTextToTheOther(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "b", "c"}), 0, 40)
		old, now := texts.Draw(t, "old"), texts.Draw(t, "now")
		var rest []string
		at := 0
		for _, d := range Lines(old, now) {
			rest = append(rest, old[at:at+d.Gap]...)
			at += d.Gap
			switch d.Mark {
			case "-":
				if d.Old != at+1 || old[at] != d.Text {
					t.Fatalf("%+v at %d", d, at)
				}
				at++
			case "+":
				rest = append(rest, d.Text)
				if d.New != len(rest) {
					t.Fatalf("%+v at %d", d, len(rest))
				}
			default:
				rest = append(rest, old[at])
				at++
			}
		}
		rest = append(rest, old[at:]...)
		if !slices.Equal(rest, now) {
			t.Fatalf("%q, want %q", rest, now)
		}
	})
	for _, c := range []struct {
		old, now string
		edits    int
	}{{"a b c d", "a b c d", 0}, {"a b c d", "a x c d", 2}, {"", "a", 1}, {"a b c a b b a", "c b a b a c", 5}} {
		edits := 0
		for _, d := range Lines(strings.Fields(c.old), strings.Fields(c.now)) {
			if d.Mark != " " {
				edits++
			}
		}
		if edits != c.edits {
			t.Errorf("%q to %q: %d edits, want %d", c.old, c.now, edits, c.edits)
		}
	}
	var far, other []string
	for i := range 20_000 {
		far, other = append(far, strconv.Itoa(i)), append(other, strconv.Itoa(-i-1))
	}
	if got := Lines(far, other); len(got) != 40_000 {
		t.Errorf("two texts that have nothing in common differ in %d lines", len(got))
	}
}
