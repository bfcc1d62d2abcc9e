package text

import (
	"bytes"
	"sort"
	"strings"
	"unicode/utf8"
)

// Lines knows where the lines of a text begin, and its characters: a text may be one line of a
// megabyte, and each of its values asks for its column.
type Lines struct {
	Src    []byte
	ascii  bool // each character is a byte
	Starts []int
	before []int // by line: how many characters the text has before it
	marks  []int // where each [apart]th character begins
}

const apart = 64

// NewLines finds the lines of a text.
func NewLines(src []byte) Lines {
	l := Lines{Src: src, ascii: true, Starts: []int{0}}
	for at, c := range src {
		if c >= utf8.RuneSelf {
			l.ascii = false
			break
		}
		if c == '\n' {
			l.Starts = append(l.Starts, at+1)
		}
	}
	if l.ascii {
		return l
	}
	l.Starts, l.before = []int{0}, []int{0}
	n := 0
	for at := 0; at < len(src); n++ {
		if n%apart == 0 {
			l.marks = append(l.marks, at)
		}
		c, size := utf8.DecodeRune(src[at:])
		if at += size; c == '\n' {
			l.Starts, l.before = append(l.Starts, at), append(l.before, n+1)
		}
	}
	return l
}

// Offset of a line and a column, both from 1; columns count characters.
func (l *Lines) Offset(line, column int) int {
	if line < 1 || line > len(l.Starts) {
		return len(l.Src)
	}
	if l.ascii {
		return min(l.Starts[line-1]+max(column, 1)-1, len(l.Src))
	}
	n := l.before[line-1] + max(column, 1) - 1
	if n/apart >= len(l.marks) {
		return len(l.Src)
	}
	at := l.marks[n/apart]
	for n %= apart; n > 0 && at < len(l.Src); n-- {
		_, size := utf8.DecodeRune(l.Src[at:])
		at += size
	}
	return at
}

// Place is the line and the column of an offset.
func (l *Lines) Place(at int) (line, column int) {
	at = min(max(at, 0), len(l.Src))
	line = sort.SearchInts(l.Starts, at+1)
	if l.ascii {
		return line, at - l.Starts[line-1] + 1
	}
	n := 0
	if i := sort.SearchInts(l.marks, at+1) - 1; i >= 0 {
		n = i*apart + utf8.RuneCount(l.Src[l.marks[i]:at])
	}
	return line, n - l.before[line-1] + 1
}

// Start of the line that has an offset.
func (l *Lines) Start(at int) int {
	line := sort.SearchInts(l.Starts, at+1)
	return l.Starts[line-1]
}

// Next is where the line behind that of an offset begins.
func (l *Lines) Next(at int) int {
	if i := bytes.IndexByte(l.Src[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(l.Src)
}

// stop is where the line of an offset ends, before its break.
func (l *Lines) stop(at int) int {
	end := l.Next(at)
	if end > at && l.Src[end-1] == '\n' {
		if end--; end > at && l.Src[end-1] == '\r' {
			end--
		}
	}
	return end
}

// Indent counts the spaces before an offset's column, as characters.
func (l *Lines) Indent(at int) int {
	_, column := l.Place(at)
	return column - 1
}

// Lead is the indentation of the line that begins at an offset, and what it has behind it.
func (l *Lines) Lead(start int) (indent int, rest string) {
	text := string(l.Src[start:l.stop(start)])
	rest = strings.TrimLeft(text, " ")
	return len(text) - len(rest), rest
}

// alone tells whether nothing stands before an offset in its line.
func (l *Lines) alone(at int) bool {
	return len(bytes.TrimLeft(l.Src[l.Start(at):at], " ")) == 0
}
