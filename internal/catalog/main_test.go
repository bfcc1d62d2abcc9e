package catalog_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/authoring/publish"
	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/expression"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/workflow"
)

func TestMain(m *testing.M) { os.Exit(clustertest.Run(m)) }

// bundle is one cluster with as many catalogues as a test wants.
type bundle struct {
	*testing.T
	name   string
	client *clientv3.Client // without faults
}

func newBundle(t *testing.T) *bundle {
	t.Helper()
	t.Parallel()
	return &bundle{t, clustertest.Namespace(t), clustertest.Shared(t).Client(t)}
}

func (b *bundle) root() string { return cluster.Root(b.name) }

// node is one node's catalogue, with its faults.
type node struct {
	*catalog.Catalog
	b      *bundle
	store  *etcdstore.Store
	faults *clustertest.Faults
}

func (b *bundle) node() *node { return b.nodeWith(catalog.Config{}) }

func (b *bundle) nodeWith(cfg catalog.Config) *node {
	b.Helper()
	return b.nodeOn(clustertest.Shared(b).Client(b), cfg)
}

func (b *bundle) nodeOn(client *clientv3.Client, cfg catalog.Config) *node {
	b.Helper()
	faults := clustertest.NewFaults(1)
	store, err := etcdstore.New(etcdstore.Config{Client: faults.Wrap(client), Root: b.root()})
	if err != nil {
		b.Fatal(err)
	}
	cfg.Store, cfg.Evaluators = store.Definitions, expression.All()
	if cfg.Registry == nil {
		cfg.Registry = activities.Default()
	}
	cfg.Checker = publish.Checker{}
	c, err := catalog.New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	return &node{c, b, store, faults}
}

// run starts the watch and waits until the table is loaded.
func (n *node) run() {
	n.b.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	n.b.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			n.b.Error(err)
		}
	})
	select {
	case <-n.Loaded():
	case <-time.After(time.Minute):
		n.b.Fatal("the table was not loaded")
	}
}

func (n *node) publish(src string) (catalog.PublishResult, error) {
	return n.Publish(n.b.Context(), catalog.PublishRequest{Source: []byte(src), Publish: true})
}

func (n *node) mustPublish(src string) catalog.PublishResult {
	n.b.Helper()
	res, err := n.publish(src)
	if err != nil {
		n.b.Fatal(err)
	}
	return res
}

// mustPublishAt publishes and gives the revision of the head.
func (n *node) mustPublishAt(src string) int64 {
	n.b.Helper()
	h, err := n.Confirm(n.b.Context(), n.mustPublish(src).ID)
	if err != nil {
		n.b.Fatal(err)
	}
	return h.Modified
}

func (n *node) wantVersion(id string, want int) {
	n.b.Helper()
	h, err := n.Confirm(n.b.Context(), id)
	if err != nil || h.Published != want {
		n.b.Errorf("%s: version %d, %v; want %d", id, h.Published, err, want)
	}
}

// keysUnder gives the keys below a part of the root, without the root.
func (b *bundle) keysUnder(part string) []string {
	b.Helper()
	resp, err := b.client.Get(b.Context(), b.root()+part, clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		b.Fatal(err)
	}
	var out []string
	for _, kv := range resp.Kvs {
		out = append(out, strings.TrimPrefix(string(kv.Key), b.root()))
	}
	return out
}

func wantCode(t *testing.T, err error, code workflow.Code) {
	t.Helper()
	if workflow.CodeOf(err) != code {
		t.Errorf("error %v, want code %s", err, code)
	}
}

// simple is a definition that writes a line.
func simple(id, line string) string {
	return fmt.Sprintf("id: %s\nroot:\n  - writeLine: %q\n", id, line)
}

// waiting is a definition that an event starts.
func waiting(id, event, line string) string {
	return fmt.Sprintf("id: %s\nroot:\n  - event: %s\n    trigger: true\n  - writeLine: %q\n", id, event, line)
}
