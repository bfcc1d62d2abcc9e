package instances

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/people/console/page"
	"github.com/weft-run/weft/internal/people/console/shape"
)

// waitsShown is how many places where an instance waits a page has: there may be 10,000.
const waitsShown = 100

// waitsTab is a part of the places where an instance waits.
type waitsTab struct {
	Shown        []shape.Bookmark
	From, To     int    // of all, from 1 on
	Before, Next string // addresses of the parts beside it; "": there is none
}

func waitsFrom(all []shape.Bookmark, path, from string) waitsTab {
	n, _ := strconv.Atoi(from) // none is the first
	n = max(0, min(n, len(all)-1)) / waitsShown * waitsShown
	to := min(n+waitsShown, len(all))
	at := func(n int) string {
		return page.Address(path, url.Values{"tab": {"waits"}, "from": {strconv.Itoa(n)}})
	}
	tab := waitsTab{Shown: all[n:to], From: n + 1, To: to}
	if n > 0 {
		tab.Before = at(n - waitsShown)
	}
	if to < len(all) {
		tab.Next = at(to)
	}
	return tab
}

// Since is when the instance began to wait at a bookmark, as its explanation has it.
func (v instanceView) Since(bookmarkID string) *time.Time {
	for _, r := range v.Explanation.Reasons {
		if r.Object != nil && *r.Object == bookmarkID {
			return r.Since
		}
	}
	return nil
}

// Sample guesses what an event brings.
func (v instanceView) Sample(event *string) string {
	if event == nil {
		return ""
	}
	return sample(v.Source, *event)
}

var (
	resultOf = regexp.MustCompile(`^\s*result:\s*['"]?([A-Za-z_][A-Za-z0-9_]*)`)
	eventOf  = regexp.MustCompile(`^(\s*-\s+)event:\s*(.*)$`)
)

// sample guesses what an event brings from what the definition reads of it: the names behind the
// variable that its result goes to. It is a help for who fills in a form, and is never sent.
func sample(source, event string) string {
	variable := ""
	lines := strings.Split(source, "\n")
	for i := 0; i < len(lines) && variable == ""; i++ {
		m := eventOf.FindStringSubmatch(lines[i])
		if m == nil || !names(m[2], event) {
			continue
		}
		for _, line := range lines[i+1:] {
			if strings.TrimSpace(line) != "" && len(line)-len(strings.TrimLeft(line, " ")) < len(m[1]) {
				break // the next activity
			}
			if r := resultOf.FindStringSubmatch(line); r != nil {
				variable = r[1]
				break
			}
		}
	}
	if variable == "" {
		return ""
	}
	var order []string
	values := map[string]string{}
	for _, m := range regexp.MustCompile(`variables\.`+variable+`\??\.([A-Za-z_][A-Za-z0-9_]*)(\s*[<>]=?\s*\d|\s*==\s*\d)?`).FindAllStringSubmatch(source, -1) {
		if values[m[1]] == "" {
			order = append(order, m[1])
			values[m[1]] = `"…"`
		}
		if m[2] != "" {
			values[m[1]] = "0"
		}
	}
	for _, m := range regexp.MustCompile(`(?:if|while):\s*['"]?\$\{\{\s*!?\s*variables\.`+variable+`\??\.([A-Za-z_][A-Za-z0-9_]*)\s*\}\}`).FindAllStringSubmatch(source, -1) {
		values[m[1]] = "true" // it decides by itself
	}
	if len(order) == 0 {
		return ""
	}
	for i, name := range order {
		order[i] = `"` + name + `": ` + values[name]
	}
	return "{" + strings.Join(order, ", ") + "}"
}

// names tells whether a value in YAML, or the event's name within a flow mapping, is the event.
func names(value, event string) bool {
	value, _, _ = strings.Cut(value, " #")
	value = strings.Trim(strings.TrimSpace(value), `'"`)
	return value == event
}

// waitsForEvent tells whether somebody may be shown what an event brings.
func waitsForEvent(in *shape.Instance) bool {
	return slices.ContainsFunc(in.Bookmarks, func(b shape.Bookmark) bool { return b.ActivityType == eventType })
}

const eventType = "Elsa.Event"
