package runtime_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/expression"
	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

func TestMain(m *testing.M) {
	code := clustertest.Run(m)
	if code == 0 {
		if err := goleak.Find(); err != nil {
			slog.Error("goroutines left", "error", err)
			code = 1
		}
	}
	os.Exit(code)
}

// member is one node of a test cluster, without HTTP.
type member struct {
	*runtime.Runtime
	t       testing.TB
	store   *etcdstore.Store
	catalog *catalog.Catalog
	session *cluster.Session
	work    *runtime.Work
	faults  *clustertest.Faults // of its calls to etcd
	elapsed *atomic.Int64       // added to its monotonic clock
	root    string              // of the cluster's keys
	leave   func()              // ends it, once; the end of the test does it too
}

var harnessStart = time.Now()

// grow lets time pass for the cluster, once all that is there has been counted, and
// waits until all nodes know.
func grow(t testing.TB, members []*member, d time.Duration) {
	t.Helper()
	known := func(age time.Duration) {
		eventually(t, "the age goes on", func() bool {
			return !slices.ContainsFunc(members, func(m *member) bool { return m.Age().Elapsed < age })
		})
	}
	now, err := members[0].store.Upkeep.Age(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	known(now.Elapsed + time.Millisecond)                                   // a mark behind all that is there
	for now = members[0].Age(); members[0].Age().Elapsed < now.Elapsed+d; { // what passes while an answer is under way does not count
		before := members[0].Age().Elapsed
		for _, m := range members {
			m.elapsed.Add(int64(d))
		}
		known(before + 500*time.Millisecond)
	}
	known(now.Elapsed + d)
}

// newCluster starts n nodes over one etcd; tune changes each one's
// configuration.
func newCluster(t testing.TB, n int, tune ...func(*runtime.Config)) []*member {
	t.Helper()
	name := clustertest.Namespace(t)
	members := make([]*member, n)
	for i := range members {
		members[i] = newMember(t, name, string(rune('a'+i)), tune)
	}
	return members
}

func newMember(t testing.TB, name, id string, tune []func(*runtime.Config), session ...func(*cluster.Config)) *member {
	t.Helper()
	return newMemberWith(t, name, id, withAwait(), tune, session...)
}

// newMemberWith is a member whose program has these activities.
func newMemberWith(t testing.TB, name, id string, registry *engine.Registry, tune []func(*runtime.Config), session ...func(*cluster.Config)) *member {
	t.Helper()
	return newMemberLimited(t, name, id, registry, client.Limits{}, tune, session...)
}

// newMemberLimited is one that runs so many bursts.
func newMemberLimited(t testing.TB, name, id string, registry *engine.Registry, limits client.Limits, tune []func(*runtime.Config), session ...func(*cluster.Config)) *member {
	t.Helper()
	faults := clustertest.NewFaults(1)
	etcd := faults.Wrap(clustertest.Shared(t).Client(t))
	log := slog.New(slog.DiscardHandler)
	if testing.Verbose() {
		log = slog.New(slog.NewTextHandler(t.Output(), nil)).With("node", id)
	}
	m := &member{t: t, work: runtime.NewWork(), faults: faults, root: cluster.Root(name)}
	var err error
	check := func() {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	program, err := engine.Digest("test", registry, expression.All())
	check()
	now := time.Now // of all that this node does; tune may give it another
	clock := func() time.Time { return now() }
	joins := cluster.Config{Now: clock, Client: etcd, Cluster: name, NodeID: id, TTL: 10 * time.Second, Logger: log,
		Program: program, Abilities: engine.Abilities(registry, expression.All())}
	for _, f := range session {
		f(&joins)
	}
	m.session, err = cluster.Open(t.Context(), joins)
	check()
	m.store, err = etcdstore.New(etcdstore.Config{Client: etcd, Root: cluster.Root(name), Log: log})
	check()
	m.catalog, err = catalog.New(catalog.Config{Store: m.store.Definitions, Registry: registry, Evaluators: expression.All(), Log: log, Now: clock})
	check()
	head := m.catalog.HeadIn(context.Background())
	node, err := client.NewNode(client.Config{Store: m.store.Instances, Process: m.session.Process(), NodeID: id, Gone: m.session.Gone, Grace: 2 * time.Second, Limits: limits, Hint: m.work.Hint, Wake: m.work.Again, Freed: m.work.Freed, Log: log,
		Program: func(ctx context.Context, def string, version int) (*engine.Program, error) {
			p, _, err := m.catalog.Program(ctx, def, version)
			return p, err
		},
		Env: func() engine.Env { return engine.Env{Now: func() time.Time { return now().UTC() }, Head: head} },
		Gate: func(ctx context.Context, st *workflow.Start) (*store.Gate, error) {
			return runtime.Gate(ctx, m.catalog, st)
		},
	})
	check()
	m.elapsed = new(atomic.Int64)
	cfg := runtime.Config{Elapsed: func() time.Duration { return time.Duration(m.elapsed.Load() + int64(time.Since(harnessStart))) }, Stimuli: m.store.Stimuli, Upkeep: m.store.Upkeep, Reader: m.store.Reader, Catalog: m.catalog, Session: m.session, Node: node, Work: m.work, QueueTTL: 10 * time.Minute, Locks: m.session.Locks(), Log: log,
		Client: func(id string) client.Client { return node.Distributed(m.session.Locks(), id, client.RetryPolicy{}) }}
	for _, f := range tune {
		f(&cfg)
	}
	if cfg.Now != nil {
		now = cfg.Now
	}
	m.Runtime, err = runtime.New(cfg)
	check()
	ctx, stop := context.WithCancel(context.Background())
	parts := []func(context.Context) error{m.session.Run, m.catalog.Run, m.Run}
	done := make(chan error, len(parts))
	for _, p := range parts {
		go func() { done <- p(ctx) }()
	}
	m.leave = sync.OnceFunc(func() {
		down, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := node.Stop(down); err != nil {
			t.Error("stop:", err)
		}
		stop()
		for range parts {
			if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
		_ = m.session.Close(down)
	})
	t.Cleanup(m.leave)
	<-m.catalog.Loaded()
	return m
}

// publish publishes definitions in YAML.
func (m *member) publish(sources ...string) {
	m.t.Helper()
	for _, src := range sources {
		if _, err := m.catalog.Publish(m.t.Context(), catalog.PublishRequest{Source: []byte(src), Publish: true}); err != nil {
			m.t.Fatal(err)
		}
	}
}

// execute starts an instance and gives it after its first burst.
func (m *member) execute(def, id, correlation string) workflow.Instance {
	m.t.Helper()
	res, err := m.Execute(m.t.Context(), runtime.StartRequest{DefinitionID: def, InstanceID: id, CorrelationID: correlation})
	if err != nil {
		m.t.Fatal(err)
	}
	return res.Instance
}

// send sends an event.
func (m *member) send(name, correlation string, key *runtime.Key) runtime.SendResult {
	m.t.Helper()
	st := workflow.EventStimulus(name, nil)
	st.CorrelationID = correlation
	res, err := m.Send(m.t.Context(), st, key)
	if err != nil {
		m.t.Fatal(err)
	}
	return res
}

// finished waits until an instance is.
func (m *member) finished(id string) workflow.Instance {
	m.t.Helper()
	in, err := m.WaitInstance(m.t.Context(), id, 20*time.Second)
	if err != nil {
		m.t.Fatal(err)
	}
	if in.Status != workflow.StatusFinished {
		m.t.Fatalf("instance %s is still %s", id, in.SubStatus)
	}
	return in
}

// lines are what an instance wrote.
func (m *member) lines(id string) []string {
	m.t.Helper()
	page, err := m.Journal(m.t.Context(), id, "", 500)
	if err != nil {
		m.t.Fatal(err)
	}
	var out []string
	for _, it := range page.Items {
		if it.Event == "WriteLine" {
			out = append(out, it.Text)
		}
	}
	return out
}

// eventually waits for a condition that workers or another goroutine bring about.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	polltest.Eventually(t, what, ok)
}
