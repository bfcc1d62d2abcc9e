package workflow

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Limits of what the notations read. They keep a hostile definition from
// costing more than its author could mean.
const (
	MaxSource     = 1 << 20 // bytes of one definition
	MaxActivities = 10_000  // activities of one definition
	MaxNesting    = 200     // activities inside activities
)

// excerptWidth is how much of a long line an excerpt shows.
const excerptWidth = 120

// Excerpt gives the source line at a place with a caret below the column, or ""
// when there is no such line. Long lines are cut around the column.
func Excerpt(src []byte, line, column int) string {
	if line < 1 {
		return ""
	}
	for range line - 1 {
		i := bytes.IndexByte(src, '\n')
		if i < 0 {
			return ""
		}
		src = src[i+1:]
	}
	if i := bytes.IndexByte(src, '\n'); i >= 0 {
		src = src[:i]
	}
	// Take the part of the line that can be shown before turning it into
	// runes: a definition may be one line of a megabyte.
	column = max(column, 1)
	text, at := window(strings.TrimRight(string(src), "\r"), column-1)
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

// WithExcerpts gives the problems with an excerpt of src where they know their
// line and have none yet.
func (ps Problems) WithExcerpts(src []byte) Problems {
	out := append(Problems(nil), ps...)
	for i, p := range out {
		if p.Excerpt == "" {
			out[i].Excerpt = Excerpt(src, p.Place.Line, p.Place.Column)
		}
	}
	return out
}

// Oversize says which of [MaxActivities] and [MaxNesting] the tree below root
// passes, at the activity that passes it.
func Oversize(root *Activity) (Problem, bool) {
	var found *Problem
	count := 0
	Walk(root, func(a, _ *Activity, depth int) bool {
		if found != nil {
			return false
		}
		count++
		switch {
		case count > MaxActivities:
			found = &Problem{Code: "too-many-activities", Place: a.Place,
				Detail: fmt.Sprintf("a definition may have up to %d activities; split it into definitions that run each other", MaxActivities)}
		case depth >= MaxNesting:
			found = &Problem{Code: "too-deep", Place: a.Place,
				Detail: fmt.Sprintf("activities may be nested up to %d deep; move the inner part into a definition of its own", MaxNesting)}
		}
		return found == nil
	})
	if found == nil {
		return Problem{}, false
	}
	return *found, true
}
