package serve

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/explain"
	"github.com/weft-run/weft/internal/httpapi/ledger"
	"github.com/weft-run/weft/internal/inspect"
	"github.com/weft-run/weft/internal/limits"
	"github.com/weft-run/weft/internal/live"
	"github.com/weft-run/weft/internal/secrets"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/internal/webhook"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/etcdmembers"
	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/refresh"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow/resumelink"
)

// Config joins the API with the parts that it translates to. The first group is
// required.
type Config struct {
	Runtime   *runtime.Runtime
	Explainer *explain.Explainer
	Live      *live.Hub
	Catalog   *catalog.Catalog
	Refresher refresh.Refresher
	Reloader  refresh.Reloader
	Session   *cluster.Session
	Gatherer  prometheus.Gatherer // what /metrics shows
	NodeID    string

	MaxBody     int64 // bytes of a body
	MaxInFlight int   // requests at once, half of them starts, a quarter of them waiting
	BodyBytes   int64 // of memory for the bodies of requests in flight and their values

	// Ready says why the node should get no traffic; nil when it should.
	Ready func() error
	// Shedding tells whether connections are refused for their number; nil: never.
	Shedding func() bool
	// EtcdMembers are the members of etcd as this node sees them; nil: it is embedded.
	EtcdMembers func() []etcdmembers.Member
	// Drain begins the end of this node and returns at once.
	Drain func()
	// DrainsUntil tells when a drain that has begun is over at the latest, or the zero time;
	// nil: it is not known.
	DrainsUntil func() time.Time

	// Etcd measures how etcd answers; nil: nothing does, and there is no route for it.
	Etcd func(context.Context) inspect.Etcd

	Limits   *limits.Limits    // nil: none, and no routes for them
	Webhooks *webhook.Webhooks // nil: none, and no routes for them

	More []Route // of what stands beside the machine; see [internal/authoring/api]

	// Auth checks credentials; nil: everybody may do everything.
	Auth *auth.Authenticator
	// Hosts are the names that a node without credentials answers to, beside
	// localhost and addresses; what is asked for under others is refused.
	Hosts []string
	// Origins are the sites whose pages may send requests from browsers, and read the answers; none: no other site's.
	Origins []string
	// Audit gets a line for each call that changes something; nil: no lines.
	Audit *slog.Logger

	Scheme  string       // of the other nodes' API; default http
	Peers   *http.Client // reaches other nodes; default: one with a time limit
	Version string       // of the program, for openapi.json

	StreamBeat     time.Duration // between two looks whether a stream may go on; default 5 s
	BodyTimeout    time.Duration // for a body to arrive, and for an answer to leave; default 30 s
	RequestTimeout time.Duration // for everything else; default 30 s
	MaxWait        time.Duration // that Prefer: wait may ask for; default 5 min

	LinkKeys resumelink.Keys  // of resume links; none: no link is good
	Now      func() time.Time // the clock that links expire by; default [time.Now]

	Secrets func() *secrets.Set // whose values no answer shows; nil: none

	Metrics *metrics.Metrics // nil: none
	Tracer  *tracing.Tracer  // nil: no traces
	Log     *slog.Logger     // nil: discarded
}

// API serves the contract. Make it with [New].
type API struct {
	Config    Config
	log       *slog.Logger
	routes    []Route
	endpoints *Route // of all that definitions declare below /workflows/: the mux would clean their paths
	mux       *http.ServeMux
	Document  []byte       // openapi.json
	Scrape    http.Handler // metrics

	Authoring *catalog.Authoring

	places    *places
	strangers ledger.Strangers // lines about them in the audit log
	Audited   ledger.Ledger    // the last lines of the audit log
	Meter     Meter
	Filling   sync.Mutex // held while it is looked what fills etcd

	intake context.Context // ends with Drain
	drain  context.CancelFunc
}

const (
	bodyTimeout    = 30 * time.Second
	requestTimeout = 30 * time.Second
)

// New makes an API that has no routes yet: [API.Open] gives it some.
func New(cfg Config) *API {
	cfg.Scheme = cmp.Or(cfg.Scheme, "http")
	cfg.Version = cmp.Or(cfg.Version, "devel")
	cfg.StreamBeat = cmp.Or(cfg.StreamBeat, streamBeat)
	cfg.BodyTimeout = cmp.Or(cfg.BodyTimeout, bodyTimeout)
	cfg.RequestTimeout = cmp.Or(cfg.RequestTimeout, requestTimeout)
	cfg.MaxWait = cmp.Or(cfg.MaxWait, 5*time.Minute)
	if cfg.Peers == nil {
		cfg.Peers = &http.Client{Timeout: 10 * time.Second}
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	a := &API{Config: cfg, log: cfg.Log, places: newPlaces(cfg.MaxInFlight, cfg.BodyBytes), Scrape: scraper(cfg.Gatherer)}
	a.intake, a.drain = context.WithCancel(context.Background())
	return a
}

// Open takes the routes of the table, and the one of all endpoints. From then on it serves them.
func (a *API) Open(routes []Route, endpoints *Route) (err error) {
	a.routes, a.endpoints = routes, endpoints
	if err := checkRoles(append([]Route{*endpoints}, routes...)); err != nil {
		return err
	}
	a.mux = a.mount()
	a.Document, err = describe(routes, a.Config.Version)
	return err
}

// Drain refuses new requests from now on, except those about the node's health,
// and makes waiting ones answer with what they have.
func (a *API) Drain() { a.drain() }

func (a *API) isDraining() bool { return a.intake != nil && a.intake.Err() != nil }

// Draining is closed when the drain begins.
func (a *API) Draining() <-chan struct{} { return a.intake.Done() }

// UntilDrain is ctx, ended also by the drain.
func (a *API) UntilDrain(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(a.intake, cancel)
	return ctx, func() { stop(); cancel() }
}

// Shedding reports whether requests or connections were refused a moment ago.
func (a *API) Shedding() bool {
	return a.places.shedding() || a.Config.Shedding != nil && a.Config.Shedding()
}

var _ http.Handler = (*API)(nil)
