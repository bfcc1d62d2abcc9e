package console

import (
	"bytes"
	"crypto/rand"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/pairs"
	"github.com/weft-run/weft/internal/people/signout"
)

// Path is where the console lives.
const Path = "/console/"

// Config joins the console with its node.
type Config struct {
	API  http.Handler // of the node; it asks [auth.WithCaller] who asks
	Keys *auth.Keys   // by which people sign in; nil with Open false: nobody can
	OIDC *auth.OIDC   // at whose provider they sign in too, if it can; nil: none
	URL  string       // under which people reach the cluster; "": what their browser says
	Open bool         // everybody may do everything, as the API allows without credentials
	// SignOuts knows which sessions have ended before their time; nil: none has, as where
	// nobody signs in.
	SignOuts *signout.List

	Secrets [][]byte // that all nodes of the cluster have, 32 bytes or more each: sessions are sealed by the first
	Cluster string   // its name, shown on every page
	NodeID  string

	Now func() time.Time // default [time.Now]
	Log *slog.Logger     // nil: discarded
}

// Console serves the pages. Make it with [New].
type Console struct {
	cfg        Config
	sealer     sealer
	mux        *http.ServeMux
	pages      map[string]*template.Template
	operations map[string]operation
	files      map[string]*file
	forms      chan struct{} // a place for each long form that is read
	strangers  chan struct{} // the same of those who are not signed in
	line       atomic.Int64  // in which second the log had a line about a sign-in that was refused
}

// New reads the templates and the operations of the API. It starts nothing.
func New(cfg Config) (*Console, error) {
	if cfg.API == nil || cfg.NodeID == "" {
		return nil, errors.New("console: API and NodeID are required")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	c := &Console{cfg: cfg, mux: http.NewServeMux(), forms: make(chan struct{}, formsAtOnce), strangers: make(chan struct{}, strangersAtOnce)}
	var err error
	if c.sealer, err = newSealer(cfg.Secrets); err != nil {
		return nil, err
	}
	if c.pages, err = parseTemplates(); err != nil {
		return nil, err
	}
	if c.files, err = readFiles(); err != nil {
		return nil, err
	}
	if c.operations, err = c.readOperations(); err != nil {
		return nil, err
	}
	c.mount()
	return c, nil
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

func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
		v := &visit{console: c, w: w, r: r}
		v.render(http.StatusUnprocessableEntity, "problem", page{Title: "The address cannot be read", Problem: &problem{Status: http.StatusUnprocessableEntity,
			Title: "The address cannot be read", Detail: "What stands behind its question mark is not well formed: " + err.Error() + "."}})
		return
	}
	c.mux.ServeHTTP(w, r)
}

// visit is one request for a page.
type visit struct {
	console *Console
	w       http.ResponseWriter
	r       *http.Request
	caller  func() (*auth.Principal, error) // finds out who asks, again each time
	who     *auth.Principal                 // nil: nobody was asked
	session session                         // of who asks

	screen string  // path of the page that is shown; "": none is, as behind an action
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
}

//go:embed templates/*.html
var templates embed.FS

//go:generate go tool -modfile=../../../tools/go.mod esbuild app/console.ts --bundle --minify --target=es2022 --legal-comments=none --outfile=static/console.js
//go:generate go tool -modfile=../../../tools/go.mod esbuild app/editor.ts --bundle --minify --target=es2022 --legal-comments=none --outfile=static/editor.js

//go:embed static
var static embed.FS

// parseTemplates reads each page with the frame around it.
func parseTemplates() (map[string]*template.Template, error) {
	frame, err := template.New("frame.html").Option("missingkey=error").Funcs(functions).ParseFS(templates, "templates/frame.html", "templates/parts.html")
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

func (c *Console) mount() {
	c.mux.HandleFunc("GET "+Path+"static/{name}", c.serveFile)
	for _, s := range screens {
		c.mux.HandleFunc("GET "+Path+s.path, c.signedIn(func(v *visit) { v.show(s) }))
	}
	c.mux.HandleFunc("GET "+Path+"raw/{path...}", c.signedIn((*visit).raw))
	c.mux.HandleFunc("GET "+Path+"stream", c.signedIn((*visit).stream))
	c.mux.HandleFunc("POST "+Path+"tell/{operation}", c.signedIn((*visit).tell))
	c.mux.HandleFunc("POST "+Path+"amend", c.signedIn((*visit).amend))
	c.mux.HandleFunc("POST "+Path+"do/{operation}", c.signedIn((*visit).act))
	c.mux.HandleFunc("GET "+Path+"sign-in", c.signIn)
	c.mux.HandleFunc("POST "+Path+"sign-in", c.signIn)
	c.mux.HandleFunc("POST "+Path+"sign-out", c.signOut)
	c.mux.HandleFunc("GET "+Path+"login", c.login)
	c.mux.HandleFunc("GET "+Path+"callback", c.callback)
	c.mux.HandleFunc("POST "+Path+"theme", c.theme)
	c.mux.HandleFunc("POST "+Path+"zone", c.zoned)
	c.mux.HandleFunc("POST "+Path+"columns", c.columned)
	c.mux.HandleFunc(Path, func(w http.ResponseWriter, r *http.Request) {
		v := &visit{console: c, w: w, r: r}
		v.render(http.StatusNotFound, "problem", page{Title: "No such page", Problem: &problem{Status: http.StatusNotFound, Title: "No such page", Detail: "The console has no page of this address."}})
	})
}

// signedIn serves those who have a session, and asks the others for one.
func (c *Console) signedIn(serve func(*visit)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := &visit{console: c, w: w, r: r}
		if !c.cfg.Open {
			err := c.begin(v)
			var unknown *auth.UnavailableError
			switch {
			case errors.As(err, &unknown):
				w.Header().Set("Retry-After", "1")
				v.fail("", &problem{Status: http.StatusServiceUnavailable, Title: "The node has just started", Detail: "It does not know yet which sessions have ended; open the page again."})
				return
			case err != nil:
				c.askToSignIn(v, err)
				return
			}
		}
		serve(v)
	}
}

// show reads a page and shows it.
func (v *visit) show(s screen) {
	v.screen = s.path
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
		v.console.cfg.Log.ErrorContext(v.r.Context(), "console page not shown", slog.String("path", v.r.URL.Path), slog.Any("error", err))
		p = &problem{Status: http.StatusInternalServerError, Title: "The page cannot be shown", Detail: "The node's log says why."}
	}
	v.render(p.Status, "problem", page{Title: p.Title, Here: here, Problem: p})
}

// render shows a page; one that fails halfway is not sent.
func (v *visit) render(status int, name string, p page) {
	c := v.console
	p.Cluster, p.Node, p.At, p.Path, p.operations = c.cfg.Cluster, c.cfg.NodeID, c.cfg.Now().In(v.zone()), v.r.URL.RequestURI(), c.operations
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
	if status == http.StatusOK && v.screen != "" {
		p.Copies = v.copied()
	}
	var out bytes.Buffer
	if err := c.pages[name].Execute(&out, p); err != nil {
		c.cfg.Log.ErrorContext(v.r.Context(), "console page not rendered", slog.String("page", name), slog.Any("error", err))
		http.Error(v.w, "The page cannot be shown; the node's log says why.", http.StatusInternalServerError)
		return
	}
	v.w.Header().Set("Content-Security-Policy", policy(p.Nonce))
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.WriteHeader(status)
	_, _ = v.w.Write(out.Bytes()) // the reader may be gone
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
	v.console.cfg.API.ServeHTTP(v.w, v.inner(asked{method: http.MethodGet, path: "/stream", query: v.r.URL.Query()}))
}
