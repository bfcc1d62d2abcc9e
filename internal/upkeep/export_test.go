package upkeep

import (
	"context"
	"time"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/upkeep/retention"
)

// Sooner and Later are of two times.
var Sooner, Later = sooner, later

// Overdue picks what is purged.
var Overdue = retention.Overdue

// Seen is the cluster's age as this node has seen it in etcd.
func (a *Age) Seen() *store.Age {
	if seen := a.seen.Load(); seen != nil {
		return seen.Age
	}
	return new(store.Age)
}

// PurgeDeadOnce is one round of the retention of dead letters.
func (u *Upkeep) PurgeDeadOnce(ctx context.Context) error { return u.retention.Dead.Once(ctx) }

// PurgeKeysOnce is one round of the retention of idempotency keys.
func (u *Upkeep) PurgeKeysOnce(ctx context.Context) error { return u.retention.Keys.Once(ctx) }

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
		var s retention.Shard
		for more := true; more; {
			var err error
			if more, err = u.retention.Finished.PurgeShard(ctx, i, &s); err != nil {
				return err
			}
		}
	}
	return nil
}

// PurgeVersionsOnce is one round of the retention of versions.
func (u *Upkeep) PurgeVersionsOnce(ctx context.Context, used *catalog.VersionUsers) error {
	return u.retention.Versions.Once(ctx, used)
}

// PurgePass is one look at all of the finished instances, as the loop does it.
func (u *Upkeep) PurgePass(ctx context.Context) error {
	_, _, err := u.retention.Finished.Pass(ctx, make([]retention.Shard, etcdstore.FinishedShards))
	return err
}

// PurgePasses gives a function that looks at all of the finished instances, as the loop does it, and keeps what
// it knows of them from one look to the next.
// It tells whether the loop would go on at once.
func (u *Upkeep) PurgePasses(keep retention.Limits) func(context.Context) (bool, error) {
	shards, cfg := make([]retention.Shard, etcdstore.FinishedShards), *u.retention.Finished.Cfg
	cfg.Limits = keep
	f := retention.New(cfg).Finished
	return func(ctx context.Context) (bool, error) {
		_, more, err := f.Pass(ctx, shards)
		return more, err
	}
}

// ExpireUpTo is one look at all that was queued up to a revision.
func (u *Upkeep) ExpireUpTo(ctx context.Context, revision int64) error {
	return u.expiry.expireUpTo(ctx, revision)
}

// SweepGates is one look at all that waits behind gates.
func (u *Upkeep) SweepGates(ctx context.Context) error { return u.gates.sweepGates(ctx) }

var _ = func() struct{} { censusShare = 5; return struct{}{} }()

// Measure reads the sizes of a shard until it has read all of them n times, and gives the mean that it knows after each look.
func (u *Upkeep) Measure(ctx context.Context, shard, n int) (means []float64, err error) {
	var s retention.Shard
	cfg := *u.retention.Finished.Cfg
	cfg.SizesPage = 3
	f := retention.New(cfg).Finished
	for n > 0 && err == nil {
		err = f.MeasureShard(ctx, shard, &s)
		means = append(means, s.Mean)
		if s.Sizes.Cursor == "" {
			n--
		}
	}
	return means, err
}

// PurgeJobs is one round of the retention of jobs.
func (u *Upkeep) PurgeJobs(ctx context.Context, keep time.Duration, most int) error {
	return u.jobs.purge(ctx, keep, most)
}

// SweepFiles looks at all files once.
func SweepFiles(ctx context.Context, u *Upkeep) error {
	cursor, err := u.expiry.sweepSome(ctx, "")
	for cursor != "" && err == nil {
		cursor, err = u.expiry.sweepSome(ctx, cursor)
	}
	return err
}
