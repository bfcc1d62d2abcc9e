package membertest

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/weft-run/weft/internal/authoring/publish"
	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/expression"
	"github.com/weft-run/weft/internal/instancefiles"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/upkeep"
	"github.com/weft-run/weft/internal/upkeep/retention"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/activities/declared"
	"github.com/weft-run/weft/pkg/archive"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/client/admission"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/runtime/front"
	"github.com/weft-run/weft/pkg/workflow/files"
)

// Main runs the tests of a package that starts members.
func Main(m *testing.M) {
	code := clustertest.Run(m)
	if code == 0 {
		if err := goleak.Find(); err != nil {
			slog.Error("goroutines left", "error", err)
			code = 1
		}
	}
	os.Exit(code)
}

// Cluster starts n members over one etcd, as tests of a package see them; tune changes
// each one's configuration.
func Cluster[M any](t testing.TB, n int, as func(*Member) M, tune ...func(*Config)) []M {
	t.Helper()
	name := clustertest.Namespace(t)
	members := make([]M, n)
	for i := range members {
		members[i] = as(New(t, name, string(rune('a'+i)), tune...))
	}
	return members
}

// Config is what a test may want otherwise of a member. Zero fields are as
// runtime.Config, upkeep.Config and admission.Limits have them.
type Config struct {
	Registry *engine.Registry // the activities of its program; preset: the default ones
	Limits   admission.Limits // of the bursts that it runs
	// Session changes how it joins; nil: not at all.
	Session func(*cluster.Config)
	// Client opens one instance; preset, to be wrapped.
	Client func(id string) client.Client

	Now                 func() time.Time // of all that the node does
	Log                 *slog.Logger     // of runtime and upkeep; preset: nothing, or with -v the test's
	Metrics             *metrics.Metrics // of all that the node does
	QueueTTL, ReplyWait time.Duration
	Retention           retention.Limits
	Archive             *archive.Archive
	AgeEvery, Rest      time.Duration
	CensusEvery         time.Duration
	JobRests            time.Duration
	BalanceEvery        time.Duration
	Skew                func() time.Duration
	Opening             int
	Whole               bool // large instances are written in one key, as while a node of before lives
	Show                func(string) string
}

// Member is one node of a test's cluster, without HTTP.
type Member struct {
	*runtime.Runtime
	Upkeep  *upkeep.Upkeep
	T       testing.TB
	Store   *etcdstore.Store
	Catalog *catalog.Catalog
	Session *cluster.Session
	Wakeups *upkeep.Wakeups
	Age     *upkeep.Age
	Faults  *clustertest.Faults // of its calls to etcd
	Elapsed *atomic.Int64       // added to its monotonic clock
	Root    string              // of the cluster's keys
	Leave   func()              // ends it, once; the end of the test does it too

	Node *client.Node // what it runs
	log  *slog.Logger
}

var start = time.Now()

// New starts a member of the cluster with a name. Each tune changes its
// configuration.
func New(t testing.TB, name, id string, tune ...func(*Config)) *Member {
	t.Helper()
	m := &Member{T: t, Faults: clustertest.NewFaults(1), Elapsed: new(atomic.Int64), Root: cluster.Root(name)}
	m.Wakeups = upkeep.NewWakeups()
	m.Age = upkeep.NewAge(func() time.Duration { return time.Duration(m.Elapsed.Load()) + time.Since(start) })
	if m.log = slog.New(slog.DiscardHandler); testing.Verbose() {
		m.log = slog.New(slog.NewTextHandler(t.Output(), nil)).With("node", id)
	}
	cfg := Config{Registry: activities.Default(), Now: time.Now, Log: m.log, Client: m.open, QueueTTL: 10 * time.Minute}
	for _, f := range tune {
		f(&cfg)
	}
	if err := m.build(&cfg, name, id); err != nil {
		t.Fatal(err)
	}
	m.run()
	select {
	case <-m.Catalog.Loaded():
	case <-time.After(time.Minute):
		t.Fatalf("member %s has not loaded the definitions within a minute", id)
	}
	return m
}

func (m *Member) open(id string) client.Client {
	return m.Node.Distributed(m.Session.Locks(), id, client.RetryPolicy{})
}

