package runtime

import (
	"context"
	"time"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
)

// Overdue picks what is purged.
var Overdue = overdue

// Age is the cluster's as this node has seen it in etcd.
func (r *Runtime) Age() *store.Age {
	if seen := r.aged.Load(); seen != nil {
		return seen.Age
	}
	return new(store.Age)
}

// AgeNow is the cluster's age with what has passed since this node saw it.
func (r *Runtime) AgeNow() *store.Age { return r.age() }

// PurgeDeadOnce is one round of the retention of dead letters.
func (r *Runtime) PurgeDeadOnce(ctx context.Context) error { return r.purgeDeadOnce(ctx) }

// PurgeKeysOnce is one round of the retention of idempotency keys.
func (r *Runtime) PurgeKeysOnce(ctx context.Context) error { return r.purgeKeysOnce(ctx) }

// PassQueue looks at all of the queue once.
func PassQueue(ctx context.Context, r *Runtime) (depth int, oldest time.Duration, err error) {
	for _, shard := range etcdstore.QueueShards {
		n, age, err := r.passShard(ctx, string(shard))
		if err != nil {
			return 0, 0, err
		}
		depth, oldest = depth+n, max(oldest, age)
	}
	return depth, oldest, nil
}

// PurgeFinishedOnce is one round of the retention of finished instances.
func (r *Runtime) PurgeFinishedOnce(ctx context.Context) error {
	for i := range etcdstore.FinishedShards {
		var s finishedShard
		for more := true; more; {
			var err error
			if more, err = r.purgeShard(ctx, i, &s); err != nil {
				return err
			}
		}
	}
	return nil
}

// PurgeVersionsOnce is one round of the retention of versions.
func (r *Runtime) PurgeVersionsOnce(ctx context.Context, used *catalog.VersionUsers) error {
	return r.purgeVersionsOnce(ctx, used)
}

// PurgePass is one look at all of the finished instances, as the loop does it.
func (r *Runtime) PurgePass(ctx context.Context) error {
	_, err := r.purgePass(ctx, make([]finishedShard, etcdstore.FinishedShards))
	return err
}

// ExpireUpTo is one look at all that was queued up to a revision.
func (r *Runtime) ExpireUpTo(ctx context.Context, revision int64) error {
	return r.expireUpTo(ctx, revision)
}

// SweepGates is one look at all that waits behind gates.
func (r *Runtime) SweepGates(ctx context.Context) error { return r.sweepGates(ctx) }
