package waiting

import (
	"bytes"
	"encoding/json"
	"html/template"
	"maps"
	"slices"

	"github.com/weft-run/weft/internal/people/console/markdown"
	"github.com/weft-run/weft/internal/people/console/page"
	"github.com/weft-run/weft/pkg/apiclient"
	"github.com/weft-run/weft/pkg/workflow/usertask"
)

// card is one task.
type card struct {
	apiclient.UserTask
	// As they were read, in place of the decoded ones.
	Form     json.RawMessage `json:"form"`
	TaskData json.RawMessage `json:"taskData"`
}

// view is the page.
type view struct {
	page.ListView[card]
	Others bool   // also those that somebody else has
	Me     string // who looks, as claims have it
}

// Page lists what waits for who looks.
func Page(v *page.Visit) (string, any, error) {
	found, err := page.Paged[card](v, "/user-tasks", nil, "others")
	me := usertask.Anyone
	if v.Who != nil {
		me = v.Who.Name
	}
	return "Waiting for me", view{found, found.Filter["others"] == "true", me}, err
}

// Told is the instructions as Markdown.
func (c *card) Told() template.HTML { return markdown.HTML(c.Instructions) }

// fact is a member of what a task is about.
type fact struct {
	Name, Text string          // of a text, number or truth value
	Value      json.RawMessage // of all else
}

// mostFacts is how many members are shown beside each other.
const mostFacts = 20

// Facts are the members of what the task is about; none: it is no object, or one with many.
func (c *card) Facts() (facts []fact) {
	var all map[string]json.RawMessage
	if json.Unmarshal(c.TaskData, &all) != nil || len(all) > mostFacts {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		f := fact{Name: name, Value: all[name]}
		switch raw := bytes.TrimSpace(f.Value); {
		case json.Unmarshal(raw, &f.Text) == nil:
			f.Value = nil
		case len(raw) > 0 && raw[0] != '{' && raw[0] != '[':
			f.Text, f.Value = string(raw), nil
		}
		facts = append(facts, f)
	}
	return facts
}

// Field is one of a form, with the kind that the name of its input tells.
type Field struct {
	usertask.Field
}

// Fields are those of its form; none of one that a program of another version made, and that is not known here.
func (c *card) Fields() (all []Field) {
	t := usertask.Task{Form: c.Form}
	fields, err := t.Fields()
	if err != nil {
		return nil
	}
	for i := range fields {
		all = append(all, Field{fields[i]})
	}
	return all
}

// Kind says what a field is filled in as; one that is masked says so before.
func (f Field) Kind() string {
	kind := "text"
	switch f.Type {
	case "number", "integer":
		kind = "number"
	case "boolean":
		kind = "boolean"
	}
	if f.Masked {
		return page.MaskedKind + kind
	}
	return kind
}

// Numeric tells whether a field is a number.
func (f Field) Numeric() bool { return f.Type == "number" || f.Type == "integer" }

// Input is the type of the input of a text.
func (f Field) Input() string {
	switch {
	case f.Masked:
		return "password"
	case f.Format == "date", f.Format == "email":
		return f.Format
	}
	return "text"
}

// Usual is what stands in it at first, as text.
func (f Field) Usual() string {
	switch v := f.Default.(type) {
	case string:
		return v
	case bool:
		if v {
			return "true"
		}
		return "false"
	case json.Number:
		return v.String()
	}
	return ""
}
