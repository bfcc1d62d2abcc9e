package engine

import "github.com/weft-run/weft/pkg/workflow"

// maxCandidates bounds the names that one suggestion looks at, so that a
// hostile definition cannot buy much time with many bad names.
const maxCandidates = 500

// suggest gives " (did you mean x?)" for the candidate nearest to name, or "".
func suggest(name string, candidates []string) string {
	if len(candidates) > maxCandidates {
		return ""
	}
	return workflow.DidYouMean(name, candidates)
}
