package liquid

import (
	"regexp"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
)

var bareValue = regexp.MustCompile(`\|\s*\w+\s+['"\w]`)

// otherTag says what a tag of another language is called here.
func otherTag(name string) string {
	switch name {
	case "elseif", "elif":
		return "; write elsif"
	case "set", "let", "var":
		return "; write assign"
	case "end":
		return "; an if ends with endif, a for with endfor"
	case "foreach", "each":
		return "; write for item in list"
	case "switch":
		return "; write case and when"
	}
	return workflow.DidYouMean(name, []string{"if", "elsif", "else", "endif", "unless", "endunless", "case", "when", "endcase", "for", "endfor", "break", "continue", "tablerow", "endtablerow", "assign", "capture", "endcapture", "cycle", "comment", "endcomment", "raw", "endraw", "increment", "decrement", "echo", "liquid"})
}

// insteadOf says how Liquid has what other languages write in this way.
func insteadOf(code string) string {
	in := func(signs ...string) bool {
		for _, s := range signs {
			if strings.Contains(code, s) {
				return true
			}
		}
		return false
	}
	switch {
	case in("{{", "{%"):
		return "; it is within {{ }} already"
	case in("&&", "||"):
		return "; write and, or"
	case in("?") && in(":"):
		return "; write {% if %} … {% else %} … {% endif %}"
	case in("(") && in(")"):
		return "; functions are filters: {{ inputs.name | upcase }}"
	case bareValue.MatchString(code):
		return "; what a filter is given stands behind a colon: | default: 'none'"
	case in(" + ", " - ", " * ", " / "):
		return "; numbers are computed by filters: | plus: 1"
	case strings.HasPrefix(strings.TrimSpace(code), "!") || strings.HasPrefix(strings.TrimSpace(code), "not "):
		return "; write {% unless %}, or == false"
	case in(" = ") && !in("=="):
		return "; equal is =="
	case in(" of "):
		return "; write for item in list"
	}
	return ""
}
