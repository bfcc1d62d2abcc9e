package node

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/etcd"
	"github.com/weft-run/weft/internal/explain"
	"github.com/weft-run/weft/internal/expression/turns"
	"github.com/weft-run/weft/internal/httpapi"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/instancefiles"
	"github.com/weft-run/weft/internal/limits"
	"github.com/weft-run/weft/internal/live"
	"github.com/weft-run/weft/internal/outgoing"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/internal/upkeep"
	"github.com/weft-run/weft/internal/webhook"
	"github.com/weft-run/weft/pkg/activities/declared"
	"github.com/weft-run/weft/pkg/activities/sql"
	"github.com/weft-run/weft/pkg/archive"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/client/admission"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/refresh"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/runtime/front"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/files"
	"github.com/weft-run/weft/pkg/workflow/value"
)

// build makes every part, the lowest floor first. What has to be undone goes
// onto the stack; it is undone in the opposite order.
func (n *Node) build(ctx context.Context) error {
	gatherer, err := n.measure()
	if err != nil {
		return err
	}
	if err := n.listen(ctx); err != nil {
		return err
	}
	if err := n.openHTTP(ctx, gatherer); err != nil {
		return err
	}
	n.waitsFor.Store("etcd, which has not answered yet")
	clients, err := etcd.Open(ctx, n.cfg.etcd(), &n.undo, n.metrics)
	if err != nil {
		return err
	}
	n.endpoints, n.defragment, n.disk, n.members = clients.Endpoints, clients.Defragment, clients.Disk, clients.Members
	if own := clients.Certificate; own != nil {
		own.Telling(n.unread(metrics.FileEtcdCert))
		n.showExpiry(metrics.CertificateEtcd, func() (*tls.Certificate, error) { return own.Fresh(ctx), nil })
	}
	n.fold(clients)
	if n.tracer != nil {
		clients.Main.KV = etcd.Traced(clients.Main.KV)
	}
	n.watchEtcd(clients)
	registry, err := n.cfg.registry(n.secrets.Current)
	if err != nil {
		return err
	}
	types, err := n.cfg.declared()
	if err != nil {
		return err
	}
	if len(n.cfg.Databases) > 0 {
		databases := sql.NewDatabases(n.cfg.Databases...)
		n.undo.Add("connections to databases", databases.Close)
		if err := databases.Activities(registry); err != nil {
			return err
		}
	}
	store, err := etcdstore.New(etcdstore.Config{Client: clients.Main, Root: cluster.Root(n.cfg.Cluster), Log: n.log, Metrics: n.metrics, KeepJournal: n.cfg.Retention.Journal, KeepKeys: n.cfg.Retention.keepKeys(),
		PartsKnown: func(form int) bool { return n.session != nil && n.session.AllRead(form) }, Archived: func(ctx context.Context, id string) (*workflow.Instance, error) { return n.archive.Instance(ctx, id) }})
	if err != nil {
		return err
	}
	if err := n.checkFormat(ctx, store); err != nil {
		return err
	}
	n.waitsFor.Store("its place in the cluster")
	if err := n.join(ctx, clients, registry); err != nil {
		return err
	}
	n.waitsFor.Store("its parts")
	var refused error
	err = etcd.Patiently(ctx, n.cfg.etcd(), func(ctx context.Context) (err error) {
		if n.linkKeys, err = readLinkKeys(ctx, n.cfg.LinkKeyFile, store); err != nil && !errors.Is(err, etcdstore.ErrUnknown) {
			refused, err = err, nil // a file, or a key that cannot be read
		}
		return err
	})
	if err = errors.Join(refused, err); err != nil {
		return err
	}
	n.catalog, err = catalog.New(catalog.Config{Store: store.Definitions, Registry: registry, Declared: types, Evaluators: n.cfg.evaluators(), Secrets: n.secretSource(), Checker: n.cfg.Wings, Log: n.log, Now: n.cfg.Now})
	if err != nil {
		return err
	}
	if err := n.buildRuntime(ctx, store); err != nil {
		return err
	}
	return n.buildAPI(gatherer, n.buildRefresh(), store)
}

func (n *Node) openArchive(ctx context.Context) (err error) {
	n.archive, err = archive.Start(ctx, archive.Config{Databases: n.cfg.Databases, Connection: n.cfg.Archive, PasswordFile: n.cfg.ArchivePasswordFile, Cluster: n.cfg.Cluster, Log: n.log})
	n.undo.Add("connections to the archive", func(context.Context) error { return n.archive.Close() })
	return err
}

