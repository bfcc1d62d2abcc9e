// Package full makes nodes with everything that Weft has: beside the machine of pkg/node,
// the console, what helps to write definitions, and the databases that activities ask. It is the node that cmd/weft runs.
//
//	n, err := full.New(ctx, node.Config{DataDir: dir, HTTPAddr: "127.0.0.1:0"})
//
// A program that takes [node.New] instead has a node without pages, which refuses of a
// definition only what does not compile.
package full

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/authoring/api"
	"github.com/weft-run/weft/internal/authoring/publish"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/people/console"
	"github.com/weft-run/weft/internal/people/signout"
	"github.com/weft-run/weft/pkg/activities/sql/postgres"
	"github.com/weft-run/weft/pkg/activities/sql/sqlite"
	"github.com/weft-run/weft/pkg/node"
	"github.com/weft-run/weft/pkg/workflow"
)

// New is [node.New], with everything.
func New(ctx context.Context, cfg node.Config) (*node.Node, error) {
	cfg.Wings = wings{}
	cfg.Databases = append(slices.Clone(cfg.Databases), postgres.Dialect(), sqlite.Dialect())
	return node.New(ctx, cfg)
}

// wings are all that there are.
type wings struct{ publish.Checker }

func (wings) Routes(types workflow.Types) ([]serve.Route, error) { return api.Routes(types) }

func (wings) Pages(cfg *node.PagesConfig) (node.Pages, error) {
	out, err := signout.New(signout.Config{Store: cfg.SignOuts, Log: cfg.Log, Now: cfg.Now})
	if err != nil {
		return nil, err
	}
	ccfg := console.Config{API: cfg.API, Open: cfg.Guard == nil, Secrets: cfg.LinkKeys, Cluster: cfg.Cluster, NodeID: cfg.NodeID, Now: cfg.Now, Log: cfg.Log}
	if cfg.Guard != nil {
		ccfg.Keys, ccfg.OIDC, ccfg.URL, ccfg.SignOuts = cfg.Guard.Keys, cfg.Guard.OIDC, cfg.URL, out
	}
	c, err := console.New(ccfg)
	if err != nil {
		return nil, err
	}
	return &pages{api: cfg.API, console: c, signOuts: out}, nil
}

// pages are the console, and the API for all that is not its own.
type pages struct {
	api      http.Handler
	console  *console.Console
	signOuts *signout.List
}

// ServeHTTP brings browsers that ask for nothing in particular to the console.
func (p *pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasPrefix(r.URL.Path, console.Path):
		p.console.ServeHTTP(w, r)
	case r.Method == http.MethodGet && (r.URL.Path == "/" || r.URL.Path == strings.TrimSuffix(console.Path, "/")) && strings.Contains(r.Header.Get("Accept"), "text/html"):
		http.Redirect(w, r, console.Path, http.StatusSeeOther)
	default:
		p.api.ServeHTTP(w, r)
	}
}

func (p *pages) Passed(sealed string) (*auth.Principal, error) { return p.console.Passed(sealed) }

func (p *pages) Run(ctx context.Context) error { return p.signOuts.Run(ctx) }
