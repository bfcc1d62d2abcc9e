package console

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// checked is what the API says of a source that somebody writes.
type checked struct {
	ID       string
	Version  int
	Problems []problemItem
	Picture  string
}

// editView is the editor of a definition.
type editView struct {
	ID      string // "": a new one
	Over    int    // the version that the text was made from; 0: none
	Source  string
	Checked checked
	Picture template.HTML
	Moved   []difference // from the version that is there now to the text; nil: nothing moved
	Refused *problem     // of publishing; its errors are among those of the check
	Unkept  bool         // the text is what somebody sent, and nowhere else
	Part    amendView    // about the activity that is chosen
}

// edit shows the editor with the source of a definition, or a new one.
func edit(v *visit) (string, any, error) {
	view := editView{ID: v.r.PathValue("id")}
	if from := v.r.URL.Query().Get("from"); view.ID == "" && from != "" {
		view.ID = from
	}
	if view.ID == "" {
		return "Publish a definition", v.checked(view), nil
	}
	var err error
	if view.Source, view.Over, err = v.source(view.ID); err != nil {
		return "", nil, err
	}
	if old := v.r.URL.Query().Get("version"); old != "" { // an older text, over what is there
		if view.Source, err = v.text(at("definitions", view.ID), url.Values{"version": {old}}); err != nil {
			return "", nil, err
		}
	}
	view = v.checked(view)
	if view.Picture == "" { // who may not publish sees what is published
		view.Picture, err = v.picture(at("definitions", view.ID, "graph"), nil)
	}
	return "Edit " + view.ID, view, err
}

// source reads the source of a definition, with the version that it is.
func (v *visit) source(id string) (text string, version int, err error) {
	to, err := v.ask(asked{method: http.MethodGet, path: at("definitions", id)})
	if err != nil {
		return "", 0, err
	}
	if version, err = strconv.Atoi(strings.Trim(to.head.Get("ETag"), `"`)); err != nil {
		return "", 0, fmt.Errorf("read the version of definition %s: %w", id, err)
	}
	return to.body.String(), version, nil
}

// checked finds the mistakes of the text of an editor, and draws it. Who may not ask for that
// sees the text alone.
func (v *visit) checked(view editView) editView {
	if strings.TrimSpace(view.Source) == "" {
		return view
	}
	to, err := v.ask(asked{method: http.MethodPost, path: "/definitions/check", query: url.Values{"picture": {"true"}}, body: []byte(view.Source), contentType: "text/plain"})
	if err != nil || json.Unmarshal(to.body.Bytes(), &view.Checked) != nil {
		return view
	}
	view.Picture = template.HTML(view.Checked.Picture) // the API made it, with all texts escaped
	return view
}

// Count says how many problems there are.
func (v editView) Count() string {
	wrong := 0
	for _, p := range v.Checked.Problems {
		if p.Severity != "warning" {
			wrong++
		}
	}
	switch {
	case strings.TrimSpace(v.Source) == "":
		return "Nothing is written yet."
	case v.Checked.Version == 0 && wrong == 0 && v.Checked.ID == "":
		return ""
	case wrong > 0:
		return fmt.Sprintf("%d to mend.", wrong)
	case v.Checked.Version <= v.Over:
		return fmt.Sprintf("It is as version %d of %s.", v.Checked.Version, v.Checked.ID)
	}
	return fmt.Sprintf("It can be published, as version %d of %s.", v.Checked.Version, v.Checked.ID)
}

// written is the editor with the text of a form.
func (v *visit) written() editView {
	view := editView{Source: strings.ReplaceAll(v.r.PostForm.Get("source"), "\r\n", "\n"), Unkept: true}
	view.Over, _ = strconv.Atoi(v.r.PostForm.Get("over")) // 0: none
	view = v.checked(view)
	view.ID = cmp.Or(view.Checked.ID, v.r.PostForm.Get("id"))
	return view
}

