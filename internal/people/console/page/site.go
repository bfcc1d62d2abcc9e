package page

import (
	"fmt"
	"html/template"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/pairs"
	"github.com/weft-run/weft/internal/people/console/session"
)

// Config is what the pages of a node need.
type Config struct {
	API      http.Handler // of the node; it asks [auth.WithCaller] who asks
	Open     bool         // everybody may do everything
	Sessions *session.Sessions
	Cluster  string // its name, shown on every page
	NodeID   string

	Templates fs.FS            // in templates/
	Functions template.FuncMap // of templates, beside those of every page

	Now func() time.Time
	Log *slog.Logger
}

// Site is what all visits of a node share.
type Site struct {
	Config     Config
	pages      map[string]*template.Template
	operations map[string]Operation
	forms      chan struct{} // a place for each long form that is read
	strangers  chan struct{} // the same of those who are not signed in
}

// New reads the templates and the operations of the API. It starts nothing.
func New(cfg Config) (*Site, error) {
	s := &Site{Config: cfg, forms: make(chan struct{}, formsAtOnce), strangers: make(chan struct{}, strangersAtOnce)}
	var err error
	if s.pages, err = parseTemplates(cfg.Templates, cfg.Functions); err != nil {
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

// Serve gives an answer the headers and the time that each has, and lets next make it. What comes from a page of
// another site is refused.
func (s *Site) Serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
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
		v := s.Visit(w, r)
		v.Render(http.StatusUnprocessableEntity, "problem", Page{Title: "The address cannot be read", Problem: &Problem{Status: http.StatusUnprocessableEntity,
			Title: "The address cannot be read", Detail: "What stands behind its question mark is not well formed: " + err.Error() + "."}})
		return
	}
	next.ServeHTTP(w, r)
}

// Visit makes a visit of a request, of nobody yet.
func (s *Site) Visit(w http.ResponseWriter, r *http.Request) *Visit {
	return &Visit{site: s, Writer: w, Request: r}
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
