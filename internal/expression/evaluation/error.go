package evaluation

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// Error says what is wrong with an expression, when it is compiled or when it
// is evaluated.
type Error struct {
	Kind    string // as in [workflow.Expression]
	Path    string // where in a tree of values, as a JSON pointer; "" at its top
	Source  string // the line at fault, shortened; "" if the expression has no text
	Line    int    // 1.. within the expression's text; 0 if it is not known
	Column  int    // 1.. in characters
	Message string // for people
	Err     error  // the cause; nil if the message is all there is
}

// Error gives the message with the place, such as
// "JavaScript 1:5: total is not defined".
func (e *Error) Error() string {
	at := e.Kind
	if e.Path != "" {
		at += " at " + e.Path
	}
	if e.Line != 0 {
		at = fmt.Sprintf("%s %d:%d", at, e.Line, e.Column)
	}
	return at + ": " + e.Message
}

// Where gives the place: Path, Line and Column.
func (e *Error) Where() (path string, line, column int) { return e.Path, e.Line, e.Column }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Causes that callers may tell apart, by [errors.Is].
var (
	ErrTime   = errors.New("it ran longer than it may")
	ErrMemory = errors.New("it used more memory than it may")
	ErrOutput = errors.New("its result is larger than it may be")
	ErrDepth  = errors.New("it is nested more deeply than it may be")
)

// Limits are the engine's, with defaults filled in.
func Limits(l engine.Limits) engine.Limits {
	if l.Script <= 0 {
		l.Script = 2 * time.Second
	}
	if l.Output <= 0 {
		l.Output = 1 << 20
	}
	return l
}

// LineAt is the place of a byte offset in text: line and column from 1, the
// column in characters, and the line itself.
func LineAt(text string, offset int) (line, column int, source string) {
	offset = min(max(offset, 0), len(text))
	start := strings.LastIndexByte(text[:offset], '\n') + 1
	return strings.Count(text[:offset], "\n") + 1, utf8.RuneCountInString(text[start:offset]) + 1, lineOf(text, start)
}

// lineOf is the line that starts at the byte offset start, shortened.
func lineOf(text string, start int) string {
	rest := text[start:]
	if i := strings.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[:i]
	}
	return Excerpt(rest)
}

// NthLine is line n (from 1) of text, shortened.
func NthLine(text string, n int) string {
	for ; n > 1; n-- {
		i := strings.IndexByte(text, '\n')
		if i < 0 {
			return ""
		}
		text = text[i+1:]
	}
	return lineOf(text, 0)
}

// Excerpt shortens text to what fits a message.
func Excerpt(text string) string { return workflow.CutBytes(strings.TrimRight(text, "\r"), 120) }

// Shown is the JSON of a value as an error names it: all of it or, where that is long, none. The beginning of a secret would not
// be found by who takes secrets out of errors.
func Shown(raw []byte, kind string) string {
	if text := string(raw); Excerpt(text) == text {
		return text
	}
	return fmt.Sprintf("%s of %d bytes", kind, len(raw))
}

// Ended is the error of an evaluation that was stopped by its context.
func Ended(ctx context.Context) error {
	return fmt.Errorf("evaluation was stopped: %w", context.Cause(ctx))
}

// MaxBrackets bounds how deep brackets are nested in an expression's text, so
// that no parser exhausts the stack.
const MaxBrackets = 250

// TooDeep reports where brackets are nested too deeply. Brackets within strings
// count too, which is harmless in a text that a person wrote.
func TooDeep(text string) (offset int, deep bool) {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '(', '[', '{':
			if depth++; depth > MaxBrackets {
				return i, true
			}
		case ')', ']', '}':
			depth = max(depth-1, 0)
		}
	}
	return 0, false
}
