package node

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/resumelink"
)

// Whether a node serves the console.
const (
	ConsoleOn  = "on"
	ConsoleOff = "off"
)

// Wings are what stands beside the machine: what helps to write definitions, and what
// people see. The machine does not import them; pkg/node/full gives them to a node.
type Wings interface {
	// Checker finds the mistakes of definitions before they are published.
	catalog.Checker

	// Routes are served beside those of the API, for a program with these types of activities.
	Routes(types workflow.Types) ([]serve.Route, error)

	// Pages makes what people see. It starts nothing.
	Pages(cfg *PagesConfig) (Pages, error)
}

// Pages are what people see, before the API that it shows.
type Pages interface {
	// ServeHTTP answers every request to the node: a page, or what the API says.
	http.Handler

	// Passed gives who another node passed on, of what only the pages seal; see
	// [auth.Authenticator].
	Passed(sealed string) (*auth.Principal, error)

	// Run follows which sessions have ended, until ctx ends. It runs where people sign in.
	Run(ctx context.Context) error
}

// PagesConfig is what pages get of their node.
type PagesConfig struct {
	API      http.Handler
	Guard    *auth.Authenticator // nil: everybody may do everything
	SignOuts *etcdstore.SignOuts
	LinkKeys resumelink.Keys // that all nodes of the cluster have
	URL      string          // under which people reach the cluster; "": what their browser says
	Cluster  string
	NodeID   string
	Now      func() time.Time
	Log      *slog.Logger
}

// signsIn reports whether people sign in at this node's console.
func (n *Node) signsIn() bool { return n.pages != nil && n.cfg.authenticated() }

// withPages puts the pages before the API, if they are wanted.
func (n *Node) withPages(guard *auth.Authenticator, signOuts *etcdstore.SignOuts) (http.Handler, error) {
	if n.cfg.Console == ConsoleOff {
		return n.api, nil
	}
	cfg := PagesConfig{API: n.api, Guard: guard, SignOuts: signOuts, LinkKeys: n.linkKeys, URL: n.cfg.PublicURL, Cluster: n.cfg.Cluster, NodeID: n.cfg.NodeID, Now: n.cfg.Now, Log: n.log}
	var err error
	if n.pages, err = n.cfg.Wings.Pages(&cfg); err != nil {
		return nil, err
	}
	if guard != nil {
		guard.Passed = n.pages.Passed
	}
	return n.pages, nil
}
