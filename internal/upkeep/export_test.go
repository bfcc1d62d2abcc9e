package upkeep

import (
	"context"
	"time"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
)

// Overdue picks what is purged.
var Overdue = overdue

// Seen is the cluster's age as this node has seen it in etcd.
func (a *Age) Seen() *store.Age {
	if seen := a.seen.Load(); seen != nil {
		return seen.Age
	}
	return new(store.Age)
}

// PurgeDeadOnce is one round of the retention of dead letters.
func (r *Upkeep) PurgeDeadOnce(ctx context.Context) error { return r.purgeDeadOnce(ctx) }

// PurgeKeysOnce is one round of the retention of idempotency keys.
func (r *Upkeep) PurgeKeysOnce(ctx context.Context) error { return r.purgeKeysOnce(ctx) }

// PassQueue looks at all of the queue once.
func PassQueue(ctx context.Context, r *Upkeep) (depth int, oldest time.Duration, err error) {
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
func (r *Upkeep) PurgeFinishedOnce(ctx context.Context) error {
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
func (r *Upkeep) PurgeVersionsOnce(ctx context.Context, used *catalog.VersionUsers) error {
	return r.purgeVersionsOnce(ctx, used)
}

// PurgePass is one look at all of the finished instances, as the loop does it.
func (r *Upkeep) PurgePass(ctx context.Context) error {
	_, _, err := r.purgePass(ctx, make([]finishedShard, etcdstore.FinishedShards))
	return err
}

// ExpireUpTo is one look at all that was queued up to a revision.
func (r *Upkeep) ExpireUpTo(ctx context.Context, revision int64) error {
	return r.expireUpTo(ctx, revision)
}

// SweepGates is one look at all that waits behind gates.
func (r *Upkeep) SweepGates(ctx context.Context) error { return r.sweepGates(ctx) }
