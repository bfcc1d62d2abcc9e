package chaos

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/authoring/publish"
	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/explain"
	"github.com/weft-run/weft/internal/expression"
	"github.com/weft-run/weft/internal/httpapi"
	"github.com/weft-run/weft/internal/live"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/upkeep"
	"github.com/weft-run/weft/pkg/activities/declared"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/node"
	"github.com/weft-run/weft/pkg/refresh"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/runtime/front"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/resumelink"
)

// ttl of the nodes' sessions: the shortest that etcd grants.
const ttl = cluster.MinTTL

// member is one node without HTTP, wired as pkg/node does it, whose way to etcd
// can be spoiled and cut.
type member struct {
	*runtime.Runtime
	upkeep   *upkeep.Upkeep
	id       string
	store    *etcdstore.Store
	catalog  *catalog.Catalog
	session  *cluster.Session
	bursts   *client.Node
	registry *prometheus.Registry
	faults   *clustertest.Faults
	clients  []*clientv3.Client
	proxy    *clustertest.Proxy // all of the node's connections to etcd
	dead     atomic.Bool
	newer    bool          // it runs the newer program
	off      time.Duration // of its clock
	locking  string        // of its resumes
	stop     context.CancelFunc
	done     chan error
	parts    int
	links    resumelink.Keys
	server   *httptest.Server
	door     *remote // the node behind HTTP
}

// newMember starts a node; faults spoil nothing before it is ready.
func newMember(ctx context.Context, tb testing.TB, w *world, id string, seed uint64) (*member, error) {
	tb.Helper()
	m := &member{id: id, registry: prometheus.NewRegistry(), faults: clustertest.NewFaults(seed)}
	m.newer, m.off = w.program(seed)
	m.locking = drawLocking(rand.New(rand.NewPCG(seed, 1<<37)))
	known, err := registry(m.newer)
	if err != nil {
		return nil, err
	}
	program, err := engine.Digest(fmt.Sprint(m.newer), known, expression.All())
	if err != nil {
		return nil, err
	}
	log := w.log.With("node", id)
	m.proxy = w.etcd.Proxy(tb)
	kv, lease := m.proxy.Client(tb), m.proxy.Client(tb)
	m.clients = []*clientv3.Client{kv, lease}
	kv.KV = &observed{KV: kv.KV, c: &w.coverage}
	m.faults.Wrap(kv)
	if w.weaken != nil {
		w.weaken(kv)
	}
	kv.KV = &mortalKV{KV: kv.KV, dead: &m.dead}
	kv.Watcher = &fickle{Watcher: kv.Watcher, w: w}
	lease.Lease = &mortalLease{Lease: lease.Lease, dead: &m.dead}
	collectors, err := metrics.New(m.registry)
	if err != nil {
		return nil, err
	}
	m.session, err = cluster.Open(ctx, cluster.Config{Client: kv, LeaseClient: lease, Cluster: w.name, NodeID: id, TTL: w.ttl, Logger: log, Metrics: collectors,
		Now: m.now, Program: program, Abilities: declared.Abilities(known, expression.All())})
	if err != nil {
		return nil, err
	}
	if err := m.build(w, kv, log, collectors, known); err != nil {
		return nil, errors.Join(err, m.session.Close(ctx))
	}
	m.run()
	if err := m.open(w, log); err != nil {
		m.kill()
		m.close()
		return nil, err
	}
	select {
	case <-m.catalog.Loaded():
	case <-ctx.Done():
		m.kill()
		m.close()
		return nil, ctx.Err()
	}
	w.spoil(m.faults)
	return m, nil
}

func (m *member) build(w *world, kv *clientv3.Client, log *slog.Logger, collectors *metrics.Metrics, known *engine.Registry) (err error) {
	if m.store, err = etcdstore.New(etcdstore.Config{Client: kv, Root: cluster.Root(w.name), Log: log, Metrics: collectors}); err != nil {
		return err
	}
	if m.catalog, err = catalog.New(catalog.Config{Store: m.store.Definitions, Registry: known, Evaluators: expression.All(), Checker: publish.Checker{}, Log: log, Now: m.now}); err != nil {
		return err
	}
	made := make([]byte, resumelink.MinKey)
	key, err := m.store.LinkKey(context.Background(), made) // of the first node
	if err != nil {
		return err
	}
	m.links = resumelink.Keys{key}
	wakeups, age := upkeep.NewWakeups(), upkeep.NewAge(nil)
	head := m.catalog.HeadIn(context.Background())
	m.bursts, err = client.NewNode(client.Config{Store: m.store.Instances, Wakeups: wakeups, Log: log, Metrics: collectors, LateAfter: w.late,
		NodeID: m.id, UnlockedResumes: m.locking == node.ResumeLockingAuto,
		Definitions: front.Definitions{Catalog: m.catalog},
		Env: func() engine.Env {
			return engine.Env{Now: func() time.Time { return m.now().UTC() }, Head: head, Log: log, Link: m.link}
		},
	})
	if err != nil {
		return err
	}
	locks := m.session.Locks()
	open := func(id string) client.Client {
		return m.bursts.Distributed(locks, id, client.RetryPolicy{Base: 50 * time.Millisecond})
	}
	m.Runtime, err = runtime.New(runtime.Config{Stimuli: m.store.Stimuli, Reader: m.store.Reader, Jobs: m.store.Jobs, Contents: m.store.Contents, Claims: m.store.Claims, Catalog: m.catalog, Session: m.session, Node: m.bursts, Client: open, Wakeups: wakeups, Age: age.Now, Log: log,
		Metrics: collectors, ReplyWait: 500 * time.Millisecond, QueueTTL: w.queueTTL(), Now: m.now})
	if err != nil {
		return err
	}
	m.upkeep, err = upkeep.New(upkeep.Config{Runtime: m.Runtime, Store: m.store.Upkeep, Reader: m.store.Reader, Jobs: m.store.Jobs, Contents: m.store.Contents, Limits: m.store.Limits, Catalog: m.catalog, Session: m.session, Node: m.bursts, Client: open, Wakeups: wakeups, Age: age, Locks: locks, Log: log,
		Metrics: collectors, Opening: 16, Retention: w.retention(), AgeEvery: time.Second, Now: m.now})
	return err
}

