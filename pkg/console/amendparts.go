package console

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
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
	return &problem{Status: http.StatusUnprocessableEntity, Title: "The form is not valid", Detail: fmt.Sprintf("There is no button %q.", short(60, strings.Join(words, " ")))}
}

// partEdit is what a button does to a case, a state or a transition: its words are the operation,
// the part, and then the state, in the form of a URL, the number of the case or the transition, and
// where it moves or what is set of it.
func (v *visit) partEdit(e map[string]any, words []string) error {
	form := v.r.PostForm
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

// partSets are the edits that make the cases and the states what a form has, where that differs.
// What they are called is changed last: the others go by their names until then.
func (v *visit) partSets(was *about, id string, line int) []any {
	var edits, names []any
	set := func(into *[]any, field, old, key string, more map[string]any) {
		given, there := v.r.PostForm[field]
		if !there || strings.ReplaceAll(given[0], "\r", "") == strings.ReplaceAll(old, "\r", "") {
			return
		}
		e := map[string]any{"op": "set", "activity": id, "line": line, "key": key, "fieldText": given[0]}
		for k, x := range more {
			e[k] = x
		}
		*into = append(*into, e)
		line = 0 // an edit may have moved it
	}
	for i, c := range was.Cases {
		at := fmt.Sprintf("c.%d.", i+1)
		part := map[string]any{"part": "case", "number": i + 1}
		set(&edits, at+"label", c.Label, "label", part)
		set(&edits, at+"when", c.When, "when", part)
	}
	for i, s := range was.States {
		at := fmt.Sprintf("s.%d.", i+1)
		set(&names, at+"name", s.Name, "name", map[string]any{"part": "state", "state": s.Name})
		for j, t := range s.Transitions {
			at := fmt.Sprintf("%s%d.", at, j+1)
			part := map[string]any{"part": "transition", "state": s.Name, "number": j + 1}
			set(&edits, at+"on", t.On, "on", part)
			set(&edits, at+"when", t.When, "when", part)
			set(&edits, at+"to", t.To, "to", part)
		}
	}
	return append(edits, names...)
}
