package rewrite

import (
	"errors"
	"fmt"
	"strings"

	"github.com/weft-run/weft/internal/expression/evaluation"
)

const (
	maxReread = 2 * evaluation.MaxSource // bytes of a script that the parser reads more than once
	maxYields = 6                        // in a script
	maxLabels = 300                      // of one name, or what looks like labels
)

var (
	errArrows    = fmt.Errorf("arrow functions in the parameters of arrow functions: %w", evaluation.ErrDepth)
	errGenerator = errors.New("generator functions are not supported")
	errLabels    = fmt.Errorf("more than %d labels of one name: %w", maxLabels, evaluation.ErrDepth)
	errBracket   = errors.New("this bracket has no match")
)

// Reread reports where a script would make the parser work without end, and why.
// The parser takes the parameters of an arrow function for an expression at
// first, and reads them again when it comes to the arrow; what is within n such
// parameters is read 2^n times, and nothing can stop it. So the text is read here,
// once: at each arrow, all that the expression before it has so far counts again.
//
// What follows a yield may be read twice, too. There are no generators, so it is
// rarely written, and a few are left to the parser. Of labels within labels of the
// same name it makes an error for each pair.
func Reread(source string) (offset int, err error) {
	r := rereader{text: source, open: []readFrame{{}}, lost: -1, labels: map[string]int{}}
	for r.at < len(source) {
		r.step()
		if f := r.top(); f.again > maxReread {
			return f.from, errArrows
		}
		if r.yields > maxYields {
			return r.at, errGenerator
		}
		if r.named > maxLabels {
			return r.at, errLabels
		}
	}
	if f := r.top(); f.bracket != 0 && r.lost < 0 {
		r.lost = f.at
	}
	if r.lost < 0 {
		return 0, nil
	}
	again := 0 // where an expression begins is not known, so all of it counts
	for at := range len(source) - 1 {
		if source[at] == '=' && source[at+1] == '>' {
			if again += again + at; again > maxReread {
				return r.lost, errBracket
			}
		}
	}
	return 0, nil
}

type rereader struct {
	text   string
	at     int
	value  bool   // the last token ends an operand: a slash divides
	field  bool   // the last token was a dot: a word is no keyword
	word   string // the last token, if it was a word
	yields int
	labels map[string]int // how often there was a word and a colon
	named  int            // the most of them
	lost   int            // where the first bracket is that has no match, or -1
	open   []readFrame
}

// readFrame is what is within a bracket.
type readFrame struct {
	bracket   byte // that closes it, 0 at the top, ` for the ${ of a template
	at        int  // of the one that opened it
	statement bool // it holds statements, or is the head of one
	again     int  // bytes that are read again
	from      int  // where the present expression began
	before    int  // what again was then
}

func (r *rereader) top() *readFrame { return &r.open[len(r.open)-1] }

// begins notes that an expression begins here.
func (r *rereader) begins() {
	f := r.top()
	f.from, f.before = r.at, f.again
}

// push opens a bracket that closing closes.
func (r *rereader) push(closing byte, statement bool) {
	r.at++
	r.open = append(r.open, readFrame{bracket: closing, at: r.at - 1, statement: statement, from: r.at})
	r.value = false
}

func (r *rereader) pop() readFrame {
	c, f := r.text[r.at], *r.top()
	if c != f.bracket && (c != '}' || f.bracket != '`') && r.lost < 0 {
		r.lost = r.at
	}
	r.at++
	if len(r.open) > 1 {
		r.open = r.open[:len(r.open)-1]
		r.top().again += f.again
	}
	return f
}

// step reads one token.
func (r *rereader) step() {
	c := r.text[r.at]
	if c <= ' ' {
		r.at++
		return
	}
	if n := evaluation.Comment(r.text[r.at:]); n > 0 {
		r.at += n + 1
		return
	}
	if isWord(c) {
		r.name()
		return
	}
	word := r.word
	r.word, r.field = "", false
	switch c {
	case '"', '\'':
		r.skip(c)
	case '`':
		r.template()
	case '/':
		r.slash()
	case '(', '[', '{':
		r.opens(c, word)
	case ')', ']', '}':
		r.closes(c)
	default:
		r.operator(c, word)
	}
}

// slash reads a division, or a pattern with its flags.
func (r *rereader) slash() {
	if r.value {
		r.at++
		r.value = false
		return
	}
	r.skip('/')
	for r.at < len(r.text) && isWord(r.text[r.at]) {
		r.at++
	}
}

