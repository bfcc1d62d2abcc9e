package engine

import (
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/elsajson/names"
)

// maxCandidates bounds the names that one suggestion looks at: a hostile definition has many bad names.
const maxCandidates = 500

// suggest gives " (did you mean x?)" for the candidate nearest to name, what Elsa's activity of that name is here, or "".
func suggest(name string, candidates []string) string {
	if way := names.InsteadOf(name); way != "" || len(candidates) > maxCandidates {
		return way
	}
	return workflow.DidYouMean(name, candidates)
}
