package upkeep

import (
	"context"
	"time"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
)

// Sooner and Later are of two times.
var Sooner, Later = sooner, later

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
func (u *Upkeep) PurgeDeadOnce(ctx context.Context) error { return u.dead.purgeDeadOnce(ctx) }

// PurgeKeysOnce is one round of the retention of idempotency keys.
func (u *Upkeep) PurgeKeysOnce(ctx context.Context) error { return u.keys.purgeKeysOnce(ctx) }

// PassQueue looks at all of the queue once.
func PassQueue(ctx context.Context, u *Upkeep) (depth int, oldest time.Duration, err error) {
	for _, shard := range etcdstore.QueueShards {
		n, age, err := u.queue.passShard(ctx, string(shard))
		if err != nil {
			return 0, 0, err
		}
		depth, oldest = depth+n, max(oldest, age)
	}
	return depth, oldest, nil
}

// PurgeFinishedOnce is one round of the retention of finished instances.
func (u *Upkeep) PurgeFinishedOnce(ctx context.Context) error {
	for i := range etcdstore.FinishedShards {
		var s finishedShard
		for more := true; more; {
			var err error
			if more, err = u.finished.purgeShard(ctx, i, &s); err != nil {
				return err
			}
		}
	}
	return nil
}

// PurgeVersionsOnce is one round of the retention of versions.
func (u *Upkeep) PurgeVersionsOnce(ctx context.Context, used *catalog.VersionUsers) error {
	return u.versions.purgeVersionsOnce(ctx, used)
}

// PurgePass is one look at all of the finished instances, as the loop does it.
func (u *Upkeep) PurgePass(ctx context.Context) error {
	_, _, err := u.finished.purgePass(ctx, make([]finishedShard, etcdstore.FinishedShards))
	return err
}

// PurgePasses gives a function that looks at all of the finished instances, as the loop does it, and keeps what
// it knows of them from one look to the next.
// It tells whether the loop would go on at once.
func (u *Upkeep) PurgePasses(keep Retention) func(context.Context) (bool, error) {
	shards, cfg := make([]finishedShard, etcdstore.FinishedShards), *u.finished.cfg
	cfg.Retention = keep
	f := &finishedPurge{retaining{worker{cfg: &cfg, intake: u.finished.intake}}}
	return func(ctx context.Context) (bool, error) {
		_, more, err := f.purgePass(ctx, shards)
		return more, err
	}
}

// ExpireUpTo is one look at all that was queued up to a revision.
func (u *Upkeep) ExpireUpTo(ctx context.Context, revision int64) error {
	return u.expiry.expireUpTo(ctx, revision)
}

// SweepGates is one look at all that waits behind gates.
func (u *Upkeep) SweepGates(ctx context.Context) error { return u.gates.sweepGates(ctx) }

var _ = func() struct{} { censusShare, measurePage = 5, 3; return struct{}{} }()

// Measure reads the sizes of a shard until it has read all of them n times, and gives the mean that it knows after each look.
func (u *Upkeep) Measure(ctx context.Context, shard, n int) (means []float64, err error) {
	var s finishedShard
	for n > 0 && err == nil {
		err = u.finished.measureShard(ctx, shard, &s)
		means = append(means, s.mean)
		if s.sizes.cursor == "" {
			n--
		}
	}
	return means, err
}

// PurgeJobs is one round of the retention of jobs.
func (u *Upkeep) PurgeJobs(ctx context.Context, keep time.Duration, most int) error {
	return u.jobs.purge(ctx, keep, most)
}