// checkedSource shows the editor again with a text that could be published.
func (v *visit) checkedSource() {
	view := v.written()
	found := "No problems were found. Nothing is published yet."
	if len(view.Checked.Problems) > 0 {
		found = "It can be published, with warnings. Nothing is published yet."
	}
	v.render(http.StatusOK, "edit", page{Title: "Edit " + view.ID, Here: "definitions", Done: found, View: view})
}

// refusedSource shows the editor again with a text that was not published. If another version
// came between, it shows what publishing would change of that.
func (v *visit) refusedSource(p *problem) {
	view := v.written()
	view.Refused = p
	title := "Not published"
	if p.Code == string(workflow.CodeDefinitionMoved) && view.ID != "" {
		now, version, err := v.source(view.ID)
		var gone *problem
		switch {
		case err == nil:
			view.Over, view.Moved, title = version, differ(linesOf(now), linesOf(view.Source)), "Another version came between"
		case errors.As(err, &gone) && gone.Status == http.StatusNotFound:
			view.Over, title = 0, "The definition is gone"
		default:
			v.fail("definitions", err)
			return
		}
	}
	if len(view.Checked.Problems) > 0 { // each is shown once
		refused := *p
		refused.Errors = nil
		view.Refused = &refused
	}
	v.render(p.Status, "edit", page{Title: title, Here: "definitions", View: view})
}

