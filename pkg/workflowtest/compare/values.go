package compare

import (
	"strings"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// Equal compares values as JSON does: 1 and 1.0 are the same number.
func Equal(a, b any) bool {
	na, errA := engine.Normalize(a)
	nb, errB := engine.Normalize(b)
	return errA == nil && errB == nil && same(na, nb)
}

func same(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		m, ok := b.(map[string]any)
		if !ok || len(m) != len(a) {
			return false
		}
		for k, v := range a {
			w, ok := m[k]
			if !ok || !same(v, w) {
				return false
			}
		}
		return true
	case []any:
		l, ok := b.([]any)
		if !ok || len(l) != len(a) {
			return false
		}
		for i := range a {
			if !same(a[i], l[i]) {
				return false
			}
		}
		return true
	}
	return a == b
}

// MaxShown is how many bytes [Show] gives, at most.
const MaxShown = 2000

// Show gives a value as JSON, cut when it is long.
func Show(v any) string {
	raw, err := workflow.Marshal(v)
	if err != nil {
		return "a value without a JSON form"
	}
	return workflow.CutBytes(string(raw), MaxShown)
}

// maxDiff is up to how many lines [Lines] looks for what is common.
const maxDiff = 1000

// Lines shows what was wanted (-) and not got, got (+) and not wanted, and
// what is common.
func Lines(want, got []string) string {
	want, got = want[:min(len(want), maxDiff)], got[:min(len(got), maxDiff)]
	// common[i][j] is the length of the longest common part of want[i:] and got[j:].
	common := make([][]int, len(want)+1)
	for i := range common {
		common[i] = make([]int, len(got)+1)
	}
	for i := len(want) - 1; i >= 0; i-- {
		for j := len(got) - 1; j >= 0; j-- {
			if want[i] == got[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var out []string
	i, j := 0, 0
	for i < len(want) || j < len(got) {
		switch {
		case i < len(want) && j < len(got) && want[i] == got[j]:
			out = append(out, "  "+want[i])
			i, j = i+1, j+1
		case j == len(got) || i < len(want) && common[i+1][j] >= common[i][j+1]:
			out = append(out, "- "+want[i])
			i++
		default:
			out = append(out, "+ "+got[j])
			j++
		}
	}
	return strings.Join(out, "\n")
}
