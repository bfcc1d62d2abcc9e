package console

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/pairs"
)

// siteConfig is what the pages of a node need.
type siteConfig struct {
	api      http.Handler // of the node; it asks [auth.WithCaller] who asks
	open     bool         // everybody may do everything
	sessions *sessions
	cluster  string // its name, shown on every page
	nodeID   string

	templates fs.FS            // in templates/
	functions template.FuncMap // of templates, beside those of every page

	now func() time.Time
	log *slog.Logger
}

// site is what all visits of a node share.
type site struct {
	cfg        siteConfig
	pages      map[string]*template.Template
	operations map[string]operation
	forms      chan struct{} // a place for each long form that is read
	strangers  chan struct{} // the same of those who are not signed in
}

// newSite reads the templates and the operations of the API. It starts nothing.
func newSite(cfg siteConfig) (*site, error) {
	s := &site{cfg: cfg, forms: make(chan struct{}, formsAtOnce), strangers: make(chan struct{}, strangersAtOnce)}
	var err error
	if s.pages, err = parseTemplates(cfg.templates, cfg.functions); err != nil {
		return nil, err
	}
	s.operations, err = s.readOperations()
	return s, err
}

// foreign tells what a browser sends for the page of another site.
var foreign = http.NewCrossOriginProtection()

// policy lets a page load what this node serves and nothing else. It runs the scripts and
// takes the styles that bear its nonce: neither what stands in a text, nor what a workflow
// serves from the same host.
func policy(nonce string) string {
	only := "'none'"
	if nonce != "" {
		only = "'nonce-" + nonce + "'"
	}
	return "default-src 'none'; script-src " + only + "; style-src " + only + "; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}

// serve gives an answer the headers and the time that each has, and lets next make it. What comes from a page of
// another site is refused.
func (s *site) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy(""))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	if r.TLS != nil {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
	// Until somebody wants it: the server waits for a body that no page reads.
	if r.Body != nil && r.Body != http.NoBody {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(strangerTimeout)) // tests' writers have none
	}
	t := &timely{ResponseWriter: w, patience: readTimeout}
	t.within(longestPage)
	defer func() { t.within(t.patience) }() // for what is not sent yet
	w = t
	if foreign.Check(r) != nil {
		http.Error(w, "A page of another site may not do this.", http.StatusForbidden)
		return
	}
	if _, err := pairs.Read(r.URL.RawQuery); err != nil { // what r.URL.Query() cannot read it leaves out
		v := s.visit(w, r)
		v.render(http.StatusUnprocessableEntity, "problem", page{Title: "The address cannot be read", Problem: &problem{Status: http.StatusUnprocessableEntity,
			Title: "The address cannot be read", Detail: "What stands behind its question mark is not well formed: " + err.Error() + "."}})
		return
	}
	next.ServeHTTP(w, r)
}

// visit makes a visit of a request, of nobody yet.
func (s *site) visit(w http.ResponseWriter, r *http.Request) *visit {
	return &visit{site: s, w: w, r: r}
}

// visit is one request for a page.
type visit struct {
	site    *site
	w       http.ResponseWriter
	r       *http.Request
	caller  func() (*auth.Principal, error) // finds out who asks, again each time
	who     *auth.Principal                 // nil: nobody was asked
	session session                         // of who asks

	screen *screen // that is shown; nil: none is, as behind an action
	asks   []asked // calls of the API that only looked, for who wants to make them by hand
}

// page is what a template gets.
type page struct {
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
	Problem *problem
	View    any

	Topics string // of GET /stream that the page shows; "": none
	Every  int    // seconds after which the page asks again, also where its topics say nothing; 0: never
	Nonce  string // that the scripts and styles of this page bear
	Copies copies // how to get the same by hand

	operations map[string]operation
}

// screen is a page of the console: which template shows what it reads.
type screen struct {
	path     string
	template string
	here     string
	topics   string // of GET /stream that it shows, with {id} in it
	every    int    // seconds after which it asks again, until what it shows is settled
	read     func(*visit) (title string, view any, err error)
	weft     func(*visit) [][]string // commands of the program that show the same; nil: only calls of the API do
}

// parseTemplates reads each page with the frame around it.
func parseTemplates(templates fs.FS, functions template.FuncMap) (map[string]*template.Template, error) {
	all := maps.Clone(functions)
	maps.Copy(all, ofEveryPage)
	frame, err := template.New("frame.html").Option("missingkey=error").Funcs(all).ParseFS(templates, "templates/frame.html", "templates/parts.html")
	if err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	names, err := fs.Glob(templates, "templates/*.html")
	if err != nil {
		return nil, err
	}
	pages := map[string]*template.Template{}
	for _, file := range names {
		name := strings.TrimSuffix(strings.TrimPrefix(file, "templates/"), ".html")
		own, err := frame.Clone()
		if err != nil {
			return nil, fmt.Errorf("console: %w", err)
		}
		if pages[name], err = own.ParseFS(templates, file); err != nil {
			return nil, fmt.Errorf("console: %w", err)
		}
	}
	return pages, nil
}

