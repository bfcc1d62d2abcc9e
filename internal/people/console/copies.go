package console

import (
	"strings"

	"github.com/weft-run/weft/internal/people/console/page"
)

// word is an argument, also one that would be read as a flag.
func word(text string) []string {
	if strings.HasPrefix(text, "-") {
		return []string{"--", text}
	}
	return []string{text}
}

// says makes the commands of a screen that are always the same.
func says(lines ...string) func(*page.Visit) [][]string {
	return func(*page.Visit) [][]string {
		var out [][]string
		for _, l := range lines {
			out = append(out, []string{l})
		}
		return out
	}
}

// of makes commands about the id in the page's address.
func of(lines ...string) func(*page.Visit) [][]string {
	return func(v *page.Visit) [][]string {
		var out [][]string
		for _, l := range lines {
			out = append(out, append([]string{l}, word(v.Request.PathValue("id"))...))
		}
		return out
	}
}

// with makes a command with what a parameter of the page's address says, or another without it.
func with(name, command, without string) func(*page.Visit) [][]string {
	return func(v *page.Visit) [][]string {
		if text := v.Request.URL.Query().Get(name); text != "" {
			return [][]string{append([]string{command}, word(text)...)}
		}
		if without == "" {
			return nil
		}
		return [][]string{{without}}
	}
}

// weftInstance is how the tabs of an instance are had by hand.
func weftInstance(v *page.Visit) [][]string {
	id, query := v.Request.PathValue("id"), v.Request.URL.Query()
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

func weftEvents(v *page.Visit) [][]string {
	query := v.Request.URL.Query()
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

func weftCompare(v *page.Visit) [][]string {
	query := v.Request.URL.Query()
	if query.Get("a") == "" || query.Get("b") == "" {
		return nil
	}
	return [][]string{{"instances compare", query.Get("a"), query.Get("b")}}
}
