package console

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/pkg/workflow"
)

// maxForm bounds a form, in bytes: it has a definition in it at most.
const maxForm = 4 << 20

// operation is one that openapi.json describes: what a form may ask for.
type operation struct {
	method, path string
	role         auth.Role
}

// readOperations reads what the API can do, and who may do it, from its own description.
func (s *site) readOperations() (map[string]operation, error) {
	r, err := http.NewRequest(http.MethodGet, "/openapi.json", nil)
	if err != nil {
		return nil, err
	}
	r.Host = "localhost"
	to := &answer{head: http.Header{}}
	self := func() (*auth.Principal, error) { return &auth.Principal{Name: "console", Role: auth.Viewer}, nil }
	s.cfg.api.ServeHTTP(to, r.WithContext(auth.WithCaller(r.Context(), self)))
	var doc struct {
		Paths map[string]map[string]struct {
			OperationID string                `json:"operationId"`
			Security    []map[string][]string `json:"security"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(to.body.Bytes(), &doc); err != nil {
		return nil, fmt.Errorf("console: read openapi.json: %w", err)
	}
	found := map[string]operation{}
	for path, methods := range doc.Paths {
		below, ok := strings.CutPrefix(path, api)
		if !ok {
			continue
		}
		for method, op := range methods {
			o := operation{method: strings.ToUpper(method), path: below, role: auth.Anyone}
			for _, one := range op.Security {
				for _, names := range one {
					for _, name := range names {
						if o.role, err = auth.ParseRole(name); err != nil {
							return nil, fmt.Errorf("console: %s: %w", op.OperationID, err)
						}
					}
				}
			}
			found[op.OperationID] = o
		}
	}
	return found, nil
}

// May tells why the reader of a page may not do something; "": it may.
func (p page) May(op string) string {
	o, ok := p.operations[op]
	switch {
	case !ok:
		return "this node's program cannot do it"
	case p.Role >= o.role:
		return ""
	}
	return "this needs the role " + o.role.String()
}

// done says what an action did, for the page that comes behind it.
var done = map[string]string{
	"alterInstance": "The change was taken.", "cancelInstance": "The cancel was taken.", "retryInstance": "The retry was taken.", "deleteInstance": "The instance is deleted.",
	"retryInstances": "The faulted instances are tried again.", "completeTask": "The task is completed.", "resumeBookmark": "The instance was resumed.",
	"replayDeadLetter": "The dead letter was sent again.", "deleteDeadLetter": "The dead letter is deleted.", "deleteQueueItem": "The item is deleted.",
	"sendQueueItem": "The item was sent again.", "pause": "The cluster is paused.", "unpause": "The cluster goes on.", "drainNode": "The node drains and then ends.",
	"createJob": "The job was taken; it goes on without this page.", "cancelJob": "The job goes no further.", "deleteJob": "The job is forgotten.",
	"publishVersion": "The version is published.", "retractDefinition": "The definition is retracted.", "deleteDefinition": "The definition is deleted.",
	"skipSchedule": "The next occurrence is skipped, unless it was fired in the meantime.",
	"theme":        "", "signed-in": "",
}

// selectedField is a field for each row of a list that was chosen, and an empty one: a job is for these
// instances.
const selectedField = "selected"

// Fields of a form. p.NAME is a part of the path, q.NAME of the query, b.NAME a text in the
// body and j.NAME JSON in the body, i.KIND:NAME a member of the body's input and
// a.NUMBER:KIND:NAME one of an alteration; source is the whole body, and over the version that
// it was made from; wait is for how many seconds an answer may wait.
const (
	pathField, queryField, textField, jsonField, inputField, alterField = "p.", "q.", "b.", "j.", "i.", "a."
)

const (
	// formsAtOnce is how many long forms are read at a time, and strangersAtOnce how many of those
	// who are not signed in.
	formsAtOnce, strangersAtOnce = 16, 4
	shortForm                    = 4 << 10          // bytes of one that needs no place, such as a sign-in
	formTimeout                  = 30 * time.Second // for one to arrive
	strangerTimeout              = 5 * time.Second  // for one of a stranger
	linger                       = 2 * time.Second
)

// errManyForms is why a form is not read at once: go back and send it again.
var errManyForms = errors.New("as many forms are read as may be")

// readForm reads a form of so many bytes at most. A short one takes a place only when it is
// here: who sends slowly, or nothing, keeps nobody from signing in. Of a stranger's all has to come
// soon, and what is longer takes one of a few places that are strangers' own.
func (v *visit) readForm(most int64) (err error) {
	patience, places := strangerTimeout, v.site.strangers
	if v.who != nil || v.site.cfg.open || v.site.cfg.sessions.had(v.r) {
		patience, places = formTimeout, v.site.forms
	}
	ctl := http.NewResponseController(v.w) // tests' writers have no deadlines
	_ = ctl.SetReadDeadline(time.Now().Add(patience))
	defer func() {
		if err == nil {
			_ = ctl.SetReadDeadline(time.Time{}) // else the server takes it for the end of the browser
			return
		}
		// Nobody waits for the rest, but for a moment, in which who sends sees the answer.
		_ = ctl.SetReadDeadline(time.Now().Add(linger))
		if v.r.ProtoMajor == 1 {
			v.w.Header().Set("Connection", "close")
		}
	}()
	body, head := v.r.Body, make([]byte, 0, shortForm)
	for len(head) < cap(head) {
		n, err := body.Read(head[len(head):cap(head)])
		head = head[:len(head)+n]
		if errors.Is(err, io.EOF) {
			v.r.Body = io.NopCloser(bytes.NewReader(head))
			return v.r.ParseForm()
		}
		if err != nil {
			return err
		}
	}
	select {
	case places <- struct{}{}:
		defer func() { <-places }()
	default:
		return errManyForms
	}
	v.r.Body = http.MaxBytesReader(v.w, io.NopCloser(io.MultiReader(bytes.NewReader(head), body)), most)
	return v.r.ParseForm()
}

// unreadForm says why nothing is done.
func unreadForm(err error) *problem {
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return &problem{Status: http.StatusRequestEntityTooLarge, Title: "The form is too large", Detail: fmt.Sprintf("A form may have %d bytes.", large.Limit)}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &problem{Status: http.StatusRequestTimeout, Title: "The form did not arrive in time", Detail: "Go back and send it again: it acts once."}
	}
	return &problem{Status: http.StatusBadRequest, Title: "The form cannot be read", Detail: "Nothing was done. Go back and send it again: it acts once."}
}

// act does what a form asks for, by the operation of its address.
func (v *visit) act() {
	if err := v.readForm(maxForm); errors.Is(err, errManyForms) {
		v.fail("", &problem{Status: http.StatusServiceUnavailable, Title: "The node is busy", Detail: "It reads as many forms as it may; go back and send it again: it acts once."})
		return
	} else if err != nil {
		v.fail("", unreadForm(err))
		return
	}
	name := v.r.PathValue("operation")
	q, err := v.call(name)
	if err == nil {
		var to *answer
		if to, err = v.ask(q); err == nil {
			switch {
			case name == "publishDefinition" && q.query.Has("dryRun"):
				v.checkedSource()
			case name == "tryDefinition":
				v.tested(to, nil)
			case slices.Contains(severals, name):
				v.several(to)
			default:
				v.acted(name, to)
			}
			return
		}
	}
	var p *problem
	if !errors.As(err, &p) {
		v.fail("", err)
		return
	}
	switch name {
	case "publishDefinition":
		v.refusedSource(p)
		return
	case "tryDefinition":
		v.tested(nil, p)
		return
	}
	view := againView{Action: v.r.URL.Path, Back: v.back(), Fields: fields(v.r.PostForm), Unknown: p.Code == string(workflow.CodeUnknownOutcome)}
	if p.Code == string(workflow.CodeInstanceUndone) {
		view.Undone = meant(name, v.r.PostForm)
	}
	v.render(p.Status, "again", page{Title: p.Title, Problem: p, View: view})
}

// call makes a call of the API of a form.
func (v *visit) call(name string) (q asked, err error) {
	op, ok := v.operation(name)
	if !ok || op.method == http.MethodGet {
		return q, &problem{Status: http.StatusNotFound, Title: "No such action", Detail: "The API of this node has no action of this name."}
	}
	q = asked{method: op.method, path: op.path, query: url.Values{}, key: v.r.PostForm.Get("key")}
	body, input, alter := map[string]any{}, map[string]any{}, alterations{}
	for field, values := range v.r.PostForm {
		text := strings.ReplaceAll(values[0], "\r\n", "\n")
		switch prefix, rest := field[:min(2, len(field))], field[min(2, len(field)):]; {
		case field == selectedField:
			if body["q"], err = searched(values); err != nil {
				return q, err
			}
		case prefix == pathField:
			q.path = strings.ReplaceAll(q.path, "{"+rest+"}", url.PathEscape(text))
		case text == "":
		case prefix == queryField:
			q.query.Set(rest, text)
		case prefix == textField:
			body[rest] = text
		case prefix == jsonField:
			if !json.Valid([]byte(text)) {
				return q, &problem{Status: http.StatusUnprocessableEntity, Title: "The form is not valid", Detail: fmt.Sprintf("%s is no JSON; a text needs quotation marks around it.", rest), Code: string(workflow.CodeInvalid)}
			}
			body[rest] = json.RawMessage(text)
		case prefix == inputField:
			if err := typed(input, rest, text); err != nil {
				return q, err
			}
		case prefix == alterField:
			if err := alter.add(rest, text, v.now().In(v.zone())); err != nil {
				return q, err
			}
		case field == "over":
			q.match = `"` + text + `"`
		case field == "wait":
			q.prefer = "wait=" + text
		case field == "source":
			q.body, q.contentType = []byte(text), "application/x-www-form-urlencoded" // told by its look
		}
	}
	err = q.writes(body, input, alter.list())
	return q, err
}

// writes makes the body of a call of what a form has for it; of nothing none.
func (q *asked) writes(body, input map[string]any, alter []any) (err error) {
	if err := join(body, input); err != nil {
		return err
	}
	if len(alter) > 0 {
		body["alterations"] = alter
	}
	if len(body) > 0 {
		q.contentType = "application/json"
		q.body, err = json.Marshal(body)
	}
	return err
}

// searched is the search line of the rows that were ticked.
func searched(ids []string) (string, error) {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return id == "" })
	if len(ids) == 0 {
		return "", &problem{Status: http.StatusUnprocessableEntity, Title: "No row is chosen", Detail: "Go back and tick the rows that it is for; for all that match there is another form below the list.", Code: string(workflow.CodeInvalid)}
	}
	return "id:" + strings.Join(ids, ","), nil
}

// join puts the typed members of an input over those of one that is written as JSON.
func join(body, input map[string]any) error {
	if len(input) == 0 {
		return nil
	}
	if raw, ok := body["input"].(json.RawMessage); ok {
		var whole map[string]json.RawMessage
		if err := json.Unmarshal(raw, &whole); err != nil {
			return &problem{Status: http.StatusUnprocessableEntity, Title: "The form is not valid", Detail: "The input as JSON has to be an object beside its fields.", Code: string(workflow.CodeInvalid)}
		}
		for name, value := range whole {
			if _, given := input[name]; !given {
				input[name] = value
			}
		}
	}
	body["input"] = input
	return nil
}

// acted goes on behind an action: with what it answered if that has something to tell,
// else with the page that it came from.
func (v *visit) acted(name string, to *answer) {
	if name == "alterInstance" && v.r.PostForm.Get("q.dryRun") != "" {
		v.tried(to)
		return
	}
	if name == "refreshDefinitions" || name == "reloadDefinitions" {
		var view refreshed
		err := json.Unmarshal(to.body.Bytes(), &view)
		if err == nil {
			err = v.refreshedNow(&view, name)
		}
		if err != nil {
			v.fail("cluster", err)
		}
		return
	}
	var result resultView
	if name == "publishDefinition" || name == "publishVersion" {
		if err := json.Unmarshal(to.body.Bytes(), &result); err == nil && result.Revision > 0 && result.Published != nil && *result.Published {
			v.redirect(address(strings.TrimSuffix(Path, "/")+at("definitions", result.ID, "flip"), url.Values{
				"before": {strconv.Itoa(result.Before)}, "after": {strconv.Itoa(result.Version)}, "revision": {strconv.FormatInt(result.Revision, 10)},
			}), name)
			return
		}
	}
	if err := json.Unmarshal(to.body.Bytes(), &result); err == nil && result.tells(name) {
		result.Back, result.Accepted, result.Checked = v.back(), to.status == http.StatusAccepted, v.r.PostForm.Get("q.dryRun") != ""
		v.render(http.StatusOK, "result", page{Title: "Done", View: result})
		return
	}
	v.redirect(cmp.Or(v.r.PostForm.Get("gone"), v.back()), name) // where the page is gone with what it showed
}

// tells tells whether the answer to an operation has something that its page cannot show.
func (r *resultView) tells(operation string) bool {
	if operation == "createJob" && r.State == "" { // a dry run
		return true
	}
	if len(r.Outcomes) > 0 || r.Queued != nil || r.Resumes != nil || r.Published != nil {
		return true
	}
	return r.InstanceID != "" && (operation == "dispatchDefinition" || operation == "executeDefinition" || operation == "fireSchedule")
}

// back is the page that a form stood on.
func (v *visit) back() string { return local(v.r.PostForm.Get("back")) }

// redirect leads to another page of the console, which says what was done.
func (v *visit) redirect(to, did string) {
	u, err := url.Parse(local(to))
	if err != nil {
		v.fail("", err)
		return
	}
	q := u.Query()
	q.Set("done", did)
	u.RawQuery = q.Encode()
	http.Redirect(v.w, v.r, u.String(), http.StatusSeeOther)
}

// againView is a form that was refused, with all that was typed.
type againView struct {
	Action  string
	Back    string
	Fields  []field
	Unknown bool    // it may have been done: the same key tells
	Undone  []field // of the same retry, which says that it is meant although something may have undone what it does again
}

// meant are the fields of a retry that was refused, with what says that it is meant.
func meant(name string, form url.Values) []field {
	form = maps.Clone(form)
	form.Set("key", newKey()) // it is another request
	switch name {
	case "retryInstance":
		form.Set(jsonField+"again", "true")
	case "alterInstance":
		form.Set(alterField+"0:boolean:again", "true")
	default:
		return nil
	}
	return fields(form)
}

// field is one of a form. Those that a person types are shown.
type field struct {
	Name, Label, Value string
	Typed, Long        bool
}

// fields are those of a form, by their names.
func fields(form url.Values) []field {
	var all []field
	for name, values := range form {
		if name == selectedField {
			for _, id := range values {
				all = append(all, field{Name: name, Label: name, Value: id})
			}
			continue
		}
		f := field{Name: name, Label: name, Value: values[0]}
		switch name[:min(2, len(name))] {
		case textField, jsonField, queryField:
			f.Label, f.Typed = name[2:], true
		case inputField, alterField:
			f.Label = name[strings.LastIndex(name, ":")+1:]
			f.Typed = name[:2] == inputField || f.Label != "type"
		}
		if name == "source" {
			f.Typed = true
		}
		f.Long = f.Typed && (name == "source" || strings.HasPrefix(name, jsonField) || len(f.Value) > 80)
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b field) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// newKey makes the Idempotency-Key of a form.
func newKey() string { return workflow.NewID() }
