package near

import (
	"math/rand/v2"
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

// What is near is as far as all edits say, and what is not is far.
func TestDistanceIsThatOfAllEdits(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(17, 4))
	word := func(n int) []rune {
		out := make([]rune, n)
		for i := range out {
			out[i] = []rune("aabcü")[random.IntN(5)]
		}
		return out
	}
	for range 20_000 {
		x := word(random.IntN(12))
		y := word(random.IntN(12))
		if random.IntN(2) == 0 { // near it
			y = append([]rune(nil), x...)
			for range random.IntN(4) {
				switch at := random.IntN(len(y) + 1); {
				case at == len(y):
					y = append(y, 'z')
				case random.IntN(2) == 0:
					y = append(y[:at], y[at+1:]...)
				case at+1 < len(y):
					y[at], y[at+1] = y[at+1], y[at]
				}
			}
		}
		for far := 1; far <= 4; far++ {
			if got, want := distance(x, y, far), min(far, allEdits(x, y)); got != want {
				t.Fatalf("%s and %s: %d, want %d, of %d", string(x), string(y), got, want, far)
			}
		}
	}
	long := []rune(strings.Repeat("ab", mostLetters/2))
	if d := distance(long, long[1:], 4); d != 1 {
		t.Errorf("the longest and one less: %d", d)
	}
}

// allEdits is distance without a bound.
func allEdits(x, y []rune) int {
	rows := make([][]int, len(x)+1)
	for i := range rows {
		rows[i] = make([]int, len(y)+1)
		for j := range rows[i] {
			switch {
			case i == 0 || j == 0:
				rows[i][j] = i + j
				continue
			case x[i-1] == y[j-1]:
				rows[i][j] = rows[i-1][j-1]
			default:
				rows[i][j] = rows[i-1][j-1] + 1
			}
			rows[i][j] = min(rows[i][j], rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(x)][len(y)]
}
