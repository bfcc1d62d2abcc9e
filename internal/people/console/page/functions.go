package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/weft-run/weft/internal/authoring/compare"
)

// ShownBytes is how much of a value a page shows, and partBytes how much of one among many;
// the whole is one click away.
const (
	ShownBytes = 32 << 10
	partBytes  = 1 << 10
)

// ofEveryPage are the functions that each template has.
var ofEveryPage = template.FuncMap{
	"key": NewKey,
	"deref": func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	},
	"path":    func(parts ...string) string { return strings.TrimSuffix(Path, "/") + At(parts...) },
	"short":   Short,
	"json":    func(raw json.RawMessage) Value { return Pretty(raw, ShownBytes) },
	"part":    func(raw json.RawMessage) Value { return Pretty(raw, partBytes) },
	"time":    func(t time.Time) stamp { return stamp{t} },
	"times":   func(t *time.Time) stamp { return some(t) },
	"since":   func(from, to time.Time) string { return Lasted(to.Sub(from)) },
	"lasting": Lasted,
	"lower":   strings.ToLower,
	"text":    text,
	"search":  func(words ...string) string { return Path + "instances?q=" + url.QueryEscape(strings.Join(words, "")) },
	"quote":   Quote,
	"args": func(pairs ...any) map[string]any {
		m := map[string]any{}
		for i := 0; i+1 < len(pairs); i += 2 {
			m[pairs[i].(string)] = pairs[i+1]
		}
		return m
	},
	"lines":   func(text string) []string { return strings.Split(text, "\n") },
	"steps":   func(n int) string { return strings.Repeat("· ", min(20, max(0, n))) },
	"seconds": func(s float64) string { return Lasted(time.Duration(s * float64(time.Second))) },
	"size":    size,
	"inc":     func(n int) int { return n + 1 },
	"minus":   func(n, less int) int { return n - less },
	"rawCommit": func(instance string, commit int64) string {
		return fmt.Sprintf("%sraw%s?limit=1&after=%d", Path, At("instances", instance, "journal"), commit-1)
	},
	"sides": func(d compare.Difference) [2]string {
		a, b := d.Shown()
		return [2]string{a, b}
	},
	"took": func(from, to *time.Time) string {
		if from == nil || to == nil || to.Before(*from) {
			return ""
		}
		return Lasted(to.Sub(*from))
	},
}

// Quote makes a word of the search line of any text.
func Quote(text string) string {
	if text != "" && !strings.ContainsAny(text, " \t\n\"\\") {
		return text
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// Short cuts a text after n characters.
func Short(n int, text string) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n-1]) + "…"
}

// stamp is a time as a page shows it.
type stamp struct{ t time.Time }

func some(t *time.Time) stamp {
	if t == nil {
		return stamp{}
	}
	return stamp{*t}
}

// Known tells whether there is a time.
func (s stamp) Known() bool { return !s.t.IsZero() }

// ISO is for the machine.
func (s stamp) ISO() string { return s.t.UTC().Format(time.RFC3339Nano) }

// In writes it in the zone of now, which is that of the page, with what the zone is off UTC.
func (s stamp) In(now time.Time) string {
	return s.t.In(now.Location()).Format("2006-01-02 15:04:05Z07:00")
}

// From says how long ago it was at now, or in how long it will be.
func (s stamp) From(now time.Time) string {
	if d := now.Sub(s.t); d >= 0 {
		return Lasted(d) + " ago"
	}
	return "in " + Lasted(s.t.Sub(now))
}

// Lasted says how long something lasted in its two largest units.
func Lasted(d time.Duration) string {
	switch {
	case d > 0 && d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < time.Second:
		return fmt.Sprintf("%d ms", max(0, d.Milliseconds()))
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d days %d h", int(d.Hours())/24, int(d.Hours())%24)
}

// Value is JSON as a page shows it.
type Value struct {
	Text string
	Cut  int // bytes that are not shown
	None bool
}

// Pretty gives JSON as a page shows it, and of a long one the first bytes.
func Pretty(raw json.RawMessage, most int) Value {
	if len(raw) == 0 || string(raw) == "null" || string(raw) == "{}" {
		return Value{None: true, Text: string(raw)}
	}
	text := string(raw)
	var out bytes.Buffer
	if len(raw) <= most && json.Indent(&out, raw, "", "  ") == nil { // of a long one the beginning is seen only
		text = out.String()
	}
	text = readable(text)
	if len(text) <= most {
		return Value{Text: text}
	}
	return Value{Text: strings.ToValidUTF8(text[:most], ""), Cut: len(text) - most}
}

// readable is JSON with the characters themselves that Go's encoder writes as \u003c, \u003e and
// \u0026: it is for people, and a template escapes what a page may not have.
func readable(raw string) string {
	if !strings.Contains(raw, `\u00`) {
		return raw
	}
	var out strings.Builder
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			out.WriteByte(raw[i])
			continue
		}
		if i+6 <= len(raw) {
			if c, ok := htmlEscapes[raw[i:i+6]]; ok {
				out.WriteByte(c)
				i += 5
				continue
			}
		}
		out.WriteString(raw[i:min(i+2, len(raw))]) // the two belong together: \\u003c is a backslash and letters
		i++
	}
	return out.String()
}

var htmlEscapes = map[string]byte{`\u003c`: '<', `\u003e`: '>', `\u0026`: '&'}

// text is a value as JSON has it; "": none.
func text(v any) string {
	raw, err := json.Marshal(v)
	if v == nil || err != nil {
		return ""
	}
	return string(raw)
}

// size says how many bytes there are in the largest unit of which there is one.
func size(bytes int64) string {
	const unit = 1024
	if bytes < unit {
		return fmt.Sprintf("%d bytes", bytes)
	}
	n, names := float64(bytes)/unit, []string{"KiB", "MiB", "GiB", "TiB"}
	for n >= unit && len(names) > 1 {
		n, names = n/unit, names[1:]
	}
	return fmt.Sprintf("%.1f %s", n, names[0])
}

// Thousands writes a number with commas.
func Thousands(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
