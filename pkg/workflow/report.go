package workflow

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/weft-run/weft/pkg/workflow/value"
)

// MaxProblems bounds what is reported about one source.
const MaxProblems = 200

// Report collects what is wrong with one source in any notation: up to
// 200 problems, each with its place. Make it with [NewReport].
type Report struct {
	file     string
	source   source
	marks    []int // characters before every 1024th byte; made when a column is asked for
	problems Problems
}

// NewReport begins the report on src. file names it in problems, "" for none. A
// byte order mark in front of src does not count in places.
func NewReport(src []byte, file string) *Report {
	return &Report{file: file, source: newSource(src)}
}

// At gives the place of a line and column, both from 1; below that, of the first.
func (r *Report) At(line, column int) Place {
	return Place{File: r.file, Line: max(1, line), Column: max(1, column)}
}

// AtByte gives the place of a byte of the source, with its JSON pointer.
func (r *Report) AtByte(offset int, pointer string) Place {
	offset = min(offset, len(r.source.text))
	line := sort.SearchInts(r.source.starts, offset+1)
	at := r.At(line, r.charsBefore(offset)-r.charsBefore(r.source.starts[line-1])+1)
	at.Pointer = pointer
	return at
}

// markStep is the distance of the marks that make columns cheap: a definition
// may be one line of a megabyte.
const markStep = 1024

func (r *Report) charsBefore(offset int) int {
	if r.marks == nil {
		count := 0
		r.marks = []int{0}
		for step := range slices.Chunk(r.source.text, markStep) {
			count += chars(step)
			r.marks = append(r.marks, count)
		}
	}
	mark := offset / markStep
	return r.marks[mark] + chars(r.source.text[mark*markStep:offset])
}

// chars counts the characters that begin in a part of a text.
func chars(part []byte) int {
	n := 0
	for _, c := range part {
		if utf8.RuneStart(c) {
			n++
		}
	}
	return n
}

// Problem reports what is wrong at a place. When the report is full, it is
// dropped.
func (r *Report) Problem(code string, at Place, format string, args ...any) {
	if !r.Full() {
		r.problems = append(r.problems, Problem{Code: code, Detail: fmt.Sprintf(format, args...), Place: at})
	}
}

// WrongShape reports a value that is not what is wanted; what names its field.
func (r *Report) WrongShape(at Place, what, want, got string) {
	r.Problem("wrong-shape", at, "%s must be %s, not %s", what, want, got)
}

// UnknownKey reports a key that is none of those that are known at its place, with the one
// that was meant, or with those that there are.
func (r *Report) UnknownKey(at Place, where, name string, known []string) {
	if r.Full() { // what was meant takes time to find
		return
	}
	more := DidYouMean(name, known)
	if more == "" && len(known) > 0 && len(known) <= mostListed {
		var names []string // an input and an outcome may have one name
		for _, n := range known {
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
		more = "; it has " + strings.Join(names, ", ")
	}
	r.Problem("unknown-key", at, "%s has no key %s%s", where, value.Shorten(name), more)
}

// mostListed is how many names a problem lists.
const mostListed = 24

// Full says that no more problems are kept.
func (r *Report) Full() bool { return len(r.problems) >= MaxProblems }

// Empty says that nothing was reported.
func (r *Report) Empty() bool { return len(r.problems) == 0 }

// Problems gives what was reported, by place, with excerpts; nil for nothing.
func (r *Report) Problems() Problems {
	slices.SortStableFunc(r.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Place.Line, b.Place.Line), cmp.Compare(a.Place.Column, b.Place.Column))
	})
	return r.problems.excerpts(r.source)
}

// WithExcerpts gives the problems with an excerpt of src where they know their
// line and have none yet. What is known to be within an expression gets its own place.
func (ps Problems) WithExcerpts(src []byte) Problems { return ps.excerpts(newSource(src)) }

func (ps Problems) excerpts(src source) Problems {
	out := slices.Clone(ps)
	for i := range out {
		p := &out[i]
		if p.Excerpt != "" {
			continue
		}
		if p.Within.Text != "" && p.Place.Line > 0 {
			p.Place.Line, p.Place.Column = src.within(p.Place.Line, p.Place.Column, p.Within)
			p.Within = Within{}
		}
		p.Excerpt = src.excerpt(p.Place.Line, p.Place.Column)
	}
	return out
}

