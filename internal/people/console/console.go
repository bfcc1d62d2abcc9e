package console

import (
	"embed"
	"errors"
	"html/template"
	"log/slog"
	"net/http"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/people/console/act"
	"github.com/weft-run/weft/internal/people/console/cluster"
	"github.com/weft-run/weft/internal/people/console/definitions"
	"github.com/weft-run/weft/internal/people/console/instances"
	"github.com/weft-run/weft/internal/people/console/page"
	"github.com/weft-run/weft/internal/people/console/session"
	"github.com/weft-run/weft/internal/people/console/signin"
	"github.com/weft-run/weft/internal/people/signout"
)

// Path is where the console lives.
const Path = page.Path

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
	site     *page.Site
	sessions *session.Sessions
	desk     *signin.Desk
	files    files
	mux      *http.ServeMux
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
	c := &Console{mux: http.NewServeMux()}
	var err error
	if c.sessions, err = session.New(session.Config{Secrets: cfg.Secrets, Keys: cfg.Keys, OIDC: cfg.OIDC, SignOuts: cfg.SignOuts, Now: cfg.Now, Log: cfg.Log}); err != nil {
		return nil, err
	}
	if c.site, err = page.New(page.Config{
		API: cfg.API, Open: cfg.Open, Sessions: c.sessions, Cluster: cfg.Cluster, NodeID: cfg.NodeID,
		Templates: templates, Functions: functions, Now: cfg.Now, Log: cfg.Log,
	}); err != nil {
		return nil, err
	}
	if c.files, err = readFiles(static); err != nil {
		return nil, err
	}
	c.desk = &signin.Desk{Site: c.site, Sessions: c.sessions, Keys: cfg.Keys, OIDC: cfg.OIDC, URL: cfg.URL}
	c.mount()
	return c, nil
}

func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) { c.site.Serve(w, r, c.mux) }

// Passed gives the caller of a request that another node sends on for a page. It returns
// an [auth.RefusedError].
func (c *Console) Passed(sealed string) (*auth.Principal, error) { return c.sessions.Passed(sealed) }

//go:embed templates/*.html
var templates embed.FS

//go:generate go tool -modfile=../../../tools/go.mod esbuild app/console.ts --bundle --minify --target=es2022 --legal-comments=none --outfile=static/console.js
//go:generate go tool -modfile=../../../tools/go.mod esbuild app/editor.ts --bundle --minify --target=es2022 --legal-comments=none --outfile=static/editor.js

//go:embed static
var static embed.FS

// functions of templates that are of one kind of page.
var functions = template.FuncMap{
	"usual":   instances.UsualColumns,
	"outcome": func(name string) string { return cluster.Outcomes[name] },
}

func (c *Console) mount() {
	signedIn := func(pattern string, serve func(*page.Visit)) { c.mux.HandleFunc(pattern, c.desk.SignedIn(serve)) }
	anybody := func(pattern string, serve func(*page.Visit)) {
		c.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { serve(c.site.Visit(w, r)) })
	}
	c.mux.HandleFunc("GET "+Path+"static/{name}", c.files.serve)
	for i := range screens {
		s := &screens[i]
		signedIn("GET "+Path+s.Path, func(v *page.Visit) { v.Show(s) })
	}
	signedIn("GET "+Path+"raw/{path...}", (*page.Visit).Raw)
	signedIn("GET "+Path+"stream", (*page.Visit).Stream)
	signedIn("POST "+Path+"tell/{operation}", definitions.Tell)
	signedIn("POST "+Path+"amend", definitions.Amend)
	signedIn("POST "+Path+"do/{operation}", act.Do)
	c.mux.HandleFunc("GET "+Path+"sign-in", c.desk.SignIn)
	c.mux.HandleFunc("POST "+Path+"sign-in", c.desk.SignIn)
	c.mux.HandleFunc("POST "+Path+"sign-out", c.desk.SignOut)
	c.mux.HandleFunc("GET "+Path+"login", c.desk.Login)
	c.mux.HandleFunc("GET "+Path+"callback", c.desk.Callback)
	anybody("POST "+Path+"theme", page.Theme)
	anybody("POST "+Path+"zone", page.Zoned)
	anybody("POST "+Path+"columns", instances.Columned)
	anybody(Path, func(v *page.Visit) {
		v.Render(http.StatusNotFound, "problem", page.Page{Title: "No such page", Problem: &page.Problem{Status: http.StatusNotFound, Title: "No such page", Detail: "The console has no page of this address."}})
	})
}
