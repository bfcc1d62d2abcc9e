package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/weft-run/weft/internal/auth"
)

const api = "/api/v1"

// problem is what the API answers where it did not do what was asked.
type problem struct {
	Title     string
	Status    int
	Detail    string
	Code      string
	RequestID string
	Errors    []problemItem
}

// problemItem is one of the mistakes that a problem is about.
type problemItem struct {
	Code, Severity, Detail, Pointer string
	Line, Column                    int
	Excerpt                         string
}

func (p *problem) Error() string { return p.Title + ": " + p.Detail }

// answer is what the API answered.
type answer struct {
	status int
	head   http.Header
	body   bytes.Buffer
}

func (a *answer) Header() http.Header { return a.head }

func (a *answer) WriteHeader(status int) {
	if a.status == 0 && status >= http.StatusOK {
		a.status = status
	}
}

func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(b)
}

// asked is one call of the API.
type asked struct {
	method, path string // path below /api/v1, escaped
	query        url.Values
	body         []byte // nil: none
	contentType  string
	key          string // Idempotency-Key
	match        string // If-Match
	prefer       string // Prefer
}

// ask calls the API as the person who looks at the page. The request is that of the
// browser, with where it comes from: the API judges it as it judges each one. A refusal is
// a [problem].
func (v *visit) ask(q asked) (*answer, error) {
	v.asking(q)
	to := &answer{head: http.Header{}}
	v.site.cfg.api.ServeHTTP(to, v.inner(q))
	if to.status < http.StatusBadRequest {
		return to, nil
	}
	p := &problem{Status: to.status, Title: http.StatusText(to.status)}
	if err := json.Unmarshal(to.body.Bytes(), p); err != nil {
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
func (v *visit) inner(q asked) *http.Request {
	ctx := auth.WithConsole(v.r.Context())
	if v.caller != nil {
		ctx = auth.WithCaller(ctx, v.caller)
	}
	to := v.r.Clone(ctx)
	to.Method = q.method
	to.URL = &url.URL{RawQuery: q.query.Encode()}
	to.URL.RawPath = api + q.path
	to.URL.Path, _ = url.PathUnescape(to.URL.RawPath)
	to.RequestURI = to.URL.RequestURI()
	to.Header.Del("Authorization")
	if v.session.Ticket != "" || v.session.Who != nil {
		if pass, err := v.site.cfg.sessions.pass(v.session); err == nil { // where it is not, only this node answers
			to.Header.Set("Authorization", "Bearer "+pass)
		}
	}
	for _, name := range ofThePage {
		to.Header.Del(name)
	}
	to.Form, to.PostForm, to.MultipartForm, to.TransferEncoding = nil, nil, nil, nil
	to.Body, to.ContentLength = http.NoBody, 0
	if q.body != nil {
		to.Body, to.ContentLength = io.NopCloser(bytes.NewReader(q.body)), int64(len(q.body))
		to.Header.Set("Content-Type", q.contentType)
	}
	if q.match != "" {
		to.Header.Set("If-Match", q.match)
	}
	if q.prefer != "" {
		to.Header.Set("Prefer", q.prefer)
	}
	if q.key != "" {
		to.Header.Set("Idempotency-Key", q.key)
	}
	return to
}

// get reads one answer of the API into a view.
func get[T any](v *visit, path string, query url.Values) (view T, err error) {
	to, err := v.ask(asked{method: http.MethodGet, path: path, query: query})
	if err != nil {
		return view, err
	}
	d := json.NewDecoder(&to.body)
	d.UseNumber() // of values of any type: a long one stays as it is
	if err := d.Decode(&view); err != nil {
		return view, fmt.Errorf("read the answer to GET %s: %w", path, err)
	}
	return view, nil
}

// at makes a path of its parts, each of them escaped.
func at(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteByte('/')
		b.WriteString(url.PathEscape(p))
	}
	return b.String()
}
