package liquid

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/internal/expression/liquid/value"
	"github.com/weft-run/weft/pkg/workflow"
)

// A mistake is what cannot be read, with the byte of the template where it is.
type mistake struct {
	at  int
	err error
}

// Error implements [error].
func (m *mistake) Error() string { return m.err.Error() }

// Unwrap gives the cause.
func (m *mistake) Unwrap() error { return m.err }

func mistaken(at int, format string, args ...any) error {
	return &mistake{at, fmt.Errorf(format, args...)}
}

// lexemes are the words and signs of expressions.
var lexemes = regexp.MustCompile(`"[^"]*"|'[^']*'|-?\d+(?:\.\d+)?|[A-Za-z_][\w-]*\??|\.\.|==|!=|<>|<=|>=|\S`)

// A reader reads the expressions of one tag, from left to right.
type reader struct {
	code  string // all that it reads
	at    int    // the byte of the template where that begins
	words [][]int
	next  int
	depth int
}

func newReader(code string, at int) *reader {
	return &reader{code: code, at: at, words: lexemes.FindAllStringIndex(code, -1)}
}

// peek is the word that comes; "" at the end.
func (r *reader) peek() string { return r.ahead(0) }

func (r *reader) ahead(n int) string {
	if r.next+n >= len(r.words) {
		return ""
	}
	return r.code[r.words[r.next+n][0]:r.words[r.next+n][1]]
}

// glued reports whether the word n ahead follows the one before it without a space.
func (r *reader) glued(n int) bool {
	i := r.next + n
	return i > 0 && i < len(r.words) && r.words[i][0] == r.words[i-1][1]
}

func (r *reader) take() string {
	w := r.peek()
	r.next++
	return w
}

// accept takes the word that comes if it is this one.
func (r *reader) accept(word string) bool {
	if r.peek() != word || word == "" {
		return false
	}
	r.next++
	return true
}

// unread is the error of code that means nothing.
func (r *reader) unread() error {
	code := strings.TrimSpace(r.code)
	return mistaken(r.at, "this cannot be read: %s%s", evaluation.Excerpt(code), insteadOf(code))
}

// end wants that nothing follows.
func (r *reader) end() error {
	if r.next < len(r.words) {
		return r.unread()
	}
	return nil
}

func (r *reader) deeper() error {
	if r.depth++; r.depth > evaluation.MaxDepth {
		return &mistake{r.at, evaluation.ErrDepth}
	}
	return nil
}

// condition reads comparisons joined by and, or: from right to left, and neither binds stronger.
func (r *reader) condition() (expression, error) {
	if err := r.deeper(); err != nil {
		return nil, err
	}
	defer func() { r.depth-- }()
	left, err := r.comparison()
	if err != nil {
		return nil, err
	}
	switch word := r.peek(); word {
	case "and", "or":
		r.next++
		right, err := r.condition()
		return joined{left, right, word == "and"}, err
	}
	return left, nil
}

func (r *reader) comparison() (expression, error) {
	left, err := r.filtered()
	if err != nil {
		return nil, err
	}
	switch op := r.peek(); op {
	case "==", "!=", "<>", "<", "<=", ">", ">=", "contains":
		r.next++
		right, err := r.filtered()
		return compared{left, right, op}, err
	}
	return left, nil
}

// filtered reads a value and the filters behind it.
func (r *reader) filtered() (expression, error) {
	e, err := r.value()
	if err != nil {
		return nil, err
	}
	for n := 0; r.accept("|"); n++ {
		if n == evaluation.MaxDepth {
			return nil, &mistake{r.at, evaluation.ErrDepth}
		}
		f := filtered{of: e, at: r.at, name: r.take()}
		if !firstName.MatchString(f.name) {
			return nil, r.unread()
		}
		if r.accept(":") {
			if err := r.arguments(&f); err != nil {
				return nil, err
			}
		}
		e = f
	}
	return e, nil
}

func (r *reader) arguments(f *filtered) error {
	for {
		name := ""
		if r.ahead(1) == ":" && firstName.MatchString(r.peek()) {
			name = r.take()
			r.next++
		}
		v, err := r.value()
		if err != nil {
			return err
		}
		if name == "" {
			f.args = append(f.args, v)
		} else {
			f.named = append(f.named, named{name, v})
		}
		if !r.accept(",") {
			return nil
		}
	}
}

// value reads a literal, a path, a range or a condition in parentheses.
func (r *reader) value() (expression, error) {
	word := r.take()
	switch {
	case word == "":
		return nil, r.unread()
	case word == "(":
		return r.parenthesis()
	case word[0] == '"' || word[0] == '\'':
		if len(word) < 2 {
			return nil, r.unread()
		}
		return literal{word[1 : len(word)-1]}, nil
	case word[0] == '-' && len(word) > 1, word[0] >= '0' && word[0] <= '9':
		if r.glued(0) && (firstName.MatchString(r.peek()) || r.peek() == ".") {
			return nil, r.unread() // 1e3, 1.x
		}
		return r.number(word)
	case word == "[":
		r.next--
		return r.path(path{})
	case firstName.MatchString(word):
		if v, ok := constants[word]; ok && !(r.peek() == "." && r.glued(0)) && r.peek() != "[" {
			return literal{v}, nil
		}
		return r.path(path{name: word})
	}
	return nil, r.unread()
}

var constants = map[string]any{"true": true, "false": false, "nil": nil, "null": nil, "empty": value.Empty{}, "blank": value.Blank{}}

func (r *reader) number(text string) (expression, error) {
	if strings.Contains(text, ".") {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, mistaken(r.at, "the number %s is out of range", evaluation.Excerpt(text))
		}
		return literal{f}, nil
	}
	if len(text) > evaluation.MaxDigits {
		return nil, mistaken(r.at, "the number %s has more than %d digits", evaluation.Excerpt(text), evaluation.MaxDigits)
	}
	return literal{workflow.Number(text)}, nil
}

// parenthesis reads (1..3), or (a and b).
func (r *reader) parenthesis() (expression, error) {
	if err := r.deeper(); err != nil {
		return nil, err
	}
	defer func() { r.depth-- }()
	e, err := r.condition()
	if err != nil {
		return nil, err
	}
	if r.accept("..") {
		last, err := r.value()
		if err != nil {
			return nil, err
		}
		e = ranged{e, last}
	}
	if !r.accept(")") {
		return nil, r.unread()
	}
	return e, nil
}

// path reads the fields and indexes behind a name.
func (r *reader) path(p path) (expression, error) {
	for len(p.steps) <= evaluation.MaxDepth {
		switch {
		case r.peek() == "." && firstName.MatchString(r.ahead(1)):
			r.next++
			p.steps = append(p.steps, literal{r.take()})
		case r.accept("["):
			if err := r.deeper(); err != nil {
				return nil, err
			}
			index, err := r.value()
			r.depth--
			if err != nil {
				return nil, err
			}
			if !r.accept("]") {
				return nil, r.unread()
			}
			p.steps = append(p.steps, index)
		case p.unnamed():
			return nil, &mistake{r.at, errSecret}
		default:
			return p, nil
		}
	}
	return nil, &mistake{r.at, evaluation.ErrDepth}
}

// whole reads all of a piece of code as a condition or a value with filters.
func whole(code string, at int) (expression, error) {
	r := newReader(code, at)
	e, err := r.condition()
	if err == nil {
		err = r.end()
	}
	return e, err
}

// errNothing is of {{ }}.
var errNothing = errors.New("nothing stands between {{ and }}")
