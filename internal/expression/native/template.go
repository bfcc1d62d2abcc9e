package native

import (
	"errors"
	"strings"

	"github.com/weft-run/weft/internal/expression/evaluation"
)

// part is a piece of a template: text, or the code between ${{ and }}.
type part struct {
	text   string
	code   bool
	offset int // of the text or code, in bytes within the template
}

var errUnterminated = errors.New("${{ has no closing }}; in YAML a # behind a space begins a comment, so quote the text if it has one")

// splitTemplate cuts text into its parts. $${{ stands for the text ${{. On an
// error, at is the offset of the ${{ that is at fault.
func splitTemplate(text string) (parts []part, at int, err error) {
	var plain strings.Builder
	from, start := 0, 0 // start: where the present piece of plain text began
	flush := func(end int) {
		plain.WriteString(text[from:end])
		if plain.Len() > 0 {
			parts = append(parts, part{text: plain.String(), offset: start})
			plain.Reset()
		}
	}
	for {
		i := strings.Index(text[from:], "${{")
		if i < 0 {
			flush(len(text))
			return parts, 0, nil
		}
		open := from + i
		if open > 0 && text[open-1] == '$' && open-1 >= from {
			plain.WriteString(text[from : open-1])
			plain.WriteString("${{")
			from = open + 3
			continue
		}
		code := open + 3
		end := codeEnd(text[code:])
		if end < 0 {
			return nil, open, errUnterminated
		}
		flush(open)
		parts = append(parts, part{text: text[code : code+end], code: true, offset: code})
		from, start = code+end+2, code+end+2
	}
}

// codeEnd is the offset of the }} that ends the code at the start of text, or
// -1. Braces may be nested; those within strings and comments do not count.
func codeEnd(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"', '\'', '`':
			n := quoted(text[i:])
			if n < 0 {
				return -1
			}
			i += n - 1
		case '/':
			i += evaluation.Comment(text[i:])
		case '{':
			depth++
		case '}':
			switch {
			case depth > 0:
				depth--
			case strings.HasPrefix(text[i:], "}}"):
				return i
			}
		}
	}
	return -1
}

// quoted is the length of the string that text starts with, or -1 if it does
// not end. Within backquotes a backslash is itself, as in expr.
func quoted(text string) int {
	q := text[0]
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && q != '`':
			i++
		case text[i] == q:
			return i + 1
		}
	}
	return -1
}

// Piece is a part of a template: text as it is meant, or the code of an expression.
type Piece struct {
	Text string
	Code bool // Text stands between ${{ and }}
}

// Pieces cuts a template as its evaluation does.
func Pieces(text string) ([]Piece, error) {
	parts, _, err := splitTemplate(text)
	out := make([]Piece, len(parts))
	for i, p := range parts {
		out[i] = Piece{p.text, p.code}
	}
	return out, err
}
