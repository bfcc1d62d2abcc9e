package page

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/weft-run/weft/internal/auth"
)

const api = "/api/v1"

// Problem is what the API answers where it did not do what was asked.
type Problem struct { //nolint:errname // it is also what a page shows: people speak of problems
	Title     string
	Status    int
	Detail    string
	Code      string
	RequestID string
	Errors    []ProblemItem
}

// ProblemItem is one of the mistakes that a problem is about.
type ProblemItem struct {
	Code, Severity, Detail, Pointer string
	Line, Column                    int
	Excerpt                         string
}

func (p *Problem) Error() string { return p.Title + ": " + p.Detail }

// Answer is what the API answered.
type Answer struct {
	Status int
	Head   http.Header
	Body   bytes.Buffer
}

// Header are the headers of the answer.
func (a *Answer) Header() http.Header { return a.Head }

// WriteHeader takes the first status that is no interim one.
func (a *Answer) WriteHeader(status int) {
	if a.Status == 0 && status >= http.StatusOK {
		a.Status = status
	}
}

// Write takes a part of the body.
func (a *Answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.Body.Write(b)
}

// Call is one call of the API.
type Call struct {
	Method, Path string // path below /api/v1, escaped
	Query        url.Values
	Body         []byte // nil: none
	ContentType  string
	Key          string // Idempotency-Key
	Match        string // If-Match
	Prefer       string // Prefer
}

// Ask calls the API as the person who looks at the page. The request is that of the
// browser, with where it comes from: the API judges it as it judges each one. A refusal is
// a [Problem].
func (v *Visit) Ask(q Call) (*Answer, error) {
	v.asking(q)
	to := &Answer{Head: http.Header{}}
	v.site.Config.API.ServeHTTP(to, v.inner(q))
	if to.Status < http.StatusBadRequest {
		return to, nil
	}
	p := &Problem{Status: to.Status, Title: http.StatusText(to.Status)}
	if err := json.Unmarshal(to.Body.Bytes(), p); err != nil {
		p.Detail = "the node answered what is no problem of its API"
	}
	return to, p
}

// ofThePage are the headers of a browser's request, or of a proxy before it, that are about the page and its body: for a
// call of the API they would say how it is encoded, whether it is there already, or what it is about.
var ofThePage = []string{
	"Accept", "Accept-Encoding", "Content-Encoding", "Content-Length", "Content-Type", "Cookie", "Expect", "Idempotency-Key", "If-Match", "If-Modified-Since",
	"If-None-Match", "Prefer", "Range", "X-Correlation-Id", "X-Http-Method-Override", "X-Workflow-Instance-Id",
}

// inner makes the request of a call from that of its page.
func (v *Visit) inner(q Call) *http.Request {
	ctx := auth.WithConsole(v.Request.Context())
	if v.Caller != nil {
		ctx = auth.WithCaller(ctx, v.Caller)
	}
	to := v.Request.Clone(ctx)
	to.Method = q.Method
	to.URL = &url.URL{RawQuery: q.Query.Encode()}
	to.URL.RawPath = api + q.Path
	to.URL.Path, _ = url.PathUnescape(to.URL.RawPath)
	to.RequestURI = to.URL.RequestURI()
	to.Header.Del("Authorization")
	if v.Session.Ticket != "" || v.Session.Who != nil {
		if pass, err := v.site.Config.Sessions.Pass(v.Session); err == nil { // where it is not, only this node answers
			to.Header.Set("Authorization", "Bearer "+pass)
		}
	}
	for _, name := range ofThePage {
		to.Header.Del(name)
	}
	to.Form, to.PostForm, to.MultipartForm, to.TransferEncoding = nil, nil, nil, nil
	to.Body, to.ContentLength = http.NoBody, 0
	if q.Body != nil {
		to.Body, to.ContentLength = io.NopCloser(bytes.NewReader(q.Body)), int64(len(q.Body))
		to.Header.Set("Content-Type", q.ContentType)
	}
	if q.Match != "" {
		to.Header.Set("If-Match", q.Match)
	}
	if q.Prefer != "" {
		to.Header.Set("Prefer", q.Prefer)
	}
	if q.Key != "" {
		to.Header.Set("Idempotency-Key", q.Key)
	}
	return to
}

// Get reads one answer of the API into a view.
func Get[T any](v *Visit, path string, query url.Values) (view T, err error) {
	to, err := v.Ask(Call{Method: http.MethodGet, Path: path, Query: query})
	if err != nil {
		return view, err
	}
	d := json.NewDecoder(&to.Body)
	d.UseNumber() // of values of any type: a long one stays as it is
	if err := d.Decode(&view); err != nil {
		return view, fmt.Errorf("read the answer to GET %s: %w", path, err)
	}
	return view, nil
}

// At makes a path of its parts, each of them escaped.
func At(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteByte('/')
		b.WriteString(url.PathEscape(p))
	}
	return b.String()
}

// IfThere reads one answer of the API; nil: it refused, as it does what is not there.
func IfThere[T any](v *Visit, path string, query url.Values) (*T, error) {
	view, err := Get[T](v, path, query)
	if IsProblem(err) {
		return nil, nil
	}
	return &view, err
}

// IsProblem tells an answer of the API that says no from one that cannot be read.
func IsProblem(err error) bool {
	var p *Problem
	return errors.As(err, &p) && p.Status < http.StatusInternalServerError
}

// IsMissing tells the answer of the API that what was asked for is not there.
func IsMissing(err error) bool {
	var p *Problem
	return errors.As(err, &p) && p.Status == http.StatusNotFound
}

// Text reads an answer that is no JSON.
func (v *Visit) Text(path string, query url.Values) (string, error) {
	to, err := v.Ask(Call{Method: http.MethodGet, Path: path, Query: query})
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(to.Body.String(), "\n"), nil
}

// Picture reads a graph as a part of a page. The API made it, with all texts escaped. One
// that cannot be drawn is no reason to show nothing.
func (v *Visit) Picture(path string, query url.Values) (template.HTML, error) {
	with := url.Values{"format": {"svg-part"}}
	for name, values := range query {
		with[name] = values
	}
	text, err := v.Text(path, with)
	var p *Problem
	if errors.As(err, &p) {
		return "", nil
	}
	return template.HTML(text), err
}
