package act

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-run/weft/internal/people/console/cluster"
	"github.com/weft-run/weft/internal/people/console/definitions"
	"github.com/weft-run/weft/internal/people/console/page"
	"github.com/weft-run/weft/internal/people/console/shape"
	"github.com/weft-run/weft/pkg/workflow"
)

// Do does what a form asks for, by the operation of its address.
func Do(v *page.Visit) {
	if err := v.ReadForm(page.MaxForm); errors.Is(err, page.ErrManyForms) {
		v.Fail("", &page.Problem{Status: http.StatusServiceUnavailable, Title: "The node is busy", Detail: "It reads as many forms as it may; go back and send it again: it acts once."})
		return
	} else if err != nil {
		v.Fail("", page.UnreadForm(err))
		return
	}
	name := v.Request.PathValue("operation")
	q, err := callOf(v, name)
	if err == nil {
		var to *page.Answer
		if to, err = v.Ask(q); err == nil {
			switch {
			case name == "publishDefinition" && q.Query.Has("dryRun"):
				definitions.CheckedSource(v)
			case name == "tryDefinition":
				definitions.Tested(v, to, nil)
			case slices.Contains(cluster.Severals, name):
				cluster.Several(v, to)
			default:
				acted(v, name, to)
			}
			return
		}
	}
	var p *page.Problem
	if !errors.As(err, &p) {
		v.Fail("", err)
		return
	}
	switch name {
	case "publishDefinition":
		definitions.RefusedSource(v, p)
		return
	case "tryDefinition":
		definitions.Tested(v, nil, p)
		return
	}
	view := page.AgainView{Action: v.Request.URL.Path, Back: v.Back(), Fields: page.Fields(v.Request.PostForm), Unknown: p.Code == string(workflow.CodeUnknownOutcome)}
	if p.Code == string(workflow.CodeInstanceUndone) {
		view.Undone = meant(name, v.Request.PostForm)
	}
	v.Render(p.Status, "again", page.Page{Title: p.Title, Problem: p, View: view})
}

// callOf makes a call of the API of a form.
func callOf(v *page.Visit, name string) (q page.Call, err error) {
	op, ok := v.Operation(name)
	if !ok || op.Method == http.MethodGet {
		return q, &page.Problem{Status: http.StatusNotFound, Title: "No such action", Detail: "The API of this node has no action of this name."}
	}
	q = page.Call{Method: op.Method, Path: op.Path, Query: url.Values{}, Key: v.Request.PostForm.Get("key")}
	body, input, alter := map[string]any{}, map[string]any{}, alterations{}
	for field, values := range v.Request.PostForm {
		text := strings.ReplaceAll(values[0], "\r\n", "\n")
		switch prefix, rest := field[:min(2, len(field))], field[min(2, len(field)):]; {
		case field == page.SelectedField:
			if body["q"], err = searched(values); err != nil {
				return q, err
			}
		case prefix == page.PathField:
			q.Path = strings.ReplaceAll(q.Path, "{"+rest+"}", url.PathEscape(text))
		case text == "":
		case prefix == page.QueryField:
			q.Query.Set(rest, text)
		case prefix == page.TextField:
			body[rest] = text
		case prefix == page.JSONField:
			if !json.Valid([]byte(text)) {
				return q, &page.Problem{Status: http.StatusUnprocessableEntity, Title: "The form is not valid", Detail: fmt.Sprintf("%s is no JSON; a text needs quotation marks around it.", rest), Code: string(workflow.CodeInvalid)}
			}
			body[rest] = json.RawMessage(text)
		case prefix == page.InputField:
			if err := typed(input, rest, text); err != nil {
				return q, err
			}
		case prefix == page.AlterField:
			if err := alter.add(rest, text, v.Now().In(v.Zone())); err != nil {
				return q, err
			}
		case field == "over":
			q.Match = `"` + text + `"`
		case field == "wait":
			q.Prefer = "wait=" + text
		case field == "source":
			q.Body, q.ContentType = []byte(text), "application/x-www-form-urlencoded" // told by its look
		}
	}
	as := "input"
	if name == "completeUserTask" {
		as = "data"
	}
	err = writes(&q, body, as, input, alter.list())
	return q, err
}

// writes makes the body of a call of what a form has for it; of nothing none.
func writes(q *page.Call, body map[string]any, as string, input map[string]any, alter []any) (err error) {
	if err := join(body, as, input); err != nil {
		return err
	}
	if len(alter) > 0 {
		body["alterations"] = alter
	}
	if len(body) > 0 {
		q.ContentType = "application/json"
		q.Body, err = json.Marshal(body)
	}
	return err
}

// acted goes on behind an action: with what it answered if that has something to tell,
// else with the page that it came from.
func acted(v *page.Visit, name string, to *page.Answer) {
	if name == "alterInstance" && v.Request.PostForm.Get("q.dryRun") != "" {
		tried(v, to)
		return
	}
	if name == "refreshDefinitions" || name == "reloadDefinitions" {
		var view cluster.Refreshed
		err := json.Unmarshal(to.Body.Bytes(), &view)
		if err == nil {
			err = cluster.RefreshedNow(v, &view, name)
		}
		if err != nil {
			v.Fail("cluster", err)
		}
		return
	}
	if name == "completeUserTask" {
		v.Redirect(v.Back(), name)
		return
	}
	var result shape.ResultView
	if name == "publishDefinition" || name == "publishVersion" {
		if err := json.Unmarshal(to.Body.Bytes(), &result); err == nil && result.Revision > 0 && result.Published != nil && *result.Published {
			v.Redirect(page.Address(strings.TrimSuffix(page.Path, "/")+page.At("definitions", result.ID, "flip"), url.Values{
				"before": {strconv.Itoa(result.Before)}, "after": {strconv.Itoa(result.Version)}, "revision": {strconv.FormatInt(result.Revision, 10)},
			}), name)
			return
		}
	}
	if err := json.Unmarshal(to.Body.Bytes(), &result); err == nil && tells(&result, name) {
		result.Back, result.Accepted, result.Checked = v.Back(), to.Status == http.StatusAccepted, v.Request.PostForm.Get("q.dryRun") != ""
		v.Render(http.StatusOK, "result", page.Page{Title: "Done", View: result})
		return
	}
	v.Redirect(cmp.Or(v.Request.PostForm.Get("gone"), v.Back()), name) // where the page is gone with what it showed
}

// tells tells whether the answer to an operation has something that its page cannot show.
func tells(r *shape.ResultView, operation string) bool {
	if operation == "createJob" && r.State == "" { // a dry run
		return true
	}
	if len(r.Outcomes) > 0 || r.Queued != nil || r.Resumes != nil || r.Published != nil {
		return true
	}
	return r.InstanceID != "" && (operation == "dispatchDefinition" || operation == "executeDefinition" || operation == "fireSchedule")
}

// meant are the fields of a retry that was refused, with what says that it is meant.
func meant(name string, form url.Values) []page.Field {
	form = maps.Clone(form)
	form.Set("key", page.NewKey()) // it is another request
	switch name {
	case "retryInstance":
		form.Set(page.JSONField+"again", "true")
	case "alterInstance":
		form.Set(page.AlterField+"0:boolean:again", "true")
	default:
		return nil
	}
	return page.Fields(form)
}
