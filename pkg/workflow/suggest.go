package workflow

import (
	"slices"
	"strings"
)

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
func Nearest(word string, candidates []string) string {
	if word == "" || len(word) > MaxIDLength {
		return ""
	}
	sorted := slices.Sorted(slices.Values(candidates))
	best, bestDist := "", max(1, min(3, len(word)/3))+1
	for _, c := range sorted {
		if c == word || len(c) > MaxIDLength {
			continue
		}
		if strings.EqualFold(c, word) {
			return c
		}
		if diff := len(word) - len(c); diff >= 4*bestDist || diff <= -4*bestDist {
			continue // a character has up to four bytes
		}
		if d := distance(strings.ToLower(word), strings.ToLower(c)); d < bestDist {
			best, bestDist = c, d
		}
	}
	return best
}

// distance is the number of edits between a and b, where swapping neighbours
// counts as one (optimal string alignment).
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, prev, cur := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(x); i++ {
		cur[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev, cur = prev, cur, before
	}
	return prev[len(y)]
}
