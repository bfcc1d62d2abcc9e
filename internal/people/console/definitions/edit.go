package definitions

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

	"github.com/weft-run/weft/internal/people/console/differ"
	"github.com/weft-run/weft/internal/people/console/page"
	"github.com/weft-run/weft/pkg/workflow"
)

// checked is what the API says of a source that somebody writes.
type checked struct {
	ID       string
	Version  int
	Problems []page.ProblemItem
	Picture  string
}

// editView is the editor of a definition.
type editView struct {
	ID      string // "": a new one
	Over    int    // the version that the text was made from; 0: none
	Source  string
	Checked checked
	Picture template.HTML
	Moved   []differ.Line // from the version that is there now to the text; nil: nothing moved
	Refused *page.Problem // of publishing; its errors are among those of the check
	Unkept  bool          // the text is what somebody sent, and nowhere else
	Part    amendView     // about the activity that is chosen
}

// Edit shows the editor with the source of a definition, or a new one.
func Edit(v *page.Visit) (string, any, error) {
	view := editView{ID: v.Request.PathValue("id")}
	if from := v.Request.URL.Query().Get("from"); view.ID == "" && from != "" {
		view.ID = from
	}
	if view.ID == "" {
		return "Publish a definition", check(v, view), nil
	}
	var err error
	if view.Source, view.Over, err = sourceOf(v, view.ID); err != nil {
		return "", nil, err
	}
	if old := v.Request.URL.Query().Get("version"); old != "" { // an older text, over what is there
		if view.Source, err = v.Text(page.At("definitions", view.ID), url.Values{"version": {old}}); err != nil {
			return "", nil, err
		}
	}
	view = check(v, view)
	if view.Picture == "" { // who may not publish sees what is published
		view.Picture, err = v.Picture(page.At("definitions", view.ID, "graph"), nil)
	}
	return "Edit " + view.ID, view, err
}

// sourceOf reads the source of a definition, with the version that it is.
func sourceOf(v *page.Visit, id string) (text string, version int, err error) {
	to, err := v.Ask(page.Call{Method: http.MethodGet, Path: page.At("definitions", id)})
	if err != nil {
		return "", 0, err
	}
	if version, err = strconv.Atoi(strings.Trim(to.Head.Get("ETag"), `"`)); err != nil {
		return "", 0, fmt.Errorf("read the version of definition %s: %w", id, err)
	}
	return to.Body.String(), version, nil
}

// check finds the mistakes of the text of an editor, and draws it. Who may not ask for that
// sees the text alone.
func check(v *page.Visit, view editView) editView {
	if strings.TrimSpace(view.Source) == "" {
		return view
	}
	to, err := v.Ask(page.Call{Method: http.MethodPost, Path: "/definitions/check", Query: url.Values{"picture": {"true"}}, Body: []byte(view.Source), ContentType: "text/plain"})
	if err != nil || json.Unmarshal(to.Body.Bytes(), &view.Checked) != nil {
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
func written(v *page.Visit) editView {
	view := editView{Source: strings.ReplaceAll(v.Request.PostForm.Get("source"), "\r\n", "\n"), Unkept: true}
	view.Over, _ = strconv.Atoi(v.Request.PostForm.Get("over")) // 0: none
	view = check(v, view)
	view.ID = cmp.Or(view.Checked.ID, v.Request.PostForm.Get("id"))
	return view
}

// CheckedSource shows the editor again with a text that could be published.
func CheckedSource(v *page.Visit) {
	view := written(v)
	found := "No problems were found. Nothing is published yet."
	if len(view.Checked.Problems) > 0 {
		found = "It can be published, with warnings. Nothing is published yet."
	}
	v.Render(http.StatusOK, "edit", page.Page{Title: "Edit " + view.ID, Here: "definitions", Done: found, View: view})
}

// RefusedSource shows the editor again with a text that was not published. If another version
// came between, it shows what publishing would change of that.
func RefusedSource(v *page.Visit, p *page.Problem) {
	view := written(v)
	view.Refused = p
	title := "Not published"
	if p.Code == string(workflow.CodeDefinitionMoved) && view.ID != "" {
		now, version, err := sourceOf(v, view.ID)
		var gone *page.Problem
		switch {
		case err == nil:
			view.Over, view.Moved, title = version, differ.Lines(linesOf(now), linesOf(view.Source)), "Another version came between"
		case errors.As(err, &gone) && gone.Status == http.StatusNotFound:
			view.Over, title = 0, "The definition is gone"
		default:
			v.Fail("definitions", err)
			return
		}
	}
	if len(view.Checked.Problems) > 0 { // each is shown once
		refused := *p
		refused.Errors = nil
		view.Refused = &refused
	}
	v.Render(p.Status, "edit", page.Page{Title: title, Here: "definitions", View: view})
}

func linesOf(text string) []string {
	return strings.Split(strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n")
}

// tells are the operations that an editor asks while somebody types: they only look.
var tells = []string{"checkDefinition", "suggest"}

// Tell passes a text on to an operation that only looks, and its answer back.
func Tell(v *page.Visit) {
	name := v.Request.PathValue("operation")
	op, ok := v.Operation(name)
	if !ok || !slices.Contains(tells, name) {
		http.NotFound(v.Writer, v.Request)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(v.Writer, v.Request.Body, page.MaxForm))
	if err != nil {
		http.Error(v.Writer, "The text did not arrive.", http.StatusBadRequest)
		return
	}
	to, err := v.Ask(page.Call{Method: op.Method, Path: op.Path, Query: v.Request.URL.Query(), Body: body, ContentType: "text/plain"})
	var p *page.Problem
	if err != nil && !errors.As(err, &p) {
		v.Fail("", err)
		return
	}
	v.Writer.Header().Set("Content-Type", "application/json")
	v.Writer.WriteHeader(to.Status)
	_, _ = v.Writer.Write(to.Body.Bytes()) // the reader may be gone
}
