package console

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
func (v *visit) copied() copies {
	var c copies
	if v.screen.weft != nil {
		for _, words := range v.screen.weft(v) {
			c.Weft = append(c.Weft, command(words))
		}
	}
	seen := map[string]bool{}
	for _, q := range v.asks {
		line := `curl -H "Authorization: Bearer $WEFT_TOKEN" "$WEFT_SERVER"` + quoted(address(api+q.path, q.query))
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
func (v *visit) asking(q asked) {
	if q.method == http.MethodGet {
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

// word is an argument, also one that would be read as a flag.
func word(text string) []string {
	if strings.HasPrefix(text, "-") {
		return []string{"--", text}
	}
	return []string{text}
}

// says makes the commands of a screen that are always the same.
func says(lines ...string) func(*visit) [][]string {
	return func(*visit) [][]string {
		var out [][]string
		for _, l := range lines {
			out = append(out, []string{l})
		}
		return out
	}
}

// of makes commands about the id in the page's address.
func of(lines ...string) func(*visit) [][]string {
	return func(v *visit) [][]string {
		var out [][]string
		for _, l := range lines {
			out = append(out, append([]string{l}, word(v.r.PathValue("id"))...))
		}
		return out
	}
}

// with makes a command with what a parameter of the page's address says, or another without it.
func with(name, command, without string) func(*visit) [][]string {
	return func(v *visit) [][]string {
		if text := v.r.URL.Query().Get(name); text != "" {
			return [][]string{append([]string{command}, word(text)...)}
		}
		if without == "" {
			return nil
		}
		return [][]string{{without}}
	}
}

// weftInstance is how the tabs of an instance are had by hand.
func weftInstance(v *visit) [][]string {
	id, query := v.r.PathValue("id"), v.r.URL.Query()
	all := [][]string{{"explain", id}}
	switch query.Get("tab") {
	case "journal", "timeline":
		all = append(all, []string{"instances journal", id})
	case "variables":
		line := []string{"instances variables", id}
		if at := query.Get("at"); at != "" {
			line = append(line, "--at", at)
		}
		all = append(all, line)
	case "lineage":
		all = append(all, []string{"instances lineage", id})
	case "activities":
		all = append(all, []string{"graph", "instances/" + id})
	default:
		all = append(all, []string{"instances describe", id})
	}
	return all
}

func weftEvents(v *visit) [][]string {
	query := v.r.URL.Query()
	name, correlation := query.Get("name"), query.Get("correlationId")
	if name == "" {
		return [][]string{{"events waiting"}}
	}
	line := []string{"why-not", name}
	if correlation != "" {
		line = append(line, "--correlation", correlation)
	}
	return [][]string{line, {"events waiting", name}}
}

func weftCompare(v *visit) [][]string {
	query := v.r.URL.Query()
	if query.Get("a") == "" || query.Get("b") == "" {
		return nil
	}
	return [][]string{{"instances compare", query.Get("a"), query.Get("b")}}
}
