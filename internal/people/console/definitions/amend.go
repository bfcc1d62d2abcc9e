package definitions

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-run/weft/internal/people/console/page"
)

// about is an activity of a text that somebody edits, as the API tells it.
type about struct {
	ID, Type                               string
	Line, Column                           int
	Fields                                 []amendField
	Branches, Outcomes, Near, Types, Wraps []string
	Flowchart, Up, Down, Delete            bool
	Ways                                   []struct{ Port, To string }
	Parts, CaseKeys                        []string
	Cases                                  []amendCase
	States                                 []amendState

	typed url.Values // what somebody typed that is not in the text
}

// amendField is an input of an activity, or a key that each may have.
type amendField struct {
	Name, Type, Description, Text string
	Required, Key                 bool
	Options                       []string
	Line                          int
	Problems                      []string // what is wrong with what is written there
}

// Long tells a field that gets more than one line.
func (f amendField) Long() bool {
	return strings.Contains(f.Text, "\n") || f.Name == "script" || len(f.Text) > 80
}

// breaks are line ends as a browser sends them of a field with several lines; it sends none of
// the other ones.
var breaks = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// sent is what a browser sends of the field if nobody touches it, with \n as its line ends. A
// carriage return does not come back: compared with it, the text of others would be written again.
func (f amendField) sent() string {
	if f.Long() {
		return breaks.Replace(f.Text)
	}
	return strings.ReplaceAll(f.Text, "\r", "")
}

// amended is what an edit answers.
type amended struct {
	Text         string
	Line, Column int
	Problems     []page.ProblemItem
	About        *about
}

// amendView is the part of the editor that is about one activity.
type amendView struct {
	Why     string // it may not be edited; "": it may
	Asked   string // the id that was asked for
	About   *about // nil: none is chosen
	Refused *page.Problem
	Done    string   // what was done, in words
	Told    []string // what an edit broke
	Rest    []string // what is wrong with the activity beside its fields
}

// Amend edits the text of an editor by the activities of its picture. Without a script it
// answers the page of the editor; with one, the text and the part about the activity.
func Amend(v *page.Visit) {
	if err := v.ReadForm(page.MaxForm); err != nil {
		status, title := http.StatusRequestEntityTooLarge, "The form is too large"
		if errors.Is(err, page.ErrManyForms) {
			status, title = http.StatusServiceUnavailable, "The node is busy"
		}
		v.Fail("", &page.Problem{Status: status, Title: title, Detail: "Nothing was edited; go back and try again."})
		return
	}
	form := v.Request.PostForm
	source := strings.ReplaceAll(form.Get("source"), "\r\n", "\n")
	part := amendView{Asked: form.Get("e.activity")}
	got, err := edited(v, source, part.Asked)
	var p *page.Problem
	switch {
	case err == nil:
		source, part.About = got.Text, got.About
		part.Done = did(form, &got)
		for _, t := range got.Problems {
			part.Told = append(part.Told, fmt.Sprintf("Line %d: %s", t.Line, t.Detail))
		}
	case errors.As(err, &p):
		part.Refused = p
		line, _ := strconv.Atoi(form.Get("e.line")) // 0: not said
		for _, line := range []int{line, 0} {       // what it was about is still chosen
			if was, err := askEdit(v, source, part.Asked, line, nil); err == nil && part.About == nil {
				part.About = was.About
			}
		}
		// What was typed into cases that are others by now has no field to go back to.
		if lines := typedParts(form); len(lines) > 0 && (part.About == nil || !part.About.shownBy(form)) {
			p.Detail += " These fields came with it:"
			p.Errors = append(p.Errors, page.ProblemItem{Excerpt: strings.Join(lines, "\n")})
		}
	default:
		v.Fail("definitions", err)
		return
	}
	form.Set("source", source)
	view := written(v)
	part.place(view.Checked.Problems)
	view.Part = part
	if !strings.Contains(v.Request.Header.Get("Accept"), "application/json") {
		view.Part.keep(form)
		v.Render(http.StatusOK, "edit", page.Page{Title: "Edit " + view.ID, Here: "definitions", View: view})
		return
	}
	var out bytes.Buffer
	if err := v.Part(&out, "edit", "part", part); err != nil {
		v.Fail("definitions", err)
		return
	}
	answer := map[string]any{"text": source, "part": out.String(), "refused": part.Refused != nil, "line": 0, "done": part.Done}
	if part.Refused == nil && form.Get("e.op") != "" {
		answer["line"] = got.Line
	}
	v.Writer.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(v.Writer).Encode(answer) // the reader may be gone
}