// show reads a page and shows it.
func (v *visit) show(s *screen) {
	v.screen = s
	title, view, err := s.read(v)
	var other *elsewhere
	if errors.As(err, &other) {
		http.Redirect(v.w, v.r, other.to, http.StatusSeeOther)
		return
	}
	if err != nil {
		v.fail(s.here, err)
		return
	}
	every := s.every
	if ends, ok := view.(interface{ Settled() bool }); ok && ends.Settled() {
		every = 0
	}
	v.render(http.StatusOK, s.template, page{
		Title: title, Here: s.here, View: view, Done: done[v.r.URL.Query().Get("done")],
		Topics: strings.ReplaceAll(s.topics, "{id}", v.r.PathValue("id")), Every: every,
	})
}

// fail shows why a page is not there.
func (v *visit) fail(here string, err error) {
	var p *problem
	if !errors.As(err, &p) {
		v.site.cfg.log.ErrorContext(v.r.Context(), "console page not shown", slog.String("path", v.r.URL.Path), slog.Any("error", err))
		p = &problem{Status: http.StatusInternalServerError, Title: "The page cannot be shown", Detail: "The node's log says why."}
	}
	v.render(p.Status, "problem", page{Title: p.Title, Here: here, Problem: p})
}

// render shows a page; one that fails halfway is not sent.
func (v *visit) render(status int, name string, p page) {
	s := v.site
	p.Cluster, p.Node, p.At, p.Path, p.operations = s.cfg.cluster, s.cfg.nodeID, s.cfg.now().In(v.zone()), v.r.URL.RequestURI(), s.operations
	if v.r.Method != http.MethodGet {
		p.Path = v.back() // what a form answers has no address
	}
	p.Role = v.role()
	if v.who != nil {
		p.Who = v.who.Name
	}
	if kept, err := v.r.Cookie(themeCookie); err == nil && (kept.Value == "light" || kept.Value == "dark") {
		p.Theme = kept.Value
	}
	p.Nonce = rand.Text()
	if status == http.StatusOK && v.screen != nil {
		p.Copies = v.copied()
	}
	var out bytes.Buffer
	if err := s.pages[name].Execute(&out, p); err != nil {
		s.cfg.log.ErrorContext(v.r.Context(), "console page not rendered", slog.String("page", name), slog.Any("error", err))
		http.Error(v.w, "The page cannot be shown; the node's log says why.", http.StatusInternalServerError)
		return
	}
	v.w.Header().Set("Content-Security-Policy", policy(p.Nonce))
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.WriteHeader(status)
	_, _ = v.w.Write(out.Bytes()) // the reader may be gone
}

// now is the time by the clock of the node.
func (v *visit) now() time.Time { return v.site.cfg.now() }

// nodeID is the node that is visited.
func (v *visit) nodeID() string { return v.site.cfg.nodeID }

// open tells whether everybody may do everything, and nobody signs in.
func (v *visit) open() bool { return v.site.cfg.open }

// operation is one of the API, by its name.
func (v *visit) operation(name string) (op operation, ok bool) {
	op, ok = v.site.operations[name]
	return op, ok
}

// may tells why who looks may not do something; "": it may.
func (v *visit) may(op string) string {
	return page{Role: v.role(), operations: v.site.operations}.May(op)
}

// part writes a part of a page.
func (v *visit) part(to io.Writer, page, name string, data any) error {
	return v.site.pages[page].ExecuteTemplate(to, name, data)
}

// indented is up to how many bytes an answer is indented: what is nested deep becomes a
// hundred times as long.
const indented = 64 << 10

// raw shows what the API answers, whole.
func (v *visit) raw() {
	if v.r.PathValue("path") == "stream" { // it has no end
		v.fail("", &problem{Status: http.StatusNotFound, Title: "No such page"})
		return
	}
	to, err := v.ask(asked{method: http.MethodGet, path: "/" + strings.TrimPrefix(v.r.URL.EscapedPath(), Path+"raw/"), query: v.r.URL.Query()})
	if err != nil {
		v.fail("", err)
		return
	}
	body := to.body.Bytes()
	var pretty bytes.Buffer
	if len(body) <= indented && json.Indent(&pretty, body, "", "  ") == nil {
		body = pretty.Bytes()
	}
	v.w.Header().Set("Content-Type", "text/plain; charset=utf-8") // a browser shows it and runs nothing
	_, _ = v.w.Write(body)
}

// stream tells a page what changes, as GET /stream does.
func (v *visit) stream() {
	if t, ok := v.w.(*timely); ok {
		t.streams = true
		_ = http.NewResponseController(t.ResponseWriter).SetWriteDeadline(time.Time{})
	}
	v.site.cfg.api.ServeHTTP(v.w, v.inner(asked{method: http.MethodGet, path: "/stream", query: v.r.URL.Query()}))
}
