package workflow

import "github.com/weft-run/weft/pkg/workflow/near"

// DidYouMean gives " (did you mean x?)" for the candidate that is nearest to
// word, or "" when none is near enough to be a slip.
func DidYouMean(word string, candidates []string) string { return near.DidYouMean(word, candidates) }

// Nearest gives the candidate that differs from word least, or "": [near.Nearest].
func Nearest(word string, candidates []string) string { return near.Nearest(word, candidates) }