// edited asks the API for what the button of a form says: an edit with its words, such as
// "insert before", or nothing but what is about the activity.
func edited(v *page.Visit, source, id string) (got amended, err error) {
	form := v.Request.PostForm
	line, _ := strconv.Atoi(form.Get("e.line")) // 0: not said
	words := strings.Fields(form.Get("e.op"))
	e := map[string]any{"activity": id, "line": line}
	if len(words) == 0 || id == "" {
		return askEdit(v, source, id, line, nil)
	}
	part := isPart(words)
	if part {
		if err := partEdit(v, e, words); err != nil {
			return amended{}, err
		}
	} else if err := ownEdit(v, e, words); err != nil {
		return amended{}, err
	}
	apply := words[0] == "set" && !part
	// Nobody wants what was written in the fields of what goes.
	if !part && (words[0] == "delete" || !apply && !fieldsGiven(v)) {
		return askEdit(v, source, id, line, []any{e})
	}
	was, edits, err := setFields(v, source, e)
	if err != nil || apply && len(edits) == 0 {
		return was, err
	}
	if !apply {
		if len(edits) > 0 {
			e["line"] = 0 // they may have moved it
			e["activity"] = cmp.Or(form.Get("f.id"), id)
		}
		edits = append(edits, e)
	}
	return askEdit(v, source, id, line, edits)
}

// ownEdit is what a button does to the activity itself.
func ownEdit(v *page.Visit, e map[string]any, words []string) (err error) {
	form := v.Request.PostForm
	switch e["op"] = words[0]; words[0] {
	case "insert":
		e["type"], e["where"] = form.Get("e.type"), "after"
		if len(words) > 1 {
			e["where"] = words[1]
		}
		if len(words) > 2 {
			e["branch"] = words[2]
		}
		if port := form.Get("e.port"); port != "" && e["where"] == "after" {
			e["port"] = port
		}
	case "move":
		e["where"] = words[len(words)-1]
	case "wrap":
		e["type"] = form.Get("e.wrap")
	case "connect", "disconnect":
		e["to"], e["port"] = form.Get("e.to"), form.Get("e.port")
		if len(words) == 3 { // one that is there
			for i, key := range []string{"port", "to"} {
				if e[key], err = url.QueryUnescape(words[i+1]); err != nil {
					return badForm(words)
				}
			}
		}
	}
	return nil
}

// isPart tells whether a button is about a part of an activity, such as a case.
func isPart(words []string) bool {
	return len(words) > 1 && slices.Contains([]string{"insert", "delete", "move", "set"}, words[0]) && slices.Contains([]string{"case", "state", "transition"}, words[1])
}

// fieldsGiven tells whether fields of an activity came with the form: a script sends those that
// somebody changed, a browser without one sends all.
func fieldsGiven(v *page.Visit) bool {
	for name := range v.Request.PostForm {
		if strings.HasPrefix(name, "f.") || ofPart(name) {
			return true
		}
	}
	return false
}

// setFields gives the edits that set the fields of a form that are not as the text has them,
// before the edit e; the id is the last. Names that they change are changed in e.
func setFields(v *page.Visit, source string, e map[string]any) (was amended, edits []any, err error) {
	id, line := e["activity"].(string), e["line"].(int)
	if was, err = askEdit(v, source, id, line, nil); err != nil || was.About == nil {
		return was, nil, err
	}
	if err := sameParts(v, was.About, e); err != nil {
		return was, nil, err
	}
	edits = partSets(v, was.About, e)
	if len(edits) > 0 {
		line = 0 // an edit may have moved it
	}
	fields := slices.Clone(was.About.Fields)
	slices.SortStableFunc(fields, func(a, b amendField) int { // by the old id until the last edit
		switch {
		case a.Key && a.Name == "id":
			return 1
		case b.Key && b.Name == "id":
			return -1
		}
		return 0
	})
	for _, f := range fields {
		given, there := v.Request.PostForm["f."+f.Name]
		if !there {
			continue
		}
		if text := strings.ReplaceAll(given[0], "\r\n", "\n"); text != f.sent() {
			edits = append(edits, map[string]any{"op": "set", "activity": id, "line": line, "key": f.Name, "fieldText": text})
			line = 0 // an edit may have moved it
		}
	}
	return was, edits, nil
}

// askEdit asks the API for edits, or, without some, for what is about an activity.
func askEdit(v *page.Visit, source, id string, line int, edits []any) (got amended, err error) {
	if id == "" {
		got.Text = source
		return got, nil
	}
	if len(edits) > editsAtOnce {
		return inTurns(v, source, id, line, edits)
	}
	body := map[string]any{"text": source, "edits": edits}
	if len(edits) == 0 {
		body = map[string]any{"text": source, "about": id, "line": line}
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return got, err
	}
	to, err := v.Ask(page.Call{Method: http.MethodPost, Path: "/definitions/edit", Body: raw, ContentType: "application/json"})
	if err != nil {
		return got, err
	}
	return got, json.Unmarshal(to.Body.Bytes(), &got)
}

