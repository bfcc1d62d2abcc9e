package evaluation

import (
	"errors"
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
		return Pattern{}, unreadable(err)
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

// unreadable says of a pattern what is wrong with it.
func unreadable(err error) error {
	var wrong *syntax.Error
	if !errors.As(err, &wrong) {
		return err
	}
	what, known := map[syntax.ErrorCode]string{
		syntax.ErrInvalidPerlOp:         "this is not known here; what looks ahead or back, such as (?=…), is not there",
		syntax.ErrInvalidEscape:         "this means nothing behind a backslash; \\1 and its like are not there",
		syntax.ErrInvalidCharClass:      "there are no such characters",
		syntax.ErrInvalidCharRange:      "its end is before its beginning, or there are no such characters",
		syntax.ErrInvalidNamedCapture:   "a name of a group is written (?P<name>…), once",
		syntax.ErrInvalidRepeatOp:       "a repetition is repeated",
		syntax.ErrInvalidRepeatSize:     "it is repeated too often, or from more to fewer",
		syntax.ErrInvalidUTF8:           "this is no text",
		syntax.ErrMissingBracket:        "a closing ] is missing",
		syntax.ErrMissingParen:          "a closing ) is missing",
		syntax.ErrMissingRepeatArgument: "there is nothing before it that is repeated",
		syntax.ErrTrailingBackslash:     "it ends in a backslash",
		syntax.ErrUnexpectedParen:       "a ) closes nothing",
	}[wrong.Code]
	if !known {
		what = "there is more of it than a pattern may hold"
	}
	return fmt.Errorf("the regular expression cannot be read at %s: %s", Excerpt(wrong.Expr), what)
}
