package act

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/people/console/page"
	"github.com/weft-run/weft/pkg/workflow"
)

// mostAlterations is how many alterations a form makes at most.
const mostAlterations = 10

// alterations are those of a form, by their numbers. Of one whose type is not given, as its box
// is not ticked, nothing is made.
type alterations map[int]map[string]any

// add reads a field by its name, NUMBER:KIND:NAME.
func (a alterations) add(field, text string, now time.Time) error {
	number, rest, _ := strings.Cut(field, ":")
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || n >= mostAlterations {
		return &page.Problem{Status: http.StatusUnprocessableEntity, Title: "The form is not valid", Detail: fmt.Sprintf("%q numbers no alteration.", page.Short(60, number)), Code: string(workflow.CodeInvalid)}
	}
	if a[n] == nil {
		a[n] = map[string]any{}
	}
	kind, name, _ := strings.Cut(rest, ":")
	wrong := func(want string) error {
		return &page.Problem{Status: http.StatusUnprocessableEntity, Title: "The form is not valid", Detail: fmt.Sprintf("%s is %q, and has to be %s.", name, page.Short(60, text), want), Code: string(workflow.CodeInvalid)}
	}
	switch kind {
	case "list":
		var all []string
		for word := range strings.SplitSeq(text, ",") {
			if word = strings.TrimSpace(word); word != "" {
				all = append(all, word)
			}
		}
		a[n][name] = all
	case "pairs":
		pairs := map[string]string{}
		for line := range strings.Lines(text) {
			from, to, ok := strings.Cut(line, "=")
			from, to = strings.TrimSpace(from), strings.TrimSpace(to)
			switch {
			case strings.TrimSpace(line) == "":
			case !ok || from == "" || to == "":
				return wrong("lines such as old = new")
			default:
				pairs[from] = to
			}
		}
		a[n][name] = pairs
	case "when":
		at, ok := when(text, now)
		if !ok {
			return wrong("a time such as 2026-11-23T10:00 or 2026-11-23T10:00:00Z, or how long from now, such as 10m")
		}
		a[n][name] = at
	default:
		return typed(a[n], rest, text)
	}
	return nil
}

// list has those that have a type, in the order of their numbers.
func (a alterations) list() (all []any) {
	for n := range mostAlterations {
		if one := a[n]; one != nil && one["type"] != nil {
			all = append(all, one)
		}
	}
	return all
}

// when reads a time that somebody writes: with its zone, in that of now, or how long from now.
func when(text string, now time.Time) (time.Time, bool) {
	text = strings.TrimSpace(text)
	if in, err := time.ParseDuration(text); err == nil {
		return now.Add(in).UTC().Truncate(time.Millisecond), true
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at.UTC(), true
	}
	for _, form := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02 15:04:05"} {
		if at, err := time.ParseInLocation(form, text, now.Location()); err == nil {
			return at.UTC(), true
		}
	}
	return time.Time{}, false
}
