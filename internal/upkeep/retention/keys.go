package retention

import (
	"context"
	"time"

	"github.com/weft-run/weft/internal/intake"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/upkeep/loop"
	"github.com/weft-run/weft/pkg/metrics"
)

// Keys keeps the answers to callers' Idempotency-Keys within their limits.
type Keys struct{ Retaining }

const (
	keysEvery     = 5 * time.Minute
	keysEveryFull = 30 * time.Second // while etcd is not roomy
	keysPage      = 1000
)

// run deletes answers to callers' Idempotency-Keys of which there are too
// many, the oldest first; those whose time is over are expireRecords'. One node
// does it; two at once do no harm.
func (k *Keys) run(ctx context.Context) error {
	limited := k.Cfg.Limits.IdempotencyCount > 0 || k.Cfg.Limits.IdempotencyBytes > 0
	var last time.Time
	return k.loop(ctx, "retention of idempotency keys", keysEveryFull, func(ctx context.Context) (bool, error) {
		early := k.Cfg.Intake.Level() == intake.Roomy && (!limited || time.Since(last) < keysEvery)
		if early || k.Cfg.Intake.Draining() || !k.here("keys") {
			return false, nil
		}
		last = time.Now()
		return false, k.Once(ctx)
	})
}

// Once is one round.
func (k *Keys) Once(ctx context.Context) error {
	var n, bytes int64
	for cursor := ""; ; {
		page, next, err := k.Cfg.Store.KeyRecords(ctx, cursor, keysPage)
		if err != nil {
			return err
		}
		for _, k := range page {
			n, bytes = n+1, bytes+k.Bytes
		}
		if cursor = next; next == "" {
			break
		}
		if err := loop.Pause(ctx); err != nil {
			return err
		}
	}
	keep, purged := k.Keep(), 0
	for {
		page, _, err := k.Cfg.Store.KeyRecords(ctx, "", etcdstore.MaxPurgeKeys)
		if err != nil {
			return err
		}
		gone := overdueKeys(page, n, bytes, &keep, k.Cfg.Age())
		if len(gone) == 0 {
			break
		}
		if err := k.Cfg.Store.PurgeKeys(ctx, gone); err != nil {
			return err
		}
		for _, k := range gone {
			n, bytes = n-1, bytes-k.Bytes
		}
		purged += len(gone)
		k.Cfg.Metrics.Purged(metrics.PurgedKey, len(gone))
		if err := loop.Pause(ctx); err != nil {
			return err
		}
	}
	if purged > 0 {
		k.Cfg.Log.WarnContext(ctx, "answers to Idempotency-Keys went before their time; a repeat of such an event or resume is a new call, and that of a start is refused as instance-exists while its instance is kept", "keys", purged, "kept", n)
	}
	return nil
}

// overdueKeys are the records at the beginning of a page, of n in all with so many
// bytes, that are not to be kept.
func overdueKeys(page []etcdstore.KeyRecord, n, bytes int64, keep *Limits, age *store.Age) []etcdstore.KeyRecord {
	for i, k := range page {
		many := keep.IdempotencyCount > 0 && n > keep.IdempotencyCount
		large := keep.IdempotencyBytes > 0 && bytes > keep.IdempotencyBytes
		if !many && !large || age.Of(k.Modified) < keep.Grace {
			return page[:i]
		}
		n, bytes = n-1, bytes-k.Bytes
	}
	return page
}
