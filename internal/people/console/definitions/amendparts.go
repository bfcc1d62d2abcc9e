package definitions

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-run/weft/internal/people/console/page"
)

// amendCase, amendState and amendTransition are what an activity holds beside activities.
type amendCase struct {
	Label, When string
	Line        int
}

type amendState struct {
	Name           string
	Final, Initial bool
	Line           int
	Transitions    []amendTransition
}

type amendTransition struct {
	Name, When, To, On, Waits string
	Line                      int
}

// Case tells whether the activity may have cases, and what is set of them.
func (a about) Case() bool { return slices.Contains(a.Parts, "case") }

// Machine tells whether the activity has states.
func (a about) Machine() bool { return slices.Contains(a.Parts, "state") }

// Conditions tells whether its cases have conditions.
func (a about) Conditions() bool { return slices.Contains(a.CaseKeys, "when") }

func badForm(words []string) error {
	return &page.Problem{Status: http.StatusUnprocessableEntity, Title: "The form is not valid", Detail: fmt.Sprintf("There is no button %q.", page.Short(60, strings.Join(words, " ")))}
}

// partEdit is what a button does to a case, a state or a transition: its words are the operation,
// the part, and then the state, in the form of a URL, the number of the case or the transition, and
// where it moves or what is set of it.
func partEdit(v *page.Visit, e map[string]any, words []string) error {
	form := v.Request.PostForm
	e["op"], e["part"] = words[0], words[1]
	rest := words[2:]
	if words[1] != "case" && (len(rest) > 0 || words[0] != "insert") {
		if len(rest) == 0 {
			return badForm(words)
		}
		state, err := url.QueryUnescape(rest[0])
		if err != nil {
			return badForm(words)
		}
		e["state"], rest = state, rest[1:]
	}
	if words[1] != "state" && words[0] != "insert" {
		if len(rest) == 0 {
			return badForm(words)
		}
		n, err := strconv.Atoi(rest[0])
		if err != nil {
			return badForm(words)
		}
		e["number"], rest = n, rest[1:]
	}
	switch words[0] {
	case "insert":
		if words[1] == "transition" && len(words) < 3 {
			return badForm(words)
		}
		inputs := map[string]any{}
		for _, key := range map[string][]string{"case": {"label", "when"}, "state": {"name"}, "transition": {"on", "when", "to"}}[words[1]] {
			field := "n." + key
			if words[1] == "transition" {
				field += "." + words[2]
			}
			if text := form.Get(field); text != "" {
				inputs[key] = text
			}
		}
		e["inputs"] = inputs
	case "move":
		e["where"] = strings.Join(rest, " ")
	case "set": // such as final true
		if len(rest) != 2 {
			return badForm(words)
		}
		e["key"], e["value"] = rest[0], rest[1] == "true"
	}
	return nil
}

// Word is a field of a form for a text of a part, or of a new one.
func (a about) Word(name, text string) amendField {
	if given, there := a.typed[name]; there {
		text = given[0]
	}
	return amendField{Name: name, Text: text}
}

// ofPart tells whether a field of a form is one of a case, a state or a transition.
func ofPart(name string) bool { return strings.HasPrefix(name, "c.") || strings.HasPrefix(name, "s.") }

// isFresh tells whether a field is of what a button adds.
func isFresh(name, button string) bool {
	words := strings.Fields(button)
	switch {
	case len(words) < 2 || words[0] != "insert":
		return false
	case words[1] == "case":
		return name == "n.label" || name == "n.when"
	case words[1] == "state":
		return name == "n.name"
	}
	return words[1] == "transition" && len(words) > 2 && strings.HasSuffix(name, "."+words[2])
}

