package runtime

import (
	"context"
	"errors"
	"time"

	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/store"
	"github.com/weft-run/weft/pkg/store/etcdstore"
)

const (
	queueLook  = 500 * time.Millisecond // how soon a new trigger is noticed; costs nothing
	queueSweep = 30 * time.Second
)

// workQueue is the safety net of the bookmark queue. An item meets its bookmark
// in the commit that creates the bookmark, and a new trigger in this worker: it
// is woken when a definition is published, and sweeps slowly behind that.
func (r *Runtime) workQueue(ctx context.Context) error {
	seen, swept := int64(-1), time.Time{}
	return r.loop(ctx, "bookmark queue", queueLook, nil, func(ctx context.Context) (bool, error) {
		revision := r.cfg.Catalog.Revision()
		if r.suspended() || revision == seen && time.Since(swept) < queueSweep {
			return false, nil
		}
		seen, swept = revision, time.Now()
		var errs []error
		depth, oldest := 0, time.Duration(0)
		for i, shard := range etcdstore.QueueShards {
			n, age, err := r.queueShard(ctx, i, string(shard))
			depth, oldest = depth+n, max(oldest, age)
			errs = append(errs, err) // one bad shard never stops a pass
		}
		r.cfg.Metrics.SetQueue(depth, oldest)
		return false, errors.Join(errs...)
	})
}

// queueShard makes one pass over a shard that has items, under its lock: tried
// with zero wait, skipped when another node is at it.
func (r *Runtime) queueShard(ctx context.Context, index int, shard string) (depth int, oldest time.Duration, err error) {
	items, next, err := r.cfg.Store.QueueItems(ctx, shard, "", 500)
	if err != nil || len(items) == 0 {
		return 0, 0, err
	}
	lock, err := r.cfg.Session.Locks().TryAcquire(ctx, cluster.ShardLock(cluster.ScopeQueue, index))
	if err != nil {
		if errors.Is(err, cluster.ErrHeld) {
			r.cfg.Log.Debug("queue shard is worked elsewhere", "shard", shard)
			return len(items), 0, nil
		}
		return len(items), 0, err
	}
	defer func() {
		if rerr := lock.Release(ctx); rerr != nil {
			r.cfg.Log.Warn("queue lock not released; its lease will free it", "shard", shard, "error", rerr)
		}
	}()
	for {
		if err := r.queuePage(ctx, items); err != nil {
			return depth, oldest, err
		}
		depth += len(items)
		for _, item := range items {
			oldest = max(oldest, r.cfg.Now().Sub(item.CreatedAt))
		}
		if next == "" {
			return depth, oldest, nil
		}
		if items, next, err = r.cfg.Store.QueueItems(ctx, shard, next, 500); err != nil {
			return depth, oldest, err
		}
	}
}

// queuePage sends those items on that something waits for now.
func (r *Runtime) queuePage(ctx context.Context, items []store.QueueItem) error {
	var hashes []string
	known := map[string]bool{}
	for _, item := range items {
		if !known[item.Hash] {
			known[item.Hash] = true
			hashes = append(hashes, item.Hash)
		}
	}
	awaited, err := r.cfg.Store.Awaited(ctx, hashes)
	if err != nil {
		return err
	}
	sent := false
	var errs []error
	for i := range items {
		item := &items[i]
		if !awaited[item.Hash] {
			continue
		}
		look, err := r.cfg.Store.Look(ctx, item.Stimulus, item.Hash, "")
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if len(look.Bookmarks)+len(look.Triggers) == 0 {
			continue
		}
		ok, err := r.cfg.Store.Requeue(ctx, item, r.cfg.Now().UTC())
		sent = sent || ok
		errs = append(errs, err)
	}
	if sent {
		r.cfg.Work.Hint(nil, true)
	}
	return errors.Join(errs...)
}
