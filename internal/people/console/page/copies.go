package page

import (
	"net/http"
	"strings"
)

// mostCopies is how many calls of the API a page tells of those that it was made from.
const mostCopies = 12

// copies is how somebody gets by hand what a page shows.
type copies struct {
	Weft []string // commands of the program
	Curl []string // calls of the API, as this page made them
	Left int      // calls that are not told
}

// Text is all of it, for a shell.
func (c copies) Text() string {
	return strings.Join(append(append([]string{}, c.Weft...), c.Curl...), "\n")
}

// copied tells how a page was made: the commands of its screen, and the calls of the API.
func (v *Visit) copied() copies {
	var c copies
	if v.screen.Weft != nil {
		for _, words := range v.screen.Weft(v) {
			c.Weft = append(c.Weft, command(words))
		}
	}
	seen := map[string]bool{}
	for _, q := range v.asks {
		line := `curl -H "Authorization: Bearer $WEFT_TOKEN" "$WEFT_SERVER"` + quoted(Address(api+q.Path, q.Query))
		switch {
		case seen[line]:
		case len(c.Curl) == mostCopies:
			c.Left++
		default:
			c.Curl = append(c.Curl, line)
		}
		seen[line] = true
	}
	return c
}

// asking remembers a call that only looks.
func (v *Visit) asking(q Call) {
	if q.Method == http.MethodGet {
		v.asks = append(v.asks, q)
	}
}

// command writes a command line: the first word names the command, the others are what a person
// or a workflow called something.
func command(words []string) string {
	out := []string{"weft " + words[0]}
	for _, w := range words[1:] {
		out = append(out, quoted(w))
	}
	return strings.Join(out, " ")
}

// quoted is a text as a word of a shell.
func quoted(text string) string {
	if text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@,+=", r)
	}) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