// Was tells one set of cases and states from another: a form has it of those that it shows, since
// its buttons and fields go by their numbers.
func (a about) Was() string {
	h := sha256.New()
	for _, c := range a.Cases {
		fmt.Fprintf(h, "case %q %q\n", c.Label, c.When)
	}
	for _, s := range a.States {
		fmt.Fprintf(h, "state %q %t %t\n", s.Name, s.Final, s.Initial)
		for _, t := range s.Transitions {
			fmt.Fprintf(h, "transition %q %q %q %q %q\n", t.Name, t.When, t.To, t.On, t.Waits)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// shownBy tells whether a form shows the cases and the states that there are. That of an older
// node does not say which it shows.
func (a about) shownBy(form url.Values) bool {
	was, there := form["e.was"]
	return !there || was[0] == a.Was()
}

// sameParts refuses an edit of a form that shows other cases or states than the text has now.
func sameParts(v *page.Visit, was *about, e map[string]any) error {
	if e["part"] == nil && len(typedParts(v.Request.PostForm)) == 0 || was.shownBy(v.Request.PostForm) {
		return nil
	}
	return &page.Problem{Status: http.StatusConflict, Title: "The text changed", Detail: fmt.Sprintf("The cases or states of %s are not those that the form showed: the text changed since. Now it shows them as they are; look at them, and do it again.", page.Short(60, was.ID))}
}

// typedParts says what a form has in the fields of cases and states.
func typedParts(form url.Values) (lines []string) {
	for name, given := range form {
		where := strings.Split(name, ".")
		if !ofPart(name) || len(where) < 3 {
			continue
		}
		said := map[string]string{"c": "case ", "s": "state "}[where[0]] + where[1]
		if len(where) > 3 {
			said += ", transition " + where[2]
		}
		lines = append(lines, said+", "+where[len(where)-1]+": "+given[0])
	}
	slices.Sort(lines)
	return lines
}

// gone is how the fields of what an edit takes away begin; "": it takes nothing away.
func (a about) gone(e map[string]any) string {
	if e["op"] != "delete" {
		return ""
	}
	if e["part"] == "case" {
		return fmt.Sprintf("c.%d.", e["number"])
	}
	at := slices.IndexFunc(a.States, func(s amendState) bool { return s.Name == e["state"] })
	if e["part"] == "state" {
		return fmt.Sprintf("s.%d.", at+1)
	}
	return fmt.Sprintf("s.%d.%d.", at+1, e["number"])
}

// partSets are the edits that make the cases and the states what a form has, where that differs,
// but for those that the edit e takes away. What they are called is changed last, and in e: the
// others go by their names until then.
func partSets(v *page.Visit, was *about, e map[string]any) []any {
	line := e["line"]
	gone := was.gone(e)
	var edits, names []any
	set := func(into *[]any, field, old string, of map[string]any) (now string) {
		given, there := v.Request.PostForm[field]
		if !there || gone != "" && strings.HasPrefix(field, gone) {
			return old
		}
		f := amendField{Text: old}
		now = breaks.Replace(given[0])
		if now == f.sent() || now == breaks.Replace(old) {
			return old
		}
		one := map[string]any{"op": "set", "activity": e["activity"], "line": line, "key": field[strings.LastIndexByte(field, '.')+1:], "fieldText": now}
		maps.Copy(one, of)
		*into = append(*into, one)
		line = 0 // an edit may have moved it
		return now
	}
	inputs, _ := e["inputs"].(map[string]any)
	port, state, to := e["port"], e["state"], inputs["to"]
	for i, c := range was.Cases {
		at := fmt.Sprintf("c.%d.", i+1)
		part := map[string]any{"part": "case", "number": i + 1}
		set(&edits, at+"when", c.When, part)
		if now := set(&names, at+"label", c.Label, part); c.Label != "" && port == c.Label { // the way goes with it
			e["port"] = now
		}
	}
	for i, s := range was.States {
		at := fmt.Sprintf("s.%d.", i+1)
		now := set(&names, at+"name", s.Name, map[string]any{"part": "state", "state": s.Name})
		if state == s.Name {
			e["state"] = now
		}
		if to == s.Name {
			inputs["to"] = now
		}
		for j, t := range s.Transitions {
			at := fmt.Sprintf("%s%d.", at, j+1)
			part := map[string]any{"part": "transition", "state": s.Name, "number": j + 1}
			set(&edits, at+"on", t.On, part)
			set(&edits, at+"when", t.When, part)
			set(&edits, at+"to", t.To, part)
		}
	}
	return append(edits, names...)
}