// open serves the HTTP API of the node.
func (m *member) open(w *world, log *slog.Logger) error {
	std := node.DefaultConfig()
	explainer, err := explain.New(explain.Config{Reader: m.store.Reader, Stimuli: m.store.Stimuli, Session: m.session, Intake: m.Runtime.Intake(), Recent: m.Runtime.Recent(), Node: m.bursts, Now: m.now})
	if err != nil {
		return err
	}
	hub, err := live.New(live.Config{Reader: m.store.Reader, Catalog: m.catalog, Session: m.session, Log: log})
	if err != nil {
		return err
	}
	api, err := httpapi.New(httpapi.Config{Runtime: m.Runtime, Explainer: explainer, Live: hub, Catalog: m.catalog, Session: m.session, Gatherer: m.registry, NodeID: m.id, Log: log, LinkKeys: m.links, Now: m.now,
		MaxBody: std.MaxBody, MaxInFlight: std.MaxInFlight, BodyBytes: std.BodyBytes,
		Refresher: &refresh.DistributedRefresher{Inner: &refresh.LocalRefresher{Catalog: m.catalog}, Locks: m.session.Locks(), Log: log},
		Reloader:  &refresh.LocalReloader{Catalog: m.catalog, Log: log},
		Ready:     func() error { return nil }, Drain: func() {}})
	if err != nil {
		return err
	}
	m.server = httptest.NewUnstartedServer(api)
	m.server.Config.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelDebug)
	m.server.Start()
	m.door = &remote{id: m.id, base: m.server.URL, http: w.http}
	return nil
}

func (m *member) ask(ctx context.Context, method, path string, body any, key *runtime.Key, out any, headers ...string) (int, error) {
	return m.door.ask(ctx, method, path, body, key, out, headers...)
}

// link makes the URL of a resume link.
func (m *member) link(l resumelink.Link) (string, error) {
	token, err := m.links.Sign(l)
	return "http://weft" + httpapi.LinkPath(token), err
}

// lateAfter is short, so that late durability happens.
const lateAfter = 150 * time.Millisecond

func (m *member) run() {
	ctx, stop := context.WithCancel(context.Background())
	m.stop = stop
	parts := []func(context.Context) error{m.session.Run, m.catalog.Run, m.upkeep.Run}
	m.parts, m.done = len(parts), make(chan error, len(parts))
	for _, p := range parts {
		go func() { m.done <- p(ctx) }()
	}
}

func (m *member) name() string { return m.id }

// now is the node's clock.
func (m *member) now() time.Time { return time.Now().Add(m.off) }

// Publish publishes a definition.
func (m *member) Publish(ctx context.Context, source string) error {
	_, err := m.catalog.Publish(ctx, catalog.PublishRequest{Source: []byte(source), Publish: true})
	return err
}

// Send, Execute, Dispatch, Journal, Cancel and Delete are what both kinds of nodes do.

func (m *member) Send(ctx context.Context, s workflow.Stimulus, key *runtime.Key) (runtime.SendResult, error) {
	return m.Runtime.Events.Send(ctx, s, key)
}

func (m *member) Execute(ctx context.Context, req runtime.StartRequest) (runtime.StartResult, error) {
	return m.Runtime.Starts.Execute(ctx, req)
}

func (m *member) Dispatch(ctx context.Context, req runtime.StartRequest) (id string, err error) {
	return m.Runtime.Starts.Dispatch(ctx, req)
}

func (m *member) Journal(ctx context.Context, id, cursor string, limit int) (runtime.Page[workflow.JournalEntry], error) {
	return m.Runtime.Inspector.Journal(ctx, id, cursor, limit)
}

func (m *member) Delete(ctx context.Context, id string) (accepted bool, err error) {
	return m.Runtime.Commands.Delete(ctx, id)
}

func (m *member) Cancel(ctx context.Context, id string) (accepted bool, err error) {
	did, err := m.Runtime.Commands.Cancel(ctx, id, nil)
	return did.Accepted, err
}

// Retract takes a definition back.
func (m *member) Retract(ctx context.Context, id string) error { return m.catalog.Retract(ctx, id) }

// kill ends the node as a dying process does: from now on nothing of it reaches
// etcd, its lease is left to expire.
func (m *member) kill() {
	m.dead.Store(true)
	m.end()
}

// leave ends the node as a drain does.
func (m *member) leave(ctx context.Context) {
	m.Drain()
	_ = m.bursts.Stop(ctx)
	m.end()
	m.close()
}

func (m *member) end() {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	m.stop()
	_ = m.bursts.Stop(ended)
	for range m.parts {
		ended := <-m.done
		_ = ended // whatever it says: it is over
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = m.session.Close(ctx) // a dead one cannot revoke its lease
	if m.server != nil {
		m.server.CloseClientConnections()
		m.server.Close()
	}
}

// close ends the connections: nothing of the node arrives any more.
func (m *member) close() {
	for _, c := range m.clients {
		_ = c.Close()
	}
}
