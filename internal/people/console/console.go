package console

import (
	"embed"
	"errors"
	"html/template"
	"log/slog"
	"net/http"
	"time"

	"github.com/weft-run/weft/internal/auth"
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
	site     *site
	sessions *sessions
	desk     *desk
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
	if c.sessions, err = newSessions(sessionsConfig{secrets: cfg.Secrets, keys: cfg.Keys, oidc: cfg.OIDC, signOuts: cfg.SignOuts, now: cfg.Now, log: cfg.Log}); err != nil {
		return nil, err
	}
	if c.site, err = newSite(siteConfig{
		api: cfg.API, open: cfg.Open, sessions: c.sessions, cluster: cfg.Cluster, nodeID: cfg.NodeID,
		templates: templates, functions: functions, now: cfg.Now, log: cfg.Log,
	}); err != nil {
		return nil, err
	}
	if c.files, err = readFiles(static); err != nil {
		return nil, err
	}
	c.desk = &desk{site: c.site, sessions: c.sessions, keys: cfg.Keys, oidc: cfg.OIDC, url: cfg.URL}
	c.mount()
	return c, nil
}

func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) { c.site.serve(w, r, c.mux) }

// Passed gives the caller of a request that another node sends on for a page. It returns
// an [auth.RefusedError].
func (c *Console) Passed(sealed string) (*auth.Principal, error) { return c.sessions.passed(sealed) }

//go:embed templates/*.html
var templates embed.FS

//go:generate go tool -modfile=../../../tools/go.mod esbuild app/console.ts --bundle --minify --target=es2022 --legal-comments=none --outfile=static/console.js
//go:generate go tool -modfile=../../../tools/go.mod esbuild app/editor.ts --bundle --minify --target=es2022 --legal-comments=none --outfile=static/editor.js

//go:embed static
var static embed.FS

// functions of templates that are of one kind of page.
var functions = template.FuncMap{
	"usual":   usualColumns,
	"outcome": func(name string) string { return outcomes[name] },
}

func (c *Console) mount() {
	signedIn := func(pattern string, serve func(*visit)) { c.mux.HandleFunc(pattern, c.desk.signedIn(serve)) }
	anybody := func(pattern string, serve func(*visit)) {
		c.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { serve(c.site.visit(w, r)) })
	}
	c.mux.HandleFunc("GET "+Path+"static/{name}", c.files.serve)
	for i := range screens {
		s := &screens[i]
		signedIn("GET "+Path+s.path, func(v *visit) { v.show(s) })
	}
	signedIn("GET "+Path+"raw/{path...}", (*visit).raw)
	signedIn("GET "+Path+"stream", (*visit).stream)
	signedIn("POST "+Path+"tell/{operation}", (*visit).tell)
	signedIn("POST "+Path+"amend", (*visit).amend)
	signedIn("POST "+Path+"do/{operation}", (*visit).act)
	c.mux.HandleFunc("GET "+Path+"sign-in", c.desk.signIn)
	c.mux.HandleFunc("POST "+Path+"sign-in", c.desk.signIn)
	c.mux.HandleFunc("POST "+Path+"sign-out", c.desk.signOut)
	c.mux.HandleFunc("GET "+Path+"login", c.desk.login)
	c.mux.HandleFunc("GET "+Path+"callback", c.desk.callback)
	anybody("POST "+Path+"theme", theme)
	anybody("POST "+Path+"zone", zoned)
	anybody("POST "+Path+"columns", columned)
	anybody(Path, func(v *visit) {
		v.render(http.StatusNotFound, "problem", page{Title: "No such page", Problem: &problem{Status: http.StatusNotFound, Title: "No such page", Detail: "The console has no page of this address."}})
	})
}
