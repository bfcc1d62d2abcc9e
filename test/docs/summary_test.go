package docs

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var figure = regexp.MustCompile(`\d[\d,]*(?:\.\d+)?`)

// A summary that is not of its page is worse than none: each figure of a table
// in front stands in the page behind it too, or in its evidence, perhaps with more digits.
func TestSummariesAreOfTheirPages(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"performance.md", "verification.md"} {
		page := "docs/" + name
		missing, found := summary(read(t, os.DirFS(root), page) + read(t, os.DirFS(root), "docs/evidence/"+name))
		for _, m := range missing {
			t.Errorf("%s: %s is in the table under \"In short\" and nowhere behind it", page, m)
		}
		if found < 10 {
			t.Errorf("%s has %d figures in its summary", page, found)
		}
	}
}

// summary says which figures of the tables in a page's summary are not in the
// rest of it, and how many are there. Figures below 20 without a fraction are
// everywhere, and are not looked for.
func summary(text string) (missing []string, found int) {
	_, text, _ = strings.Cut(text, "\n## In short\n")
	short, rest, _ := strings.Cut(text, "\n## ")
	var behind []float64
	for _, f := range figure.FindAllString(rest, -1) {
		behind = append(behind, number(f))
	}
	for _, line := range strings.Split(short, "\n") {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		for _, f := range figure.FindAllString(line, -1) {
			_, fraction, _ := strings.Cut(f, ".")
			want, unit := number(f), math.Pow10(len(fraction))
			if want < 20 && fraction == "" {
				continue
			}
			found++
			if !someRoundsTo(behind, want, unit) {
				missing = append(missing, f)
			}
		}
	}
	return missing, found
}

func someRoundsTo(behind []float64, want, unit float64) bool {
	for _, b := range behind {
		if math.Round(b*unit) == math.Round(want*unit) {
			return true
		}
	}
	return false
}

func number(text string) float64 {
	f, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	if err != nil {
		return math.NaN() // no figure: equal to none
	}
	return f
}

func TestFiguresAreLookedFor(t *testing.T) {
	t.Parallel()
	missing, found := summary("# P\n\n## In short\n\n77 in words\n\n| 1,234 | 0.49 | 51 MB | 3 |\n| 98.7 |\n\n## Rest\n\n1234, 0.4913, 50.64; 98.64\n")
	if found != 4 || len(missing) != 1 || missing[0] != "98.7" {
		t.Errorf("%d figures found, missing %v; want 4, and 98.7 missing", found, missing)
	}
}