// checkFormat refuses data of another format: no patience changes that.
func (n *Node) checkFormat(ctx context.Context, kept *etcdstore.Store) error {
	n.keepFormat = kept.KeepFormat
	var refused error
	err := etcd.Patiently(ctx, n.cfg.etcd(), func(ctx context.Context) error {
		err := kept.CheckFormat(ctx)
		if errors.Is(err, etcdstore.ErrFormat) {
			refused, err = err, nil
		}
		return err
	})
	return errors.Join(refused, err)
}

// measure makes the registry. etcd has its collectors on the default one, and so
// has the Go runtime: with an embedded etcd both are shown.
func (n *Node) measure() (prometheus.Gatherer, error) {
	registry := prometheus.NewRegistry()
	var err error
	if n.metrics, err = metrics.New(registry); err != nil {
		return nil, err
	}
	n.metrics.ScriptWaits(turns.Waits)
	n.metrics.NameDefinitions(n.cfg.MetricsDefinitions)
	if len(n.cfg.EtcdEndpoints) == 0 {
		return ofCluster(prometheus.Gatherers{registry, prometheus.DefaultGatherer}, n.cfg.Cluster), nil
	}
	return ofCluster(registry, n.cfg.Cluster), errors.Join(
		registry.Register(collectors.NewGoCollector()),
		registry.Register(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})))
}

// listen comes first: an address in use is the most common failure, and the
// cheapest to find.
func (n *Node) listen(ctx context.Context) error {
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", n.cfg.HTTPAddr)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	n.listener = newLimitedListener(listener, n.cfg.MaxConnections, n.cfg.MaxConnectionsPerAddress,
		func() { n.metrics.Shed(metrics.ShedConnection, metrics.ShedConnections) })
	n.undo.Add("listener", func(context.Context) error {
		if err := n.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			return err
		}
		return nil
	})
	return nil
}

func (n *Node) join(ctx context.Context, clients etcd.Clients, registry *engine.Registry) error {
	program, err := engine.Digest(n.cfg.Version, registry, n.cfg.evaluators())
	if err != nil {
		return err
	}
	err = etcd.Patiently(ctx, n.cfg.etcd(), func(ctx context.Context) (err error) {
		n.session, err = cluster.Open(ctx, cluster.Config{
			Client: clients.Main, LeaseClient: clients.Lease, Cluster: n.cfg.Cluster, NodeID: n.cfg.NodeID,
			Address: n.advertised(), Version: n.cfg.Version, Mode: n.cfg.Coordination, TTL: n.cfg.SessionTTL,
			Program: program, Abilities: declared.Abilities(registry, n.cfg.evaluators()), Reads: etcdstore.FormOfParts,
			Logger: n.log, Metrics: n.metrics, Now: n.cfg.Now, OneMachine: len(n.cfg.EtcdEndpoints) == 0, // its socket is a file
		})
		return err
	})
	if err != nil {
		return err
	}
	n.undo.Add("session", func(ctx context.Context) error {
		if err := n.session.Close(ctx); err != nil {
			// No reason to fail: what the session holds ends with its lease.
			n.log.WarnContext(ctx, "session not ended; its lease will end it", slog.Any("error", err))
		}
		return nil
	})
	return nil
}

