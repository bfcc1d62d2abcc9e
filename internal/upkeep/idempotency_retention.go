package upkeep

import (
	"context"
	"time"

	"github.com/weft-run/weft/internal/intake"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/metrics"
)

// keyPurge keeps the answers to callers' Idempotency-Keys within their limits.
type keyPurge struct{ retaining }

const (
	keysEvery     = 5 * time.Minute
	keysEveryFull = 30 * time.Second // while etcd is not roomy
	keysPage      = 1000
)

// purgeKeys deletes answers to callers' Idempotency-Keys of which there are too
// many, the oldest first; those whose time is over are expireRecords'. One node
// does it; two at once do no harm.
func (k *keyPurge) purgeKeys(ctx context.Context) error {
	limited := k.cfg.Retention.IdempotencyCount > 0 || k.cfg.Retention.IdempotencyBytes > 0
	var last time.Time
	return k.loop(ctx, "retention of idempotency keys", keysEveryFull, nil, func(ctx context.Context) (bool, error) {
		early := k.intake.Level() == intake.Roomy && (!limited || time.Since(last) < keysEvery)
		if early || k.intake.Draining() || k.cfg.Session.PreferredNode("retention/keys") != k.cfg.Session.NodeID() {
			return false, nil
		}
		last = time.Now()
		return false, k.purgeKeysOnce(ctx)
	})
}

func (k *keyPurge) purgeKeysOnce(ctx context.Context) error {
	var n, bytes int64
	for cursor := ""; ; {
		page, next, err := k.cfg.Store.KeyRecords(ctx, cursor, keysPage)
		if err != nil {
			return err
		}
		for _, k := range page {
			n, bytes = n+1, bytes+k.Bytes
		}
		if cursor = next; next == "" {
			break
		}
		if err := purgePause(ctx); err != nil {
			return err
		}
	}
	keep, purged := k.keep(), 0
	for {
		page, _, err := k.cfg.Store.KeyRecords(ctx, "", etcdstore.MaxPurgeKeys)
		if err != nil {
			return err
		}
		gone := overdueKeys(page, n, bytes, &keep, k.cfg.Age.Now())
		if len(gone) == 0 {
			break
		}
		if err := k.cfg.Store.PurgeKeys(ctx, gone); err != nil {
			return err
		}
		for _, k := range gone {
			n, bytes = n-1, bytes-k.Bytes
		}
		purged += len(gone)
		k.cfg.Metrics.Purged(metrics.PurgedKey, len(gone))
		if err := purgePause(ctx); err != nil {
			return err
		}
	}
	if purged > 0 {
		k.cfg.Log.WarnContext(ctx, "answers to Idempotency-Keys went before their time; a repeat of such an event or resume is a new call, and that of a start is refused as instance-exists while its instance is kept", "keys", purged, "kept", n)
	}
	return nil
}

// overdueKeys are the records at the beginning of a page, of n in all with so many
// bytes, that are not to be kept.
func overdueKeys(page []etcdstore.KeyRecord, n, bytes int64, keep *Retention, age *store.Age) []etcdstore.KeyRecord {
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
