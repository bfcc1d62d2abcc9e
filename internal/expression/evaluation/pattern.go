package evaluation

import (
	"fmt"
	"regexp"
	"regexp/syntax"
)

// MatchSteps bounds one match of a regular expression.
const MatchSteps = 50_000_000

// Pattern is a regular expression and what a match costs.
type Pattern struct {
	*regexp.Regexp
	Cost int // steps for each byte, about
}

// CompilePattern compiles a regular expression and weighs it: matching takes at
// most about cost steps for each byte.
func CompilePattern(text string) (Pattern, error) {
	if len(text) > 4096 {
		return Pattern{}, fmt.Errorf("the regular expression is longer than 4 KiB")
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return Pattern{}, err
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return Pattern{}, err
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return Pattern{}, err
	}
	return Pattern{re, len(prog.Inst)}, nil
}
