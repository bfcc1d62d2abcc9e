package liquid

import (
	"regexp"
	"strings"
)

// A token is a part of a template: text, what stands in {{ }}, or a tag.
type token struct {
	kind tokenKind
	at   int    // the byte of the source where it begins
	text string // of a text; of the others what stands between the signs, without spaces around it
	args int    // the byte of the source where text begins
	name string // of a tag
}

type tokenKind int

const (
	plainText tokenKind = iota
	output
	tag
)

var (
	tagName   = regexp.MustCompile(`^(?:#|[A-Za-z_]\w*)`)
	endRaw    = regexp.MustCompile(`\{%-?\s*endraw\s*-?%\}`)
	ofComment = regexp.MustCompile(`\{%-?\s*(end)?comment\b[^%]*-?%\}`)
)

// tokens reads a template. What {% raw %} holds is one text, what {% comment %} holds is nothing. A {{ or {% that
// nothing ends is text.
func tokens(source string) []token {
	s := scanner{source: source}
	for s.at < len(source) {
		s.next()
	}
	s.flush(len(source))
	return s.out
}

type scanner struct {
	source string
	at     int // what is read next
	text   int // where the text that was not put out begins
	trim   bool
	never  [tag + 1]bool // nothing ends a sign of this kind any more
	out    []token
}

// flush puts out the text up to a byte.
func (s *scanner) flush(end int) { s.put(s.text, end, false) }

// put puts out a text; before says that a sign of what follows takes the space at its end.
func (s *scanner) put(from, to int, before bool) {
	text := s.source[from:to]
	if s.trim {
		text = strings.TrimLeft(text, space)
		from = to - len(text)
	}
	if before {
		text = strings.TrimRight(text, space)
	}
	s.trim = false
	if text != "" {
		s.out = append(s.out, token{kind: plainText, at: from, text: text})
	}
}

const space = " \t\r\n\v\f"

func (s *scanner) next() {
	i := strings.IndexByte(s.source[s.at:], '{')
	if i < 0 || s.at+i+1 >= len(s.source) {
		s.at = len(s.source)
		return
	}
	at := s.at + i
	kind, shut := output, "}}"
	switch s.source[at+1] {
	case '{':
	case '%':
		kind, shut = tag, "%}"
	default:
		s.at = at + 1
		return
	}
	end := -1
	if !s.never[kind] {
		end = closing(s.source, at+2, shut)
	}
	if end < 0 {
		s.never[kind], s.at = true, at+2
		return
	}
	from, to := at+2, end
	before, after := from < to && s.source[from] == '-', to-1 > from && s.source[to-1] == '-'
	if before {
		from++
	}
	if after {
		to--
	}
	s.put(s.text, at, before)
	inner := s.source[from:to]
	from += len(inner) - len(strings.TrimLeft(inner, space))
	t := token{kind: kind, at: at, text: strings.Trim(inner, space), args: from}
	if kind == tag {
		t.name = tagName.FindString(t.text)
		rest := t.text[len(t.name):]
		t.text = strings.TrimLeft(rest, space)
		t.args += len(t.name) + len(rest) - len(t.text)
	}
	s.out = append(s.out, t)
	s.at, s.text, s.trim = end+2, end+2, after
	switch t.name {
	case "raw":
		s.hide(endRaw.FindStringIndex(s.source[s.at:]), true)
	case "comment":
		s.hide(s.endOfComment(), false)
	}
}

// hide goes on at the tag that ends raw or comment, which a span behind s.at is. If it is nil, none does, and nothing
// follows: another raw would be looked for up to the end again.
func (s *scanner) hide(span []int, keep bool) {
	end := len(s.source)
	if span != nil {
		end = s.at + span[0]
	}
	if keep {
		s.trim = false // what raw holds is as it is written
		s.put(s.at, end, false)
	}
	s.at, s.text, s.trim = end, end, false
}

// endOfComment is the span of the tag that ends a comment, in which others may stand.
func (s *scanner) endOfComment() []int {
	depth, at := 1, 0
	for {
		m := ofComment.FindStringSubmatchIndex(s.source[s.at+at:])
		if m == nil {
			return nil
		}
		if m[2] >= 0 {
			depth--
		} else {
			depth++
		}
		if depth == 0 {
			return []int{at + m[0], at + m[1]}
		}
		at += m[1]
	}
}

// closing is where what begins at a byte ends, -1 if nothing ends it: at the first sign, or at a later one if that stands in
// a text in quotes which closes before anything else begins.
func closing(source string, at int, shut string) int {
	first, quote := -1, byte(0)
	for i := at; i+1 < len(source); i++ {
		switch ch := source[i]; {
		case ch == shut[0] && source[i+1] == shut[1]:
			if quote == 0 || strings.HasPrefix(strings.TrimLeft(source[at:min(at+8, i)], "- "), "#") {
				return i
			}
			if first < 0 {
				first = i
			}
		case first >= 0 && ch == '{' && (source[i+1] == '{' || source[i+1] == '%'):
			return first
		case quote != 0:
			if ch == quote {
				quote = 0
			}
		case ch == '"' || ch == '\'':
			quote = ch
		}
	}
	return first
}
