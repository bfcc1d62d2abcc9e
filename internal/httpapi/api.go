package httpapi

import (
	"errors"
	"net/http"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/httpapi/define"
	"github.com/weft-run/weft/internal/httpapi/elsa"
	"github.com/weft-run/weft/internal/httpapi/operate"
	"github.com/weft-run/weft/internal/httpapi/peers"
	"github.com/weft-run/weft/internal/httpapi/run"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/httpapi/work"
)

// Config joins the API with the parts that it translates to.
type Config = serve.Config

// API serves the contract. Make it with [New].
type API = serve.API

// New checks the configuration and builds the routes. It starts nothing.
func New(cfg Config) (*API, error) {
	if cfg.Runtime == nil || cfg.Explainer == nil || cfg.Live == nil || cfg.Catalog == nil || cfg.Refresher == nil || cfg.Reloader == nil || cfg.Session == nil ||
		cfg.Gatherer == nil || cfg.NodeID == "" || cfg.MaxBody == 0 || cfg.MaxInFlight == 0 || cfg.BodyBytes == 0 || cfg.Ready == nil || cfg.Drain == nil {
		return nil, errors.New("httpapi: Runtime, Explainer, Live, Catalog, Refresher, Reloader, Session, Gatherer, NodeID, MaxBody, MaxInFlight, BodyBytes, Ready and Drain are required")
	}
	a := serve.New(cfg)
	a.Authoring = catalog.NewAuthoring(cfg.Catalog)
	return a, a.Open(table(&a.Config), &run.Endpoint)
}

// table is every route of the contract, /workflows/ aside; what the node has not has none, and
// what stands beside the machine brings its own.
func table(cfg *Config) []serve.Route {
	return slices.Concat(healthRoutes(), define.Routes(cfg), run.Routes(), work.Routes(), elsa.Routes(), peers.Routes(), operate.Routes(cfg), cfg.More)
}

// Starting serves until there is an [API], for a node whose etcd lets it wait.
func Starting(nodeID string, gatherer prometheus.Gatherer, ready func() error) http.Handler {
	return serve.Starting(nodeID, gatherer, ready, healthRoutes())
}

// LinkPath is the path of the link with a token, below the public URL.
func LinkPath(token string) string { return serve.LinkPath + token }
