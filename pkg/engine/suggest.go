package engine

import "strings"

// suggest gives ` (did you mean "x"?)` for the candidate nearest to name, or ""
// if none is near.
func suggest(name string, candidates []string) string {
	best, bestDist := "", len(name)/3+2
	for _, c := range candidates {
		if d := distance(strings.ToLower(name), strings.ToLower(c), bestDist); d < bestDist {
			best, bestDist = c, d
		}
	}
	if best == "" {
		return ""
	}
	return ` (did you mean "` + best + `"?)`
}

// distance is the edit distance of a and b, or limit if it is not below that.
func distance(a, b string, limit int) int {
	if len(a) > 100 || len(b) > 100 || len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	prev, cur := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := range len(a) {
		cur[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			cur[j+1] = min(prev[j]+cost, prev[j+1]+1, cur[j]+1)
		}
		prev, cur = cur, prev
	}
	return prev[len(b)]
}