// buildRuntime wires what executes, and the upkeep. Here local and distributed
// differ: who opens an instance, and nothing else.
func (n *Node) buildRuntime(ctx context.Context, kept *etcdstore.Store) error {
	if err := n.openArchive(ctx); err != nil {
		return err
	}
	wakeups, age := upkeep.NewWakeups(), upkeep.NewAge(nil)
	var err error
	n.bursts, err = client.NewNode(client.Config{
		Store: kept.Instances, Process: n.session.Process(), NodeID: n.cfg.NodeID, Processes: n.session, Grace: max(30*time.Second, 3*n.cfg.SessionTTL), Env: n.environment(), Wakeups: wakeups, Log: n.log, Metrics: n.metrics, Tracer: n.tracer,
		Definitions: front.Definitions{Catalog: n.catalog}, Limits: admission.Limits{PerDefinition: n.cfg.BurstsPerDefinition, Bytes: n.cfg.BurstBytes}, LateAfter: n.cfg.ReplyWait, UnlockedResumes: n.cfg.ResumeLocking == ResumeLockingAuto,
		Files: func(instance, parent string, known bool) files.Store {
			return instancefiles.Of{Store: kept.Contents, Instance: instance, Parent: parent, Known: known}
		},
		HeldBack: func() bool { return n.runtime.Intake().HoldsBack() },
	})
	if err != nil {
		return err
	}
	locks := n.session.Locks()
	open := func(id string) client.Client {
		return n.bursts.Distributed(locks, id, client.RetryPolicy{})
	}
	if n.cfg.Coordination == cluster.ModeLocal {
		open, locks = func(id string) client.Client { return n.bursts.Local(id) }, nil
	}
	n.runtime, err = runtime.New(runtime.Config{
		Stimuli: kept.Stimuli, Reader: kept.Reader, Jobs: kept.Jobs, Contents: kept.Contents, Claims: kept.Claims, Catalog: n.catalog, Session: n.session, Client: open, Node: n.bursts, Wakeups: wakeups, Age: age.Now,
		ReplyWait: n.cfg.ReplyWait, QueueTTL: n.cfg.QueueTTL, Show: n.redact, Archive: n.archive, Purge: n.purge(kept), Log: n.log, Metrics: n.metrics, Tracer: n.tracer, Now: n.cfg.Now,
	})
	if err != nil {
		return err
	}
	n.explainer, err = explain.New(explain.Config{Limits: kept.Limits, Reader: kept.Reader, Stimuli: kept.Stimuli, Session: n.session, Intake: n.runtime.Intake(), Recent: n.runtime.Recent(), Node: n.bursts, Archived: n.runtime.Inspector, Now: n.cfg.Now, Retry: n.runtime.Commands.WhyNoRetry})
	if err != nil {
		return err
	}
	n.live, err = live.New(live.Config{Reader: kept.Reader, Catalog: n.catalog, Session: n.session, MaxInstances: 2 * n.cfg.MaxInFlight, Log: n.log})
	if err != nil {
		return err
	}
	calls := outgoing.NewClient(n.cfg.AllowPrivateAddresses)
	n.undo.Add("connections of webhooks", func(context.Context) error {
		calls.CloseIdleConnections()
		return nil
	})
	n.webhooks, err = webhook.New(webhook.Config{Store: kept.Webhooks, Session: n.session, Client: calls, Secrets: n.secretSource(), Cluster: n.cfg.Cluster, Log: n.log, Metrics: n.metrics, Now: n.cfg.Now})
	if err != nil {
		return err
	}
	n.limits = limits.New(kept.Limits, wakeups.Lines, n.cfg.Now)
	n.upkeep, err = upkeep.New(upkeep.Config{
		Runtime: n.runtime, Store: kept.Upkeep, Reader: kept.Reader, Jobs: kept.Jobs, Contents: kept.Contents, Limits: kept.Limits, Catalog: n.catalog, Session: n.session, Client: open, Node: n.bursts, Wakeups: wakeups, Age: age, Locks: locks,
		Archive: n.archive, Retention: n.cfg.Retention.upkeep(), EtcdQuota: n.cfg.EtcdQuota, Defragment: n.defragment, Disk: n.disk,
		Log: n.log, Metrics: n.metrics, Tracer: n.tracer, Now: n.cfg.Now,
	})
	return err
}

// purge removes an ended instance where etcd takes no puts.
func (n *Node) purge(kept *etcdstore.Store) func(context.Context, string) (bool, error) {
	var locks func(string) string
	if n.cfg.Coordination != cluster.ModeLocal {
		locks = func(id string) string { return n.session.LockPrefix(cluster.InstanceLock(id)) }
	}
	return func(ctx context.Context, id string) (bool, error) {
		purged, err := kept.Upkeep.Purge(ctx, etcdstore.Late(id), locks, nil)
		n.metrics.Purged(metrics.PurgedInstance, len(purged))
		return len(purged) > 0, err
	}
}

// environment is what bursts may use of the world.
func (n *Node) environment() func() engine.Env {
	lines, places := &lineWriter{w: n.cfg.Lines}, make(chan struct{}, n.cfg.MaxCalls)
	calls := outgoing.NewClient(n.cfg.AllowPrivateAddresses)
	if n.tracer != nil {
		calls.Transport = tracing.Transport(calls.Transport)
	}
	n.undo.Add("outgoing connections", func(context.Context) error {
		calls.CloseIdleConnections()
		return nil
	})
	// A look for a head outside of the table is bounded by the store's time limit.
	head, answers := n.catalog.HeadIn(context.Background()), n.catalog.AnswersIn(context.Background())
	return func() engine.Env {
		return engine.Env{Now: func() time.Time { return n.cfg.Now().UTC() }, Lines: lines.write, HTTP: calls, Head: head, Answers: answers,
			Link: n.link, Secrets: n.secrets.Current(), Present: n.secretSource(), Log: n.log, LogLines: n.cfg.LogLines, Metrics: n.metrics, Places: places,
			Limits: engine.Limits{Activities: n.cfg.MaxBurstActivities, Waits: n.cfg.MaxWaits}}
	}
}

