package node

import (
	"context"
	"errors"

	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/store/etcdstore"
)

// Fsck checks every key of a cluster and writes nothing. It reaches etcd as a
// node with this configuration would, and does not join the cluster, so that it
// may run beside its nodes. An embedded etcd is opened for the time of the check,
// unless a node has it: then give that one's address as EtcdEndpoints.
func Fsck(ctx context.Context, cfg Config) (check *etcdstore.Check, err error) {
	if cfg, err = cfg.withDefaults(); err != nil {
		return nil, err
	}
	undo := cleanups{log: cfg.Logger}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		err = errors.Join(err, undo.run(ctx))
	}()
	clients, err := openEtcd(ctx, cfg, &undo)
	if err != nil {
		return nil, err
	}
	store, err := etcdstore.New(etcdstore.Config{Client: clients.main, Root: cluster.Root(cfg.Cluster), Log: cfg.Logger})
	if err != nil {
		return nil, err
	}
	return store.Fsck(ctx)
}
