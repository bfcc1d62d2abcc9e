package page

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// MaxForm bounds a form, in bytes: it has a definition in it at most.
const MaxForm = 4 << 20

// MaxKept bounds, in bytes, the form of somebody who is not known.
const MaxKept = 64 << 10

// SelectedField is a field for each row of a list that was chosen, and an empty one: a job is for these
// instances.
const SelectedField = "selected"

// Fields of a form. p.NAME is a part of the path, q.NAME of the query, b.NAME a text in the
// body and j.NAME JSON in the body, i.KIND:NAME a member of the body's input and
// a.NUMBER:KIND:NAME one of an alteration; source is the whole body, and over the version that
// it was made from; wait is for how many seconds an answer may wait.
const (
	PathField  = "p."
	QueryField = "q."
	TextField  = "b."
	JSONField  = "j."
	InputField = "i."
	// MaskedKind stands before the kind of an input whose value is shown nowhere.
	MaskedKind = "masked:"
	AlterField = "a."
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

// ErrManyForms is why a form is not read at once: go back and send it again.
var ErrManyForms = errors.New("as many forms are read as may be")

// ReadForm reads a form of so many bytes at most. A short one takes a place only when it is
// here: who sends slowly, or nothing, keeps nobody from signing in. Of a stranger's all has to come
// soon, and what is longer takes one of a few places that are strangers' own.
func (v *Visit) ReadForm(most int64) (err error) {
	patience, places := strangerTimeout, v.site.strangers
	if v.Who != nil || v.site.Config.Open || v.site.Config.Sessions.Had(v.Request) {
		patience, places = formTimeout, v.site.forms
	}
	ctl := http.NewResponseController(v.Writer) // tests' writers have no deadlines
	_ = ctl.SetReadDeadline(time.Now().Add(patience))
	defer func() {
		if err == nil {
			_ = ctl.SetReadDeadline(time.Time{}) // else the server takes it for the end of the browser
			return
		}
		// Nobody waits for the rest, but for a moment, in which who sends sees the answer.
		_ = ctl.SetReadDeadline(time.Now().Add(linger))
		if v.Request.ProtoMajor == 1 {
			v.Writer.Header().Set("Connection", "close")
		}
	}()
	body, head := v.Request.Body, make([]byte, 0, shortForm)
	for len(head) < cap(head) {
		n, err := body.Read(head[len(head):cap(head)])
		head = head[:len(head)+n]
		if errors.Is(err, io.EOF) {
			v.Request.Body = io.NopCloser(bytes.NewReader(head))
			return v.Request.ParseForm()
		}
		if err != nil {
			return err
		}
	}
	select {
	case places <- struct{}{}:
		defer func() { <-places }()
	default:
		return ErrManyForms
	}
	v.Request.Body = http.MaxBytesReader(v.Writer, io.NopCloser(io.MultiReader(bytes.NewReader(head), body)), most)
	return v.Request.ParseForm()
}

// UnreadForm says why nothing is done.
func UnreadForm(err error) *Problem {
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return &Problem{Status: http.StatusRequestEntityTooLarge, Title: "The form is too large", Detail: fmt.Sprintf("A form may have %d bytes.", large.Limit)}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &Problem{Status: http.StatusRequestTimeout, Title: "The form did not arrive in time", Detail: "Go back and send it again: it acts once."}
	}
	return &Problem{Status: http.StatusBadRequest, Title: "The form cannot be read", Detail: "Nothing was done. Go back and send it again: it acts once."}
}

// Back is the page that a form stood on.
func (v *Visit) Back() string { return Local(v.Request.PostForm.Get("back")) }

// Redirect leads to another page of the console, which says what was done.
func (v *Visit) Redirect(to, did string) {
	u, err := url.Parse(Local(to))
	if err != nil {
		v.Fail("", err)
		return
	}
	q := u.Query()
	q.Set("done", did)
	u.RawQuery = q.Encode()
	http.Redirect(v.Writer, v.Request, u.String(), http.StatusSeeOther)
}

// AgainView is a form that was refused, with all that was typed.
type AgainView struct {
	Action  string
	Back    string
	Fields  []Field
	Unknown bool    // it may have been done: the same key tells
	Undone  []Field // of the same retry, which says that it is meant although something may have undone what it does again
}

// Field is one of a form. Those that a person types are shown.
type Field struct {
	Name, Label, Value string
	Typed, Long        bool
}

// Fields are those of a form, by their names.
func Fields(form url.Values) []Field {
	var all []Field
	for name, values := range form {
		if name == SelectedField {
			for _, id := range values {
				all = append(all, Field{Name: name, Label: name, Value: id})
			}
			continue
		}
		f := Field{Name: name, Label: name, Value: values[0]}
		switch name[:min(2, len(name))] {
		case TextField, JSONField, QueryField:
			f.Label, f.Typed = name[2:], true
		case InputField, AlterField:
			f.Label = name[strings.LastIndex(name, ":")+1:]
			f.Typed = name[:2] == InputField || f.Label != "type"
			if strings.HasPrefix(name, InputField+MaskedKind) {
				f.Value = "" // it is typed again, and shown nowhere
			}
		}
		if name == "source" {
			f.Typed = true
		}
		f.Long = f.Typed && (name == "source" || strings.HasPrefix(name, JSONField) || len(f.Value) > 80)
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// NewKey makes the Idempotency-Key of a form.
func NewKey() string { return workflow.NewID() }

// Local is a page of the console: no other is gone to.
func Local(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.Host != "" || u.Scheme != "" || !strings.HasPrefix(next, Path) || path.Clean(u.Path)+"/" != Path && !strings.HasPrefix(path.Clean(u.Path), Path) || strings.Contains(next, `\`) {
		return Path
	}
	return next
}