// lineWriter keeps lines of concurrent bursts whole.
type lineWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lineWriter) write(text string) {
	text = value.CutLine(text)
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = io.WriteString(l.w, text+"\n") // the journal has it in any case
}

// buildRefresh wires the refreshers. In a cluster one node at a time does the
// same work. At start each node reads its own directory, beside the others:
// what was published before is not published again.
func (n *Node) buildRefresh() refresh.Refresher {
	refresher := &refresh.LocalRefresher{Catalog: n.catalog, Metrics: n.metrics}
	n.loader = &refresh.LocalReloader{Dir: n.cfg.Definitions, Catalog: n.catalog, Log: n.log, Metrics: n.metrics}
	n.reloader = n.loader
	if n.cfg.Coordination == cluster.ModeLocal {
		return refresher
	}
	n.reloader = &refresh.DistributedReloader{Inner: n.loader, Locks: n.session.Locks(), Log: n.log, Metrics: n.metrics}
	return &refresh.DistributedRefresher{Inner: refresher, Locks: n.session.Locks(), Log: n.log, Metrics: n.metrics}
}

func (n *Node) buildAPI(gatherer prometheus.Gatherer, refresher refresh.Refresher, kept *etcdstore.Store) error {
	guard, err := n.buildAuth()
	if err != nil {
		return err
	}
	audit, err := n.buildAudit()
	if err != nil {
		return err
	}
	peers, err := n.peers()
	if err != nil {
		return err
	}
	var more []serve.Route
	if n.cfg.Wings != nil {
		if more, err = n.cfg.Wings.Routes(n.catalog.Types()); err != nil {
			return err
		}
	}
	n.api, err = httpapi.New(httpapi.Config{
		More: more,
		Auth: guard, Hosts: n.hosts(), Origins: n.cfg.CORSOrigins, Audit: audit, Peers: peers,
		Runtime: n.runtime, Explainer: n.explainer, Live: n.live, Webhooks: n.webhooks, Limits: n.limits, Catalog: n.catalog, Refresher: refresher, Reloader: n.reloader, Session: n.session,
		Gatherer: gatherer, NodeID: n.cfg.NodeID, Ready: n.Ready, Drain: n.Drain, DrainsUntil: n.drainsUntil, Etcd: kept.Health, Scheme: n.scheme(), Version: n.cfg.Version,
		MaxBody: n.cfg.MaxBody, MaxInFlight: n.cfg.MaxInFlight, BodyBytes: n.cfg.BodyBytes, Shedding: n.listener.shedding, EtcdMembers: n.EtcdMembers, LinkKeys: n.linkKeys, Now: n.cfg.Now, Secrets: n.secretSource(), Metrics: n.metrics, Tracer: n.tracer, Log: n.log,
	})
	if err != nil {
		return err
	}
	n.front, err = n.withPages(guard, kept.SignOuts)
	return err
}

// openHTTP answers from now on how the node is; the API comes with the start.
func (n *Node) openHTTP(ctx context.Context, gatherer prometheus.Gatherer) error {
	n.answers(httpapi.Starting(n.cfg.NodeID, gatherer, func() error {
		return fmt.Errorf("the node is starting and waits for %v", n.waitsFor.Load())
	}))
	n.server = &http.Server{
		Handler:           http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*n.handler.Load()).ServeHTTP(w, r) }),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: 50},
		ErrorLog:          slog.NewLogLogger(n.log.Handler(), slog.LevelDebug),
	}
	var err error
	if n.server.TLSConfig, err = n.serverTLS(ctx); err != nil {
		return err
	}
	n.part("http server", n.serve)
	// For a node that never starts.
	n.undo.Add("http connections of the start", n.shutdown)
	n.log.InfoContext(ctx, "listening", slog.String("httpAddr", n.HTTPAddr()))
	return nil
}

// answers makes h answer every request from now on.
func (n *Node) answers(h http.Handler) { n.handler.Store(&h) }

// watchEtcd ends the node if its embedded etcd ends by itself.
func (n *Node) watchEtcd(clients etcd.Clients) {
	if clients.Ended == nil {
		return
	}
	n.part("watch over the embedded etcd", func(ctx context.Context) error {
		select {
		case err, ok := <-clients.Ended:
			if !ok {
				<-ctx.Done()
				return nil
			}
			return err
		case <-ctx.Done():
			return nil
		}
	})
}
