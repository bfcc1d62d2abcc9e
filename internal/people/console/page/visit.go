package page

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/people/console/session"
)

// Visit is one request for a page.
type Visit struct {
	site    *Site
	Writer  http.ResponseWriter
	Request *http.Request
	Caller  func() (*auth.Principal, error) // finds out who asks, again each time
	Who     *auth.Principal                 // nil: nobody was asked
	Session session.Session                 // of who asks

	screen *Screen // that is shown; nil: none is, as behind an action
	asks   []Call  // calls of the API that only looked, for who wants to make them by hand
}

// Page is what a template gets.
type Page struct {
	Title   string
	Here    string // the part of the console that it is in
	Cluster string
	Node    string
	Who     string // "": nobody signs in here
	Role    auth.Role
	At      time.Time // by the node's clock
	Theme   string
	Path    string // of the page itself, with its query
	Done    string // what was done before it
	Problem *Problem
	View    any

	Topics string // of GET /stream that the page shows; "": none
	Every  int    // seconds after which the page asks again, also where its topics say nothing; 0: never
	Nonce  string // that the scripts and styles of this page bear
	Copies copies // how to get the same by hand

	operations map[string]Operation
}

// Screen is a page of the console: which template shows what it reads.
type Screen struct {
	Path     string
	Template string
	Here     string
	Topics   string // of GET /stream that it shows, with {id} in it
	Every    int    // seconds after which it asks again, until what it shows is settled
	Read     func(*Visit) (title string, view any, err error)
	Weft     func(*Visit) [][]string // commands of the program that show the same; nil: only calls of the API do
}

// Elsewhere is no failure: what was asked for has a page of its own.
type Elsewhere struct{ To string } //nolint:errname // it is no failure

func (e *Elsewhere) Error() string { return "it is at " + e.To }

// Show reads a page and shows it.
func (v *Visit) Show(s *Screen) {
	v.screen = s
	title, view, err := s.Read(v)
	var other *Elsewhere
	if errors.As(err, &other) {
		http.Redirect(v.Writer, v.Request, other.To, http.StatusSeeOther)
		return
	}
	if err != nil {
		v.Fail(s.Here, err)
		return
	}
	every := s.Every
	if ends, ok := view.(interface{ Settled() bool }); ok && ends.Settled() {
		every = 0
	}
	v.Render(http.StatusOK, s.Template, Page{
		Title: title, Here: s.Here, View: view, Done: done[v.Request.URL.Query().Get("done")],
		Topics: strings.ReplaceAll(s.Topics, "{id}", v.Request.PathValue("id")), Every: every,
	})
}

// Fail shows why a page is not there.
func (v *Visit) Fail(here string, err error) {
	var p *Problem
	if !errors.As(err, &p) {
		v.site.Config.Log.ErrorContext(v.Request.Context(), "console page not shown", slog.String("path", v.Request.URL.Path), slog.Any("error", err))
		p = &Problem{Status: http.StatusInternalServerError, Title: "The page cannot be shown", Detail: "The node's log says why."}
	}
	v.Render(p.Status, "problem", Page{Title: p.Title, Here: here, Problem: p})
}

// Render shows a page; one that fails halfway is not sent.
func (v *Visit) Render(status int, name string, p Page) {
	s := v.site
	p.Cluster, p.Node, p.At, p.Path, p.operations = s.Config.Cluster, s.Config.NodeID, s.Config.Now().In(v.Zone()), v.Request.URL.RequestURI(), s.operations
	if v.Request.Method != http.MethodGet {
		p.Path = v.Back() // what a form answers has no address
	}
	p.Role = v.role()
	if v.Who != nil {
		p.Who = v.Who.Name
	}
	if kept, err := v.Request.Cookie(themeCookie); err == nil && (kept.Value == "light" || kept.Value == "dark") {
		p.Theme = kept.Value
	}
	p.Nonce = rand.Text()
	if status == http.StatusOK && v.screen != nil {
		p.Copies = v.copied()
	}
	var out bytes.Buffer
	if err := s.pages[name].Execute(&out, p); err != nil {
		s.Config.Log.ErrorContext(v.Request.Context(), "console page not rendered", slog.String("page", name), slog.Any("error", err))
		http.Error(v.Writer, "The page cannot be shown; the node's log says why.", http.StatusInternalServerError)
		return
	}
	v.Writer.Header().Set("Content-Security-Policy", policy(p.Nonce))
	v.Writer.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.Writer.WriteHeader(status)
	_, _ = v.Writer.Write(out.Bytes()) // the reader may be gone
}

// Now is the time by the clock of the node.
func (v *Visit) Now() time.Time { return v.site.Config.Now() }

// NodeID is the node that is visited.
func (v *Visit) NodeID() string { return v.site.Config.NodeID }

// Open tells whether everybody may do everything, and nobody signs in.
func (v *Visit) Open() bool { return v.site.Config.Open }

// Operation is one of the API, by its name.
func (v *Visit) Operation(name string) (op Operation, ok bool) {
	op, ok = v.site.operations[name]
	return op, ok
}

// May tells why who looks may not do something; "": it may.
func (v *Visit) May(op string) string {
	return Page{Role: v.role(), operations: v.site.operations}.May(op)
}

// role is what the person who looks may do.
func (v *Visit) role() auth.Role {
	switch {
	case v.Who != nil:
		return v.Who.Role
	case v.Open():
		return auth.Admin
	}
	return 0
}

// Part writes a part of a page.
func (v *Visit) Part(to io.Writer, page, name string, data any) error {
	return v.site.pages[page].ExecuteTemplate(to, name, data)
}

// indented is up to how many bytes an answer is indented: what is nested deep becomes a
// hundred times as long.
const indented = 64 << 10

// Raw shows what the API answers, whole.
func (v *Visit) Raw() {
	if v.Request.PathValue("path") == "stream" { // it has no end
		v.Fail("", &Problem{Status: http.StatusNotFound, Title: "No such page"})
		return
	}
	to, err := v.Ask(Call{Method: http.MethodGet, Path: "/" + strings.TrimPrefix(v.Request.URL.EscapedPath(), Path+"raw/"), Query: v.Request.URL.Query()})
	if err != nil {
		v.Fail("", err)
		return
	}
	body := to.Body.Bytes()
	var pretty bytes.Buffer
	if len(body) <= indented && json.Indent(&pretty, body, "", "  ") == nil {
		body = pretty.Bytes()
	}
	v.Writer.Header().Set("Content-Type", "text/plain; charset=utf-8") // a browser shows it and runs nothing
	_, _ = v.Writer.Write(body)
}

// Stream tells a page what changes, as GET /stream does.
func (v *Visit) Stream() {
	if t, ok := v.Writer.(*timely); ok {
		t.streams = true
		_ = http.NewResponseController(t.ResponseWriter).SetWriteDeadline(time.Time{})
	}
	v.site.Config.API.ServeHTTP(v.Writer, v.inner(Call{Method: http.MethodGet, Path: "/stream", Query: v.Request.URL.Query()}))
}