func (r *rereader) opens(c byte, word string) {
	switch c {
	case '(':
		r.push(')', word == "if" || word == "while" || word == "for" || word == "with")
	case '[':
		r.push(']', false)
	case '{':
		// An operand, or the end of a head, stands before a block and not before an object.
		r.push('}', r.value || r.block(word))
	}
}

func (r *rereader) closes(c byte) {
	f := r.pop()
	if c == '}' && f.bracket == '`' {
		r.at--
		r.template()
		return
	}
	r.value = !f.statement
	if c == '}' && f.statement {
		r.begins()
	}
}

// operator reads what stands between operands.
func (r *rereader) operator(c byte, word string) {
	if c == '=' {
		r.equals()
		return
	}
	r.at++
	if (c == '+' || c == '-') && r.peek() == c {
		r.at++ // before or after an operand
		return
	}
	r.value = false
	switch c {
	case '.':
		if strings.HasPrefix(r.text[r.at:], "..") {
			r.at += 2
		} else {
			r.field = true
		}
	case ',', ';':
		r.begins()
	case ':':
		r.label(word)
	}
}

// label counts a word before a colon where statements may stand.
func (r *rereader) label(word string) {
	if f := r.top(); word == "" || word[0] >= '0' && word[0] <= '9' || word == "default" || f.bracket != 0 && !f.statement {
		return
	}
	if strings.Contains(word, `\`) {
		word = `\` // all that are spelled in some odd way
	}
	r.labels[word]++
	r.named = max(r.named, r.labels[word])
}

func (r *rereader) peek() byte {
	if r.at < len(r.text) {
		return r.text[r.at]
	}
	return 0
}

// block reports whether a brace after this word, or none, opens a block.
func (r *rereader) block(word string) bool {
	if word == "else" || word == "do" || word == "try" || word == "finally" {
		return true
	}
	before := strings.TrimRight(r.text[:r.at], " \t\r\n")
	return before == "" || strings.ContainsAny(before[len(before)-1:], ");{}") || strings.HasSuffix(before, "=>")
}

func (r *rereader) equals() {
	before := byte(0)
	if r.at > 0 {
		before = r.text[r.at-1]
	}
	r.at++
	r.value = false
	switch f := r.top(); {
	case r.peek() == '>':
		f.again += r.at - 1 - f.from + f.again - f.before
		r.at++
	case r.peek() == '=':
		for r.peek() == '=' {
			r.at++
		}
	case strings.IndexByte("!<>", before) < 0: // an assignment
		r.begins()
	}
}

// skip goes to the end of a text in quotes or of a regular expression.
func (r *rereader) skip(quote byte) {
	class := false
	for r.at++; r.at < len(r.text) && r.text[r.at] != '\n'; r.at++ {
		switch c := r.text[r.at]; {
		case c == '\\':
			if r.at++; strings.HasPrefix(r.text[min(r.at, len(r.text)):], "\r\n") {
				r.at++
			}
		case c == quote && !class:
			r.at++
			r.value = true
			return
		case quote == '/' && c == '[':
			class = true
		case c == ']':
			class = false
		}
	}
	r.value = true
}

// template goes to the end of a template, or to code within it.
func (r *rereader) template() {
	for r.at++; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; {
		case c == '\\':
			r.at++
		case c == '`':
			r.at++
			r.value = true
			return
		case c == '$' && strings.HasPrefix(r.text[r.at:], "${"):
			r.at++
			r.push('`', false)
			return
		}
	}
}

func isWord(c byte) bool {
	return c >= 0x80 || c == '_' || c == '$' || c == '#' || c == '\\' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// name goes to the end of a name, a keyword or a number.
func (r *rereader) name() {
	start, digits := r.at, r.text[r.at] >= '0' && r.text[r.at] <= '9'
	for r.at < len(r.text) && (isWord(r.text[r.at]) || digits && r.text[r.at] == '.') {
		digits = digits && r.text[r.at] != '.'
		if strings.HasPrefix(r.text[r.at:], `\u{`) {
			r.at += 2
			for r.at < len(r.text) && r.text[r.at] != '}' {
				r.at++
			}
		}
		r.at++
	}
	r.at = min(r.at, len(r.text))
	word, after := r.text[start:r.at], r.value
	r.value = true
	if r.field {
		r.word, r.field = "", false
		return
	}
	r.word = word
	switch word {
	case "of":
		r.value = !after
	case "return", "throw", "case", "else", "do":
		r.value = false
		r.begins()
	case "yield":
		r.value = false
		if !strings.HasPrefix(strings.TrimLeft(r.text[r.at:], " "), ":") { // not the name of a property
			r.yields++
		}
	case "typeof", "instanceof", "in", "new", "delete", "void", "await":
		r.value = false
	}
}