// How many edits the API makes at once, and how many a form may ask for.
const (
	editsAtOnce = 20
	editsOfForm = 200
)

// inTurns makes more edits than the API makes at once. If one is refused, none is made.
func inTurns(v *page.Visit, source, id string, line int, edits []any) (got amended, err error) {
	if len(edits) > editsOfForm {
		return got, &page.Problem{Status: http.StatusUnprocessableEntity, Title: "Not all at once", Detail: fmt.Sprintf("Of this form %d fields are changed, and at most %d are written at once. Apply some of them before you change the others, or edit the text.", len(edits), editsOfForm)}
	}
	got.Text = source
	var told []page.ProblemItem
	for turn := range slices.Chunk(edits, editsAtOnce) {
		if got, err = askEdit(v, got.Text, id, line, turn); err != nil {
			return got, err
		}
		told = append(told, got.Problems...)
	}
	got.Problems = told
	return got, nil
}

// keep has the form show again what somebody typed that is not in the text: all that was refused,
// and what an edit did not ask for of something new.
func (p *amendView) keep(form url.Values) {
	if p.About == nil || p.About.ID != p.Asked {
		return
	}
	refused := p.Refused != nil
	for i := range p.About.Fields {
		f := &p.About.Fields[i]
		if given, there := form["f."+f.Name]; there && refused {
			f.Text = given[0]
		}
	}
	p.About.typed = url.Values{}
	for name, given := range form {
		fresh := strings.HasPrefix(name, "n.") && (refused || !isFresh(name, form.Get("e.op")))
		if fresh || refused && ofPart(name) && p.About.shownBy(form) {
			p.About.typed[name] = given
		}
	}
}

// did says in words what an edit did; "" if none was asked for.
func did(form url.Values, got *amended) string {
	words := strings.Fields(form.Get("e.op"))
	if len(words) == 0 || form.Get("e.activity") == "" {
		return ""
	}
	of, now := page.Short(60, form.Get("e.activity")), ""
	if got.About != nil {
		now = page.Short(60, got.About.ID)
	}
	var said string
	if isPart(words) {
		words[0] = "the " + words[1] + "s"
	}
	switch words[0] {
	case "insert":
		where := map[string]string{"before": "before", "after": "behind", "into": "in"}[append(words, "after")[1]]
		said = fmt.Sprintf("Added %s %s %s", now, where, of)
		if len(words) > 2 {
			said += ", as the last of " + words[2]
		}
	case "delete":
		said = "Deleted " + of
	case "move":
		said = fmt.Sprintf("Moved %s %s", of, words[len(words)-1])
	case "wrap":
		said = fmt.Sprintf("Wrapped %s in %s", of, form.Get("e.wrap"))
	case "connect", "disconnect":
		port, to := form.Get("e.port"), form.Get("e.to")
		if len(words) == 3 {
			port, _ = url.QueryUnescape(words[1]) // else the edit was refused
			to, _ = url.QueryUnescape(words[2])
		}
		said = fmt.Sprintf("%sed %s, %s to %s", strings.ToUpper(words[0][:1])+words[0][1:], of, page.Short(60, cmp.Or(port, "Done")), page.Short(60, to))
	case "set":
		if strings.ReplaceAll(form.Get("source"), "\r\n", "\n") == got.Text {
			return "Nothing is to be changed: all is as the text has it."
		}
		said = "Changed " + cmp.Or(now, of)
	default:
		said = "Changed " + words[0] + " of " + of
	}
	said += fmt.Sprintf(", line %d.", got.Line)
	if len(got.Problems) > 0 {
		said += " It left something behind: see below."
	}
	return said
}

// place puts problems beside the fields that they are in.
func (p *amendView) place(found []page.ProblemItem) {
	if p.About == nil {
		return
	}
	for _, it := range found {
		at := slices.IndexFunc(p.About.Fields, func(f amendField) bool { return f.Line > 0 && f.Line == it.Line })
		named := slices.IndexFunc(p.About.Fields, func(f amendField) bool { return strings.Contains(it.Detail, f.Name) })
		switch {
		case at >= 0 && p.About.Line != it.Line:
			p.About.Fields[at].Problems = append(p.About.Fields[at].Problems, it.Detail)
		case p.About.Line == it.Line && named >= 0 && !p.About.Fields[named].Key:
			p.About.Fields[named].Problems = append(p.About.Fields[named].Problems, it.Detail)
		case p.About.Line == it.Line:
			p.Rest = append(p.Rest, it.Detail)
		}
	}
}