func (m *Member) build(cfg *Config, name, id string) error {
	etcd := m.Faults.Wrap(clustertest.Shared(m.T).Client(m.T))
	program, err := engine.Digest("test", cfg.Registry, expression.All())
	if err != nil {
		return err
	}
	joins := cluster.Config{Now: cfg.Now, Client: etcd, Cluster: name, NodeID: id, TTL: 10 * time.Second, Logger: m.log,
		Program: program, Abilities: declared.Abilities(cfg.Registry, expression.All()), Reads: etcdstore.FormOfParts}
	if cfg.Session != nil {
		cfg.Session(&joins)
	}
	if m.Session, err = cluster.Open(m.T.Context(), joins); err != nil {
		return err
	}
	if m.Store, err = etcdstore.New(etcdstore.Config{Client: etcd, Root: m.Root, Log: m.log, PartsKnown: func(int) bool { return !cfg.Whole }, Archived: cfg.Archive.Instance}); err != nil {
		return err
	}
	if m.Catalog, err = catalog.New(catalog.Config{Store: m.Store.Definitions, Registry: cfg.Registry, Evaluators: expression.All(), Checker: publish.Checker{}, Log: m.log, Now: cfg.Now}); err != nil {
		return err
	}
	head, answers := m.Catalog.HeadIn(context.Background()), m.Catalog.AnswersIn(context.Background())
	m.Node, err = client.NewNode(client.Config{Store: m.Store.Instances, Process: m.Session.Process(), NodeID: id, Processes: m.Session, Grace: 2 * time.Second, Limits: cfg.Limits,
		Wakeups: m.Wakeups, Log: m.log, Metrics: cfg.Metrics,
		UnlockedResumes: true, // as nodes are shipped
		Definitions:     front.Definitions{Catalog: m.Catalog},
		Files: func(instance, parent string, known bool) files.Store {
			return instancefiles.Of{Store: m.Store.Contents, Instance: instance, Parent: parent, Known: known}
		},
		Env: func() engine.Env {
			return engine.Env{Now: func() time.Time { return cfg.Now().UTC() }, Head: head, Answers: answers}
		},
	})
	if err != nil {
		return err
	}
	m.Runtime, err = runtime.New(runtime.Config{Stimuli: m.Store.Stimuli, Reader: m.Store.Reader, Jobs: m.Store.Jobs, Contents: m.Store.Contents, Claims: m.Store.Claims, Catalog: m.Catalog, Session: m.Session, Client: cfg.Client, Node: m.Node, Wakeups: m.Wakeups, Age: m.Age.Now,
		QueueTTL: cfg.QueueTTL, ReplyWait: cfg.ReplyWait, Archive: cfg.Archive, Show: cfg.Show, Log: cfg.Log, Metrics: cfg.Metrics, Now: cfg.Now})
	if err != nil {
		return err
	}
	m.Upkeep, err = upkeep.New(upkeep.Config{Runtime: m.Runtime, Store: m.Store.Upkeep, Reader: m.Store.Reader, Jobs: m.Store.Jobs, Contents: m.Store.Contents, Limits: m.Store.Limits, Catalog: m.Catalog, Session: m.Session, Client: cfg.Client, Node: m.Node, Wakeups: m.Wakeups, Age: m.Age,
		Locks: m.Session.Locks(), Retention: cfg.Retention, Archive: cfg.Archive, Opening: cfg.Opening, AgeEvery: cfg.AgeEvery, Rest: cfg.Rest, CensusEvery: cfg.CensusEvery, JobRests: cfg.JobRests, BalanceEvery: cfg.BalanceEvery, Skew: cfg.Skew, Log: cfg.Log, Metrics: cfg.Metrics, Now: cfg.Now})
	return err
}

// run keeps the member going until it leaves.
func (m *Member) run() {
	ctx, stop := context.WithCancel(context.Background())
	parts := []func(context.Context) error{m.Session.Run, m.Catalog.Run, m.Upkeep.Run}
	done := make(chan error, len(parts))
	for _, p := range parts {
		go func() { done <- p(ctx) }()
	}
	m.Leave = sync.OnceFunc(func() {
		down, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := m.Node.Stop(down); err != nil {
			m.T.Error("stop:", err)
		}
		stop()
		for range parts {
			if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
				m.T.Error(err)
			}
		}
		_ = m.Session.Close(down)
	})
	m.T.Cleanup(m.Leave)
}