// source is a text whose lines can be found.
type source struct {
	text   []byte
	starts []int // offsets at which the lines begin
}

func newSource(text []byte) source {
	s := source{text: bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), starts: []int{0}}
	for i, c := range s.text {
		if c == '\n' {
			s.starts = append(s.starts, i+1)
		}
	}
	return s
}

// excerptWidth is how much of a long line an excerpt shows.
const excerptWidth = 120

// excerpt gives the line at a place with a caret below the column, or "" when
// there is no such line. Long lines are cut around the column.
func (s source) excerpt(line, column int) string {
	if line < 1 || line > len(s.starts) {
		return ""
	}
	row := s.text[s.starts[line-1]:]
	if line < len(s.starts) {
		row = s.text[s.starts[line-1] : s.starts[line]-1]
	}
	// Take the part of the line that can be shown before turning it into
	// runes: a definition may be one line of a megabyte.
	text, at := window(strings.TrimRight(string(row), "\r"), max(column, 1)-1)
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == utf8.RuneError || r == 0x7f {
			return ' '
		}
		return r
	}, text)
	head := fmt.Sprintf("%d | ", line)
	return head + text + "\n" + strings.Repeat(" ", len(head)+at) + "^"
}

// window cuts text to excerptWidth characters around character number at, and
// tells where that character is in the cut.
func window(text string, at int) (string, int) {
	n := utf8.RuneCountInString(text)
	at = min(at, n)
	if n <= excerptWidth {
		return text, at
	}
	from := max(0, min(at-excerptWidth/2, n-excerptWidth))
	runes := []rune(text)[from:min(n, from+excerptWidth)]
	cut := string(runes)
	if from+excerptWidth < n {
		cut += "…"
	}
	if from > 0 {
		return "…" + cut, at - from + 1
	}
	return cut, at
}

// within gives line and column of a place in a text that begins at a line and column. The
// text may be quoted, folded or indented there: its line is looked for as it is, then the
// word at the place.
func (s source) within(line, column int, w Within) (int, int) {
	if line > len(s.starts) {
		return line, column
	}
	from := s.starts[line-1]
	for range column - 1 {
		_, size := utf8.DecodeRune(s.text[from:])
		from += size
	}
	at := min(max(w.Offset, 0), len(w.Text))
	area := s.text[from:min(len(s.text), from+2*len(w.Text)+roomOfQuotes)]
	start := strings.LastIndexByte(w.Text[:at], '\n') + 1
	row, _, _ := strings.Cut(w.Text[start:], "\n")
	lead := len(row) - len(strings.TrimLeft(row, " \t"))
	offset := -1
	if hit := nth(area, strings.TrimSpace(row), strings.Count(w.Text[:start], strings.TrimSpace(row))); hit >= 0 && at >= start+lead {
		offset = from + hit + at - start - lead
	} else if word := wordAt(w.Text, at); word != "" {
		if hit := nth(area, word, strings.Count(w.Text[:at], word)); hit >= 0 {
			offset = from + hit
		}
	}
	if offset < 0 || offset > len(s.text) {
		return line, column
	}
	line = sort.SearchInts(s.starts, offset+1)
	return line, utf8.RuneCount(s.text[s.starts[line-1]:offset]) + 1
}

// roomOfQuotes is how many bytes more than twice its length a text may take in a source.
const roomOfQuotes = 2048

// nth finds the occurrence of word in text that n others precede; -1 if there is none.
func nth(text []byte, word string, n int) int {
	if word == "" {
		return -1
	}
	at := 0
	for ; ; n-- {
		i := bytes.Index(text[at:], []byte(word))
		if i < 0 || n == 0 {
			if i >= 0 {
				i += at
			}
			return i
		}
		at += i + len(word)
	}
}

// wordAt is the name, or what else stands together, at a byte of text.
func wordAt(text string, at int) string {
	end := strings.IndexFunc(text[at:], func(r rune) bool {
		return r != '_' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	switch {
	case end < 0:
		return text[at:]
	case end > 0:
		return text[at : at+end]
	}
	rest := strings.TrimLeft(text[at:], "\"'`") // a quote may be written otherwise there
	if rest != text[at:] && rest != "" {
		return wordAt(rest, 0)
	}
	if end = strings.IndexAny(rest, " \t\n\"'\\"); end > 0 {
		rest = rest[:end]
	}
	return rest
}
