package workflow

import (
	"regexp"

	"github.com/weft-run/weft/pkg/workflow/near"
)

// DidYouMean gives " (did you mean x?)" for the candidate that is nearest to
// word, or "" when none is near enough to be a slip.
func DidYouMean(word string, candidates []string) string { return near.DidYouMean(word, candidates) }

// Nearest gives the candidate that differs from word least, or "": [near.Nearest].
func Nearest(word string, candidates []string) string { return near.Nearest(word, candidates) }

// bareCode is how an expression begins that lacks its ${{ }}, or has another language's.
var bareCode = regexp.MustCompile(`^\s*(?:\{\{\s*)?!?\(*\s*(?:inputs|variables|outputs|secrets)\s*[.\[(]\s*["'\w]`)

// IsBareCode tells whether a text reads like an expression that lacks its ${{ }}: inputs.amount > 10.
func IsBareCode(text string) bool { return bareCode.MatchString(text) }
