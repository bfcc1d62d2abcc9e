package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/disk"
	"github.com/weft-run/weft/internal/explain"
	"github.com/weft-run/weft/internal/httpapi"
	"github.com/weft-run/weft/internal/limits"
	"github.com/weft-run/weft/internal/live"
	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/internal/secrets"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/internal/undo"
	"github.com/weft-run/weft/internal/upkeep"
	"github.com/weft-run/weft/internal/webhook"
	"github.com/weft-run/weft/pkg/archive"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/etcdmembers"
	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/refresh"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow/resumelink"
)

// Node is every part of one node, joined. Make it with [New].
type Node struct {
	cfg  Config
	log  *slog.Logger
	undo undo.Steps

	metrics    *metrics.Metrics
	tracer     *tracing.Tracer
	listener   *limitedListener
	endpoints  []string                   // of etcd
	members    *etcdmembers.Members       // of an etcd that is not embedded; else nil
	defragment func() error               // of the embedded etcd; nil if there is none
	disk       func() (disk.Space, error) // of the embedded etcd; nil if there is none
	session    *cluster.Session
	keepFormat func(context.Context) error // returns when the data is of another format
	secrets    *secrets.Dir                // nil: none
	linkKeys   resumelink.Keys
	archive    *archive.Archive // nil: there is none
	catalog    *catalog.Catalog
	bursts     *client.Node
	runtime    *runtime.Runtime
	explainer  *explain.Explainer
	live       *live.Hub
	webhooks   *webhook.Webhooks
	limits     *limits.Limits
	upkeep     *upkeep.Upkeep
	loader     *refresh.LocalReloader
	reloader   refresh.Reloader
	api        *httpapi.API
	pages      Pages        // nil: none
	front      http.Handler // the API, and the pages before it
	server     *http.Server
	handler    atomic.Pointer[http.Handler] // of the server
	waitsFor   atomic.Value                 // a string: what the build of the node waits for

	loaded     atomic.Bool // the definitions directory was read
	draining   atomic.Bool
	drainsTill atomic.Pointer[time.Time] // set before draining

	mu       sync.Mutex // held while the node is started
	started  bool       // guarded by mu
	stopping context.Context
	begin    context.CancelFunc // begins the stop: ends stopping
	stopOnce sync.Once
	stopErr  error // written inside stopOnce

	wanted chan struct{} // capacity 1: somebody asked the node to end
	failed chan error    // capacity 1: the first part that ended by itself
}

// New builds a node: it listens, starts or reaches etcd, and joins the cluster.
// It serves only health and metrics until Start, and those from before it asks
// etcd. Call Start or Run soon, since only they renew the session, or Stop: the others
// count it as one of them until its session runs out. A start takes a new one then.
//
// Errors are meant for a person: a setting that is not valid, an address in
// use, an etcd that does not answer within the dial timeout, a live node of the
// same id ([*cluster.ConflictError]).
func New(ctx context.Context, cfg Config) (*Node, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	if cfg.Console == ConsoleOn && cfg.Wings == nil {
		return nil, errors.New("configuration: the console is on, and this node has none: make it with pkg/node/full")
	}
	kept, err := openSecrets(&cfg)
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	tracer := tracing.New(cfg.Traces, cfg.NodeID, cfg.Version)
	if tracer != nil {
		cfg.Logger = slog.New(tracing.LogHandler(cfg.Logger.Handler()))
	}
	n := &Node{
		cfg: cfg, log: cfg.Logger, secrets: kept, tracer: tracer, undo: undo.Steps{Log: cfg.Logger},
		wanted: make(chan struct{}, 1), failed: make(chan error, 1),
	}
	n.stopping, n.begin = context.WithCancel(context.Background())
	if err := n.build(ctx); err != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		return nil, errors.Join(err, n.undo.Run(ctx))
	}
	return n, nil
}

// Start starts every part and returns when the node is ready. If it fails, or
// ctx ends first, the node is stopped.
func (n *Node) Start(ctx context.Context) error {
	if err := n.startOnce(ctx); err != nil {
		return errors.Join(err, n.Stop(context.WithoutCancel(ctx)))
	}
	n.log.InfoContext(ctx, "ready", slog.String("httpAddr", n.HTTPAddr()), slog.String("nodeId", n.cfg.NodeID),
		slog.String("cluster", n.cfg.Cluster), slog.String("version", n.cfg.Version))
	return nil
}

func (n *Node) startOnce(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.started || n.stopping.Err() != nil {
		return errors.New("the node was started or stopped before")
	}
	n.started = true
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(n.stopping, func() { cancel(errStopped) })()
	return n.start(ctx)
}

var errStopped = errors.New("the node was stopped")

// Run starts the node, calls ready (unless it is nil), and keeps it going until
// ctx ends or the node is asked to drain; then it stops the node. It returns nil if
// the node ran and stopped as it should.
func (n *Node) Run(ctx context.Context, ready func(*Node)) error {
	if err := n.Start(ctx); err != nil {
		if ToldToStop(ctx, err) {
			return nil // before it was ready
		}
		return err
	}
	if ready != nil {
		ready(n)
	}
	var failure error
	select {
	case <-ctx.Done():
		n.log.InfoContext(ctx, "stopping", slog.Any("reason", context.Cause(ctx)))
	case <-n.wanted:
		n.log.InfoContext(ctx, "stopping", slog.String("reason", "asked to drain"))
	case failure = <-n.failed:
		n.log.ErrorContext(ctx, "stopping", slog.Any("reason", failure))
	}
	return errors.Join(failure, n.Stop(context.WithoutCancel(ctx)))
}

