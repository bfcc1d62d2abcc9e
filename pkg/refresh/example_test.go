package refresh_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/cluster/clustertest"
	"github.com/weft-run/weft/pkg/refresh"
)

func exampleCatalog(etcd *clientv3.Client, name string) (*catalog.Catalog, error) {
	store, err := etcdstore.New(etcdstore.Config{Client: etcd, Root: cluster.Root(name)})
	if err != nil {
		return nil, err
	}
	return catalog.New(catalog.Config{Store: store.Definitions, Registry: activities.Default()})
}

// A refresh of the same definitions is done by one node at a time. The others are
// told who does it, and do not wait.
func ExampleDistributedRefresher_Refresh() {
	clustertest.Example(func(ctx context.Context, etcd *clientv3.Client, name string) error {
		published, err := exampleCatalog(etcd, name)
		if err != nil {
			return err
		}
		hello := catalog.PublishRequest{Source: []byte("id: hello\nroot: [{event: hello, trigger: true}]\n"), Publish: true}
		if _, err := published.Publish(ctx, hello); err != nil {
			return err
		}
		log := slog.New(slog.DiscardHandler)
		sessions := map[string]*cluster.Session{}
		for _, id := range []string{"a", "b"} {
			s, err := cluster.Open(ctx, cluster.Config{Client: etcd, Cluster: name, NodeID: id, TTL: 10 * time.Second, Logger: log})
			if err != nil {
				return err
			}
			defer func() { _ = s.Close(ctx) }()
			sessions[id] = s
		}

		refresher := &refresh.DistributedRefresher{Inner: &refresh.LocalRefresher{Catalog: published}, Locks: sessions["b"].Locks(), Log: log}
		lock, err := sessions["a"].Locks().TryAcquire(ctx, cluster.RefreshLock([]string{"hello"})) // a is at it
		if err != nil {
			return err
		}
		during, err := refresher.Refresh(ctx, []string{"hello"})
		if err := errors.Join(err, lock.Release(ctx)); err != nil {
			return err
		}
		fmt.Println(during.Status, during.Holder)
		after, err := refresher.Refresh(ctx, []string{"hello"})
		fmt.Println(after.Status, after.Refreshed)
		return err
	})
	// Output:
	// AlreadyInProgress a
	// Completed [hello]
}

// A bad file is told with its place, and does not stop the others.
func ExampleLocalReloader_Reload() {
	clustertest.Example(func(ctx context.Context, etcd *clientv3.Client, name string) error {
		dir, err := os.MkdirTemp("", "weft-example-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		for file, content := range map[string]string{
			"hello.yaml": "id: hello\nroot: [writeLine: Hello]\n",
			"wrong.yaml": "id: wrong\nroot:\n  - writeLin: Hello\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
				return err
			}
		}
		published, err := exampleCatalog(etcd, name)
		if err != nil {
			return err
		}
		r := &refresh.LocalReloader{Dir: dir, Catalog: published, Log: slog.New(slog.DiscardHandler)}
		result, err := r.Reload(ctx)
		if err != nil {
			return err
		}
		fmt.Println(result.Refreshed)
		for _, bad := range result.NotRefreshed {
			fmt.Println(bad.Reason)
		}
		return nil
	})
	// Output:
	// [hello]
	// wrong.yaml: line 3, column 5: there is no activity type "writeLin" (did you mean writeLine?)
	// 3 |   - writeLin: Hello
	//         ^
}
