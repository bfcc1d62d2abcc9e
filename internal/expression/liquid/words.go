package liquid

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/weft-run/weft/internal/expression/evaluation"
	"github.com/weft-run/weft/pkg/workflow"
)

var (
	prefix      = regexp.MustCompile(`^Liquid error \(line \d+\): `)
	snippet     = regexp.MustCompile(`(?s)^(.*) in (\{[%{].*[%}]\})$`)
	syntaxError = regexp.MustCompile(`(?s)^syntax error in (".*")$`)
	selector    = regexp.MustCompile(`^\s*%\w+ `)
	misplaced   = regexp.MustCompile(`^(end)?(\w+) not inside (.*?)(?:; immediate parent is (\w+))?$`)
	unended     = regexp.MustCompile(`^unterminated "(\w+)" block$`)
	bareValue   = regexp.MustCompile(`\|\s*\w+\s+['"\w]`)
	undefined   = regexp.MustCompile(`^undefined tag "(\w+)"$`)
)

// said tells in our words what the library says of a template, and at which byte of it; -1 if
// it does not say where.
func said(message, source string) (text string, at int) {
	message, at = prefix.ReplaceAllString(message, ""), -1
	if m := snippet.FindStringSubmatch(message); m != nil {
		message, at = m[1], strings.Index(source, m[2])
	}
	if m := syntaxError.FindStringSubmatch(message); m != nil {
		code, err := strconv.Unquote(m[1])
		if err != nil {
			return message, at
		}
		code = selector.ReplaceAllString(code, "")
		if i := strings.Index(source, code); i >= 0 && strings.TrimSpace(code) != "" {
			at = i + len(code) - len(strings.TrimLeft(code, " \t\n"))
		}
		if strings.TrimSpace(code) == "" {
			return "nothing stands between {{ and }}", at
		}
		return "this cannot be read: " + evaluation.Excerpt(strings.TrimSpace(code)) + insteadOf(code), at
	}
	if m := misplaced.FindStringSubmatch(message); m != nil {
		switch {
		case m[1] != "" && m[4] != "":
			return "end" + m[2] + " ends nothing here; " + m[4] + " is what is open, and ends with end" + m[4], at
		case m[1] != "":
			return "end" + m[2] + " ends nothing here: no " + m[2] + " is open", at
		}
		return m[2] + " stands within " + m[3], at
	}
	if m := unended.FindStringSubmatch(message); m != nil {
		return m[1] + " has no end" + m[1], at
	}
	if m := undefined.FindStringSubmatch(message); m != nil {
		return "there is no tag " + m[1] + otherTag(m[1]), at
	}
	return message, at
}

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
	return workflow.DidYouMean(name, []string{"if", "elsif", "else", "endif", "unless", "endunless", "case", "when", "endcase", "for", "endfor", "break", "continue", "tablerow", "endtablerow", "assign", "capture", "endcapture", "cycle", "comment", "endcomment", "raw", "endraw"})
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
