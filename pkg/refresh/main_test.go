package refresh_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/authoring/publish"
	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/expression"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/refresh"
)

func TestMain(m *testing.M) { os.Exit(clustertest.Run(m)) }

// bundle is one cluster.
type bundle struct {
	*testing.T
	name   string
	client *clientv3.Client
}

func newBundle(t *testing.T) *bundle {
	t.Helper()
	t.Parallel()
	return &bundle{t, clustertest.Namespace(t), clustertest.Shared(t).Client(t)}
}

// node is one node of it.
type node struct {
	b       *bundle
	id      string
	session *cluster.Session
	catalog *catalog.Catalog
	metrics *metrics.Metrics
	reg     *prometheus.Registry
	log     *slog.Logger
}

func (b *bundle) node(id string) *node {
	b.Helper()
	n := &node{b: b, id: id, log: slog.New(slog.DiscardHandler), reg: prometheus.NewRegistry()}
	var err error
	if n.metrics, err = metrics.New(n.reg); err != nil {
		b.Fatal(err)
	}
	client := clustertest.Shared(b).Client(b)
	store, err := etcdstore.New(etcdstore.Config{Client: client, Root: cluster.Root(b.name)})
	if err != nil {
		b.Fatal(err)
	}
	if n.catalog, err = catalog.New(catalog.Config{Store: store.Definitions, Registry: activities.Default(), Evaluators: expression.All(), Checker: publish.Checker{}}); err != nil {
		b.Fatal(err)
	}
	n.session, err = cluster.Open(b.Context(), cluster.Config{Client: client, Cluster: b.name, NodeID: id, TTL: 10 * time.Second, Logger: n.log, Metrics: n.metrics})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- n.session.Run(ctx) }()
	b.Cleanup(func() {
		_ = n.session.Close(context.Background())
		cancel()
		if err := <-ran; err != nil && !errors.Is(err, cluster.ErrClosed) {
			b.Error(err)
		}
	})
	return n
}

func (b *bundle) nodes(n int) []*node {
	out := make([]*node, n)
	for i := range out {
		out[i] = b.node(fmt.Sprint("node-", i+1))
	}
	return out
}

func (n *node) local() *refresh.LocalRefresher {
	return &refresh.LocalRefresher{Catalog: n.catalog, Metrics: n.metrics}
}

func (n *node) refresher(inner refresh.Refresher) *refresh.DistributedRefresher {
	return &refresh.DistributedRefresher{Inner: inner, Locks: n.session.Locks(), Log: n.log, Metrics: n.metrics}
}

func (n *node) reloader(dir string) *refresh.LocalReloader {
	return &refresh.LocalReloader{Dir: dir, Catalog: n.catalog, Log: n.log, Metrics: n.metrics}
}

// counted gives weft_definition_refresh_total.
func (n *node) counted(target metrics.RefreshTarget, outcome metrics.RefreshOutcome) int {
	n.b.Helper()
	families, err := n.reg.Gather()
	if err != nil {
		n.b.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "weft_definition_refresh_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			if labels["target"] == string(target) && labels["outcome"] == string(outcome) {
				return int(m.GetCounter().GetValue())
			}
		}
	}
	n.b.Fatalf("there is no counter for %s, %s", target, outcome)
	return 0
}

func (n *node) publish(src string) {
	n.b.Helper()
	if _, err := n.catalog.Publish(n.b.Context(), catalog.PublishRequest{Source: []byte(src), Publish: true}); err != nil {
		n.b.Fatal(err)
	}
}

// waiting is a definition that an event starts.
func waiting(id, event string) string {
	return fmt.Sprintf("id: %s\nroot:\n  - event: %s\n    trigger: true\n  - writeLine: x\n", id, event)
}

// gate is an inner refresher that waits inside until it is let go on.
type gate struct {
	inner   refresh.Refresher
	entered chan []string
	goOn    chan struct{}
}

func newGate(inner refresh.Refresher) *gate {
	return &gate{inner, make(chan []string, 10), make(chan struct{})}
}

// Refresh implements [refresh.Refresher].
func (g *gate) Refresh(ctx context.Context, ids []string) (refresh.Result, error) {
	g.entered <- ids
	select {
	case <-g.goOn:
		return g.inner.Refresh(ctx, ids)
	case <-ctx.Done():
		return refresh.Result{}, context.Cause(ctx)
	}
}
