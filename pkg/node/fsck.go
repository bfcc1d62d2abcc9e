package node

import (
	"context"
	"errors"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/etcd"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/undo"
	"github.com/weft-run/weft/pkg/cluster"
)

// Fsck checks every key of a cluster and writes nothing. It reaches etcd as a
// node with this configuration would, and does not join the cluster, so it
// may run beside its nodes. An embedded etcd is opened for the time of the check; one that is
// not there is not made, and a cluster without a key is refused.
// If a node has it open, give that etcd's address as EtcdEndpoints.
func Fsck(ctx context.Context, cfg Config) (check *etcdstore.Check, err error) {
	err = withChecker(ctx, cfg, func(checker *etcdstore.Checker, _ string) (err error) {
		check, err = checker.Fsck(ctx)
		return err
	})
	return check, err
}

// FsckRepair is [Fsck] that also repairs what it can; see [etcdstore.Checker.Repair].
// Beside an error it also returns what it did.
func FsckRepair(ctx context.Context, cfg Config) (done *etcdstore.Repairs, err error) {
	err = withChecker(ctx, cfg, func(checker *etcdstore.Checker, root string) (err error) {
		done, err = checker.Repair(ctx, func(id string) string { return cluster.LockPrefix(root, cluster.InstanceLock(id)) })
		return err
	})
	return done, err
}

// undone does something with a checked configuration, and undoes what that opened.
func undone(ctx context.Context, cfg Config, do func(cfg Config, undo *undo.Steps) error) (err error) {
	if cfg, err = cfg.withDefaults(); err != nil {
		return err
	}
	steps := undo.Steps{Log: cfg.Logger}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		err = errors.Join(err, steps.Run(ctx))
	}()
	return do(cfg, &steps)
}

// withChecker opens what a cluster keeps, without joining it.
func withChecker(ctx context.Context, cfg Config, do func(checker *etcdstore.Checker, root string) error) error {
	return undone(ctx, cfg, func(cfg Config, undo *undo.Steps) error {
		clients, err := etcd.OpenKept(ctx, cfg.etcd(), undo)
		if err != nil {
			return err
		}
		if err := etcd.WantCluster(ctx, clients.Main, cfg.Cluster); err != nil {
			return err
		}
		root := cluster.Root(cfg.Cluster)
		store, err := etcdstore.New(etcdstore.Config{Client: clients.Main, Root: root, Log: cfg.Logger})
		if err != nil {
			return err
		}
		registry, err := cfg.registry(nil)
		if err != nil {
			return err
		}
		known, err := catalog.New(catalog.Config{Store: store.Definitions, Registry: registry, Evaluators: cfg.evaluators(), Log: cfg.Logger, Now: cfg.Now})
		if err != nil {
			return err
		}
		return do(store.Upkeep.WithSchedules(catalog.SchedulesOf(known).Lasting), root)
	})
}

// RepairStore makes room in an etcd: it compacts it, defragments its members one after the other, the leader last,
// and takes back the alarm NOSPACE where there is room again. It goes on to the next member only when all answer
// and have what the others have; a member that does not answer at the beginning is a reason to do nothing, as
// another one that is defragmented would cost the majority. It deletes nothing, and never takes back another
// alarm. tell gets a line for each step; with dry it does none of them.
//
// It reaches etcd as a node with this configuration would, needs a user with the role root where etcd has users,
// and does not join the cluster. An embedded etcd is reached through its node, or opened if that is not running.
func RepairStore(ctx context.Context, cfg Config, dry bool, tell func(line string)) error {
	return undone(ctx, cfg, func(cfg Config, undo *undo.Steps) error {
		return etcd.Repair(ctx, cfg.etcd(), undo, dry, tell)
	})
}
