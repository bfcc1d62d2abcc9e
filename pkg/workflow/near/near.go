package near

import (
	"slices"
	"strings"
)

// mostLetters is how long a name is that is compared: longer than any id.
const mostLetters = 128

// DidYouMean gives " (did you mean x?)" for the candidate that is nearest to
// word, or "" when none is near enough to be a slip.
func DidYouMean(word string, candidates []string) string {
	if near := Nearest(word, candidates); near != "" {
		return " (did you mean " + near + "?)"
	}
	return ""
}

// Nearest gives the candidate that differs from word least: by case only, or by
// a few letters added, dropped, changed or swapped. It gives "" when none is
// near. Equal distances go to the candidate that sorts first.
func Nearest(word string, candidates []string) string { return NewNames(candidates).Nearest(word) }

// Names are those among which many words are looked for. Make them with [NewNames].
type Names struct{ names []name }

type name struct {
	text    string
	letters []rune // in lower case
}

// NewNames takes names of up to 128 bytes; nothing is near a longer one.
func NewNames(candidates []string) *Names {
	n := &Names{}
	for _, c := range slices.Sorted(slices.Values(candidates)) {
		if len(c) <= mostLetters {
			n.names = append(n.names, name{c, []rune(strings.ToLower(c))})
		}
	}
	return n
}

// Nearest is [Nearest] among them. For each it compares less than 1,000 pairs of letters, and few
// where the word is quite another one.
func (n *Names) Nearest(word string) string {
	if word == "" || len(word) > mostLetters {
		return ""
	}
	best, bestDist := "", max(1, min(3, len(word)/3))+1
	var letters []rune // of the word, once they are needed
	for i := range n.names {
		c := &n.names[i]
		if c.text == word {
			continue
		}
		if strings.EqualFold(c.text, word) {
			return c.text
		}
		if diff := len(word) - len(c.text); diff >= 4*bestDist || diff <= -4*bestDist {
			continue // a character has up to four bytes
		}
		if letters == nil {
			letters = []rune(strings.ToLower(word))
		}
		if d := distance(letters, c.letters, bestDist); d < bestDist {
			best, bestDist = c.text, d
		}
	}
	return best
}

func withoutCommonEnds(x, y []rune) (a, b []rune) {
	for len(x) > 0 && len(y) > 0 && x[0] == y[0] {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	return x, y
}

// distance is the number of edits between x and y, where swapping neighbours counts as one
// (optimal string alignment), or far if there are as many or more: so only pairs of letters are
// looked at that stand less than far places apart. Both have mostLetters at most.
func distance(x, y []rune, far int) int {
	x, y = withoutCommonEnds(x, y)
	if d := len(x) - len(y); d >= far || -d >= far {
		return far
	}
	var rows [3][mostLetters + 2]int
	before, prev, cur := &rows[0], &rows[1], &rows[2]
	for j := range len(y) + 1 {
		prev[j] = min(j, far)
	}
	nearer := true // something of the row before is nearer than far
	for i := 1; i <= len(x); i++ {
		from, to := max(1, i-far+1), min(len(y), i+far-1)
		if cur[from-1] = far; from == 1 {
			cur[0] = min(i, far)
		}
		was := nearer
		nearer = cur[from-1] < far
		for j := from; j <= to; j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			cur[j] = min(far, prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
			nearer = nearer || cur[j] < far
		}
		cur[to+1] = far
		if !was && !nearer { // a swap reaches back two rows
			return far
		}
		before, prev, cur = prev, cur, before
	}
	return prev[len(y)]
}