// ToldToStop reports whether err, of [New] or [Node.Run], is no more than that ctx ended:
// the one who runs the node wanted it to end before it was ready.
func ToldToStop(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx)))
}

// Stop drains and stops the node, in the order of the package comment, and
// returns when nothing of it is left. Ctx can shorten the drain.
func (n *Node) Stop(ctx context.Context) error {
	n.begin()
	n.stopOnce.Do(func() { n.stopErr = n.stop(ctx) })
	return n.stopErr
}

func (n *Node) stop(ctx context.Context) error {
	n.mu.Lock() // a start under way ends first
	defer n.mu.Unlock()
	begin := time.Now()
	if n.loaded.Load() {
		n.drain(ctx)
	}
	sctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), n.cfg.DrainTimeout+stopTimeout)
	defer cancel()
	// When the caller's time is over, everything but the drain still gets its own.
	defer context.AfterFunc(ctx, func() { time.AfterFunc(stopTimeout, cancel) })()
	if err := n.undo.Run(sctx); err != nil {
		n.log.ErrorContext(ctx, "stopped with errors", slog.Any("error", err))
		return err
	}
	n.log.InfoContext(ctx, "stopped", slog.Duration("took", time.Since(begin)))
	return nil
}

// stopTimeout bounds the stop of everything but running bursts.
const stopTimeout = 10 * time.Second

// drain is the first phase of the stop: not ready, and everything else served.
func (n *Node) drain(ctx context.Context) {
	n.drainsTill.Store(new(n.cfg.Now().Add(n.cfg.DrainDelay + n.cfg.DrainTimeout)))
	n.draining.Store(true)
	uctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := n.session.UpdateNode(uctx, func(r *cluster.Node) { r.Draining = true }); err != nil {
		n.log.DebugContext(ctx, "others do not know that this node drains", slog.Any("error", err))
	}
	if n.cfg.DrainDelay <= 0 {
		return
	}
	n.log.InfoContext(ctx, "draining: not ready, still serving", slog.Duration("delay", n.cfg.DrainDelay))
	pace.Pause(ctx, n.cfg.DrainDelay)
}

// Drain asks the node to end as a signal does, and returns at once. It only affects
// a node that is in [Node.Run].
func (n *Node) Drain() {
	select {
	case n.wanted <- struct{}{}:
	default:
	}
}

// drainsUntil is when a drain that has begun is over at the latest, but for connections that
// are slow to close; the zero time: none has.
func (n *Node) drainsUntil() time.Time {
	if at := n.drainsTill.Load(); at != nil {
		return *at
	}
	return time.Time{}
}

// Ready says why the node should get no traffic; nil when it should.
func (n *Node) Ready() error {
	if n.draining.Load() {
		return errors.New("draining")
	}
	if err := n.session.Ready(); err != nil {
		return err
	}
	select {
	case <-n.catalog.Loaded():
	default:
		return errors.New("the catalogue of definitions is not loaded yet")
	}
	if !n.loaded.Load() {
		return errors.New("the definitions directory is not read yet")
	}
	return nil
}

// HTTPAddr is where the API listens.
func (n *Node) HTTPAddr() string { return n.listener.Addr().String() }

// ID is the node's id.
func (n *Node) ID() string { return n.cfg.NodeID }

// EtcdEndpoints are the addresses of the etcd that this node uses, also of an
// embedded one.
func (n *Node) EtcdEndpoints() []string { return n.endpoints }

// EtcdMember is a member of etcd as this node sees it.
type EtcdMember = etcdmembers.Member

// EtcdMembers are the members of etcd behind [Node.EtcdEndpoints], and whether they
// answer. There are none for an embedded etcd, which ends the node if it ends. Endpoints
// that are left out of the settings are not known here.
func (n *Node) EtcdMembers() []EtcdMember {
	if n.members == nil {
		return nil
	}
	return n.members.Members()
}

// URL is the root of the API as people should call it.
func (n *Node) URL() string {
	if n.cfg.PublicURL != "" {
		return n.cfg.PublicURL
	}
	if n.cfg.AdvertiseAddr != "" {
		return n.scheme() + "://" + n.cfg.AdvertiseAddr
	}
	return n.scheme() + "://" + n.HTTPAddr()
}

// Try is one line for a shell that shows what the node can do: it runs a
// published definition if there is one.
func (n *Node) Try(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	with := ""
	if n.cfg.authenticated() {
		with = `-H "Authorization: Bearer $WEFT_KEY" `
	}
	ids, err := n.catalog.Published(ctx)
	if err != nil || len(ids) == 0 {
		return "curl " + with + "--data-binary @definition.yaml " + n.URL() + "/api/v1/definitions"
	}
	id := ids[0]
	for _, i := range ids {
		if i == "hello" {
			id = i
		}
	}
	return "curl " + with + "-X POST " + n.URL() + "/api/v1/definitions/" + id + "/execute"
}

func (n *Node) scheme() string {
	if n.cfg.TLSCert != "" {
		return "https"
	}
	return "http"
}

// advertised is where other nodes reach this one.
func (n *Node) advertised() string {
	if n.cfg.AdvertiseAddr != "" {
		return n.cfg.AdvertiseAddr
	}
	addr, ok := n.listener.Addr().(*net.TCPAddr)
	if !ok || !addr.IP.IsUnspecified() {
		return n.HTTPAddr()
	}
	host, err := os.Hostname()
	if err != nil {
		return n.HTTPAddr()
	}
	return net.JoinHostPort(host, fmt.Sprint(addr.Port))
}
