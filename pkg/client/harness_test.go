package client_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/goleak"

	"github.com/weft-run/weft/internal/expression"
	"github.com/weft-run/weft/internal/polltest"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/client"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/limit"
)

func TestMain(m *testing.M) {
	os.Exit(clustertest.RunClean(m, goleak.IgnoreTopFunction("go.opencensus.io/stats/view.(*worker).start")))
}

// valve is an activity that tells when it runs and waits to be let through.
type valve struct {
	entered chan string
	pass    chan struct{}
}

func (v *valve) Execute(ctx context.Context, x *engine.Execution) error {
	v.entered <- x.InstanceID()
	select {
	case <-v.pass:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// asking is a valve that is called beside others.
type asking struct{ *valve }

func (a asking) Execute(ctx context.Context, x *engine.Execution) error {
	id := x.InstanceID()
	return engine.Outside(ctx, x, func(ctx context.Context) error {
		a.entered <- id
		select {
		case <-a.pass:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}

// broken is an activity that fails, and counts how often it is called.
type broken struct{ calls atomic.Int64 }

func (b *broken) Execute(context.Context, *engine.Execution) error {
	b.calls.Add(1)
	return errors.New("broken")
}

// world is one cluster in etcd with its definitions.
type world struct {
	whole    bool // large instances are written in one key, as while a node of before lives
	t        testing.TB
	name     string
	programs map[string]*engine.Program
	valve    *valve
	inside   *valve // without an effect outside
	killer   *valve // of the commands that end their processes
	broken   *broken
	counter  counter
	etcd     *clientv3.Client
	width    etcdstore.Width
}

func newWorld(t testing.TB, defs ...*workflow.Definition) *world {
	t.Helper()
	newValve := func() *valve { return &valve{entered: make(chan string, 1000), pass: make(chan struct{}, 1000)} }
	w := &world{t: t, name: clustertest.Namespace(t), programs: map[string]*engine.Program{}, valve: newValve(), inside: newValve(), killer: newValve(), broken: &broken{}, etcd: clustertest.Shared(t).Client(t)}
	reg := activities.Default()
	for name, v := range map[string]engine.Activity{"test.Valve": w.valve, "test.Inside": w.inside, "test.Killer": w.killer, "test.Broken": w.broken, "test.Counter": &w.counter} {
		if err := reg.Register(workflow.Descriptor{Type: name, NoEffect: v == w.inside}, v); err != nil {
			t.Fatal(err)
		}
	}
	if err := reg.Register(workflow.Descriptor{Type: "test.Asking", Asks: workflow.AsksOther}, asking{w.valve}); err != nil {
		t.Fatal(err)
	}
	for _, def := range defs {
		prog, problems := engine.Compile(def, engine.Options{Registry: reg, Evaluators: expression.All()})
		if err := problems.Err(); err != nil {
			t.Fatal(err)
		}
		w.programs[def.ID] = prog
	}
	return w
}

// member is one node of a world.
type member struct {
	*client.Node
	w       *world
	store   *etcdstore.Store
	session *cluster.Session
	faults  *clustertest.Faults
	reg     *prometheus.Registry
	local   bool

	mu    sync.Mutex
	lines []string
}

func (w *world) member(id, mode string, tune ...func(*client.Config)) *member {
	w.t.Helper()
	t := w.t
	m := &member{w: w, faults: clustertest.NewFaults(1), reg: prometheus.NewRegistry(), local: mode == cluster.ModeLocal}
	met, err := metrics.New(m.reg)
	if err != nil {
		t.Fatal(err)
	}
	etcd := m.faults.Wrap(clustertest.Shared(t).Client(t))
	log := slog.New(slog.DiscardHandler)
	if testing.Verbose() {
		log = slog.New(slog.NewTextHandler(t.Output(), nil)).With("node", id)
	}
	m.session, err = cluster.Open(t.Context(), cluster.Config{Client: etcd, LeaseClient: clustertest.Shared(t).Client(t), Cluster: w.name, NodeID: id, Mode: mode, TTL: 10 * time.Second, Logger: log, Metrics: met})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- m.session.Run(ctx) }()
	if m.store, err = etcdstore.New(etcdstore.Config{Client: etcd, Root: cluster.Root(w.name), Log: log, Metrics: met, Timeout: 2 * time.Second, PartsKnown: func(int) bool { return !w.whole }, Width: w.width}); err != nil {
		t.Fatal(err)
	}
	cfg := client.Config{Store: m.store.Instances, Process: m.session.Process(), NodeID: id, Processes: m.session, Grace: time.Second, Log: log, Metrics: met,
		Definitions: definitions{w.programs},
		Env: func() engine.Env {
			return engine.Env{Now: func() time.Time { return time.Now().UTC() }, Lines: func(s string) {
				m.mu.Lock()
				defer m.mu.Unlock()
				m.lines = append(m.lines, s)
			}}
		},
	}
	for _, f := range tune {
		f(&cfg)
	}
	if m.Node, err = client.NewNode(cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		down, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := m.Stop(down); err != nil {
			t.Error("stop:", err)
		}
		stop()
		if err := <-ran; err != nil && !errors.Is(err, context.Canceled) {
			t.Error("session:", err)
		}
		_ = m.session.Close(down)
	})
	return m
}

// definitions are the programs of a world. No start of theirs has a gate.
type definitions struct {
	programs map[string]*engine.Program
}

func (d definitions) Program(_ context.Context, def string, _ int) (*engine.Program, error) {
	if p := d.programs[def]; p != nil {
		return p, nil
	}
	return nil, workflow.Fail(workflow.CodeDefinitionNotFound, "no definition "+def)
}

func (definitions) Gate(context.Context, *workflow.Start) (*store.Gate, error) { return nil, nil }

// looked calls first before a program is looked for.
type looked struct {
	client.Definitions

	first func()
}

func (d looked) Program(ctx context.Context, def string, version int) (*engine.Program, error) {
	d.first()
	return d.Definitions.Program(ctx, def, version)
}

// told is called with what a node is told after its commits.
type told struct {
	hint      func(instances []string)
	again     func(instance string) // nil: hint is
	recovered func(instance string) // the same of those that were taken over
}

func (t told) Hint(instances []string, _ bool) {
	if t.hint != nil {
		t.hint(instances)
	}
}

func (told) Freed(store.Gate) {}

func (told) Lines([]limit.Line) {}

func (t told) Again(instance string, recovered bool) {
	if t.again != nil {
		t.again(instance)
	} else {
		t.Hint([]string{instance}, false)
	}
	if recovered && t.recovered != nil {
		t.recovered(instance)
	}
}

// gone is for how long each process but those that live has been gone.
type gone time.Duration

func (g gone) Gone(string) time.Duration { return time.Duration(g) }

// open gives the client of one instance, as the member's mode wants it.
func (m *member) open(id string) client.Client {
	if m.local {
		return m.Local(id)
	}
	return m.Distributed(m.session.Locks(), id, client.RetryPolicy{Base: 30 * time.Millisecond})
}

// locked tells whether anybody holds the lock of an instance.
func (m *member) locked(id string) (bool, error) {
	_, held, err := m.session.Locks().Inspect(context.Background(), cluster.InstanceLock(id))
	return held, err
}

func (m *member) written() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.lines...)
}

// count reads a counter or a gauge of the member: the sum over series that have the given
// label value (any, if "").
func (m *member) count(name, label string) float64 {
	m.w.t.Helper()
	fams, err := m.reg.Gather()
	if err != nil {
		m.w.t.Fatal(err)
	}
	sum := 0.0
	for _, f := range fams {
		if f.GetName() != "weft_"+name {
			continue
		}
		for _, s := range f.GetMetric() {
			match := label == ""
			for _, l := range s.GetLabel() {
				match = match || l.GetValue() == label
			}
			if match {
				sum += s.GetCounter().GetValue() + s.GetGauge().GetValue()
			}
		}
	}
	return sum
}

func seq(kids ...*workflow.Activity) *workflow.Activity {
	return &workflow.Activity{Type: "Elsa.Sequence", Activities: kids}
}

func line(text string) *workflow.Activity {
	return &workflow.Activity{Type: "Elsa.WriteLine", Inputs: map[string]workflow.Expression{"text": workflow.Lit(text)}}
}

func waitFor(event string) *workflow.Activity {
	return &workflow.Activity{Type: "Elsa.Event", Inputs: map[string]workflow.Expression{"eventName": workflow.Lit(event)}}
}

func through() *workflow.Activity { return &workflow.Activity{Type: "test.Valve"} }

func within() *workflow.Activity { return &workflow.Activity{Type: "test.Inside"} }

func define(id string, root *workflow.Activity) *workflow.Definition {
	return &workflow.Definition{ID: id, Version: 1, Root: root}
}

func startOf(def, id string) workflow.Command {
	return workflow.Command{ID: id, Kind: workflow.CommandStart, CreatedAt: time.Now().UTC(), Start: &workflow.Start{DefinitionID: def, Version: 1}}
}

func resumeOf(id string, in workflow.Instance, i int) workflow.Command {
	return workflow.Command{ID: id, Kind: workflow.CommandResume, CreatedAt: time.Now().UTC(), Bookmark: in.Bookmarks[i].ID}
}

// itemsOf are the items of a journal.
func itemsOf(entries []workflow.JournalEntry) (items []workflow.JournalItem) {
	for _, e := range entries {
		items = append(items, e.Items...)
	}
	return items
}

// must is for calls that have to succeed.
func must[T any](v T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// eventually waits for a condition that workers or another goroutine bring about.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	polltest.Eventually(t, what, ok)
}