func linesOf(text string) []string {
	return strings.Split(strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n")
}

// tells are the operations that an editor asks while somebody types: they only look.
var tells = []string{"checkDefinition", "suggest"}

// tell passes a text on to an operation that only looks, and its answer back.
func (v *visit) tell() {
	name := v.r.PathValue("operation")
	op, ok := v.operation(name)
	if !ok || !slices.Contains(tells, name) {
		http.NotFound(v.w, v.r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(v.w, v.r.Body, maxForm))
	if err != nil {
		http.Error(v.w, "The text did not arrive.", http.StatusBadRequest)
		return
	}
	to, err := v.ask(asked{method: op.method, path: op.path, query: v.r.URL.Query(), body: body, contentType: "text/plain"})
	var p *problem
	if err != nil && !errors.As(err, &p) {
		v.fail("", err)
		return
	}
	v.w.Header().Set("Content-Type", "application/json")
	v.w.WriteHeader(to.status)
	_, _ = v.w.Write(to.body.Bytes()) // the reader may be gone
}

type versionsView struct {
	ID         string
	Versions   listView[version]
	From, To   int
	Lines      []difference
	Before     template.HTML
	After      template.HTML
	Gone, Came []starts // what started instances before and does not now, and the other way
}

// version is a version of a definition.
type version struct {
	Version   int
	Published bool
	Notation  string
	CreatedAt time.Time
}

// versions lists the versions of a definition, and shows what differs between two of them.
func versions(v *visit) (string, any, error) {
	view := versionsView{ID: v.r.PathValue("id")}
	var err error
	if view.Versions, err = paged[version](v, at("definitions", view.ID, "versions"), nil); err != nil {
		return "", nil, err
	}
	query := v.r.URL.Query()
	view.From, _ = strconv.Atoi(query.Get("from")) // 0: the one before
	view.To, _ = strconv.Atoi(query.Get("to"))     // 0: the newest
	if items := view.Versions.Items; view.To == 0 && len(items) > 0 {
		view.To = items[0].Version
	}
	if view.From == 0 {
		for _, it := range view.Versions.Items {
			if it.Version < view.To {
				view.From = it.Version
				break
			}
		}
	}
	if view.From != 0 && view.To != 0 && view.From != view.To {
		err = v.compare(&view)
	}
	return "Versions of " + view.ID, view, err
}

// compare reads two versions.
func (v *visit) compare(view *versionsView) error {
	var texts [2][]string
	var faces [2]face
	pictures := [2]*template.HTML{&view.Before, &view.After}
	for i, n := range []int{view.From, view.To} {
		which := url.Values{"version": {strconv.Itoa(n)}}
		text, err := v.text(at("definitions", view.ID), which)
		if err != nil {
			return err
		}
		texts[i] = linesOf(text)
		which.Set("against", strconv.Itoa([]int{view.To, view.From}[i]))
		if *pictures[i], err = v.picture(at("definitions", view.ID, "graph"), which); err != nil {
			return err
		}
		which.Del("against")
		if faces[i], err = v.face(view.ID, which); err != nil {
			return err
		}
	}
	view.Lines = differ(texts[0], texts[1])
	view.Gone, view.Came = without(faces[0].Starts, faces[1].Starts), without(faces[1].Starts, faces[0].Starts)
	return nil
}

func without(some, others []starts) []starts {
	return slices.DeleteFunc(slices.Clone(some), func(s starts) bool { return slices.Contains(others, s) })
}

// face is what a definition takes and gives, and what starts it.
type face struct {
	ID                                string
	Version, Published, LatestVersion int
	Name, Description                 *string
	Inputs, Outputs                   []declared
	MoreInputs                        bool
	Starts                            []starts
}

type declared struct {
	Name, Type, Description string
	List, Required          bool
	Default                 json.RawMessage
}

// starts is an activity that starts instances, and when it does.
type starts struct{ ActivityID, ActivityType, When string }

// face reads the interface of a definition. One that this node cannot compile has none to show.
func (v *visit) face(id string, query url.Values) (face, error) {
	f, err := get[face](v, at("definitions", id, "interface"), query)
	var p *problem
	if errors.As(err, &p) && p.Status != http.StatusNotFound {
		return face{ID: id, MoreInputs: true}, nil
	}
	return f, err
}

// Kind says which field of a form an input gets.
func (d declared) Kind() string {
	switch d.Type {
	case "String", "DateTime", "DateTimeOffset", "TimeSpan":
		if !d.List {
			return "text"
		}
	case "Int16", "Int32", "Int64", "Single", "Double", "Decimal":
		if !d.List {
			return "number"
		}
	case "Boolean":
		if !d.List {
			return "boolean"
		}
	}
	return "json"
}

// Usual is the default as a field shows it.
func (d declared) Usual() string {
	var text string
	if json.Unmarshal(d.Default, &text) == nil {
		return text
	}
	return string(d.Default)
}

// typed reads a field of a run form, by the kind in its name, into the input.
func typed(input map[string]any, field, text string) error {
	kind, name, _ := strings.Cut(field, ":")
	wrong := func(want string) error {
		return &problem{Status: http.StatusUnprocessableEntity, Title: "The form is not valid", Detail: fmt.Sprintf("%s is %q, and has to be %s.", name, short(60, text), want), Code: string(workflow.CodeInvalid)}
	}
	switch kind {
	case "number":
		if !json.Valid([]byte(text)) || strings.ContainsAny(text, `"{[tfn`) {
			return wrong("a number")
		}
		input[name] = json.Number(text)
	case "boolean":
		input[name] = text == "true"
	case "json":
		if !json.Valid([]byte(text)) {
			return wrong("JSON; a text needs quotation marks around it")
		}
		input[name] = json.RawMessage(text)
	default:
		input[name] = text
	}
	return nil
}

// flipView shows a publication arrive at each node.
type flipView struct {
	ID            string
	Before, After int
	Serves        serves
}

// Settled tells that the page has nothing to wait for.
func (f *flipView) Settled() bool { return f.Serves.Settled() }

// flip follows a publication.
func flip(v *visit) (string, any, error) {
	query := v.r.URL.Query()
	view := flipView{ID: v.r.PathValue("id")}
	view.Before, _ = strconv.Atoi(query.Get("before"))
	view.After, _ = strconv.Atoi(query.Get("after"))
	revision, _ := strconv.ParseInt(query.Get("revision"), 10, 64)
	var err error
	view.Serves, err = v.serving(revision)
	return fmt.Sprintf("%s version %d", view.ID, view.After), &view, err
}
