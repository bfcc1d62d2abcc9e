package upkeep

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/upkeep/loop"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/workflow"
)

// queue is the safety net of the bookmark queue.
type queue struct{ worker }

const (
	queueLook  = 500 * time.Millisecond // how soon a new trigger is noticed; costs nothing
	queueSweep = 30 * time.Second

	queuePageSize = 1000 // Keys only
	queueValues   = 200
	shardsAtOnce  = 8
)

// queuePass works one shard of the queue once. depth and oldest are of what is
// left there.
type queuePass func(ctx context.Context, shard string) (depth int, oldest time.Duration, err error)

// workQueue is the safety net of the bookmark queue. An item meets its bookmark
// in the commit that creates the bookmark, and a new trigger in this worker: it
// is woken when a definition is published, and sweeps slowly behind that.
func (q *queue) workQueue(ctx context.Context) error {
	pass := q.passShard
	if q.cfg.Locks != nil {
		pass = q.passShardLocked(pass)
	}
	seen, swept := int64(-1), time.Time{}
	// A node can vanish between the commit that created a bookmark and its claim of
	// the item that the commit met: nothing but a sweep tells of that.
	var vanished atomic.Bool
	wake := make(chan struct{}, 1)
	return q.besideVanished(ctx, func() {
		vanished.Store(true)
		signal(wake)
	}, func(ctx context.Context) error {
		return q.loop(ctx, "bookmark queue", queueLook, wake, func(ctx context.Context) (bool, error) {
			revision := q.cfg.Catalog.Revision()
			if q.intake.HoldsBack() || !vanished.Load() && revision == seen && time.Since(swept) < queueSweep {
				return false, nil
			}
			vanished.Store(false)
			seen, swept = revision, time.Now()
			var mu sync.Mutex
			depth, oldest := 0, time.Duration(0)
			some, err := q.cfg.Store.SomeQueued(ctx)
			if err != nil {
				seen = -1 // all of it again
				return false, err
			}
			err = loop.SideBySide(shardsAtOnce, len(some), func(i int) error {
				n, age, err := pass(ctx, some[i])
				mu.Lock()
				defer mu.Unlock()
				depth, oldest = depth+n, max(oldest, age)
				return err
			})
			q.cfg.Metrics.SetQueue(depth, oldest)
			if err != nil {
				seen = -1 // all of it again
			}
			return false, err
		})
	})
}

// marksEvery is how often one node looks for marks of slices that are empty.
const marksEvery = time.Minute

// dropMarks deletes what is left of slices of the queue that are empty.
func (q *queue) dropMarks(ctx context.Context) error {
	cursor := ""
	return q.loop(ctx, "marks of the queue", marksEvery, nil, func(ctx context.Context) (bool, error) {
		if q.intake.Suspended() || q.cfg.Session.PreferredNode("queue-marks") != q.cfg.Session.NodeID() {
			return false, nil
		}
		var err error
		if cursor, err = q.cfg.Store.DropMarks(ctx, cursor); err != nil || cursor == "" {
			return false, err
		}
		return true, loop.Pause(ctx) // as many slices as items, maybe
	})
}

// passShardLocked is the decorator of a cluster: a shard is worked under its lock,
// tried with zero wait, and skipped when another node is at it; the next look comes
// with jitter.
func (q *queue) passShardLocked(pass queuePass) queuePass {
	return func(ctx context.Context, shard string) (int, time.Duration, error) {
		lock, err := q.cfg.Locks.TryAcquire(ctx, cluster.ShardLock(cluster.ScopeQueue, strings.Index(etcdstore.QueueShards, shard)))
		if errors.Is(err, cluster.ErrHeld) {
			q.cfg.Log.DebugContext(ctx, "queue shard is worked elsewhere", "shard", shard)
			return 0, 0, nil
		}
		if err != nil {
			return 0, 0, err
		}
		defer func() {
			if rerr := lock.Release(ctx); rerr != nil {
				q.cfg.Log.WarnContext(ctx, "queue lock not released; its lease will free it", "shard", shard, "error", rerr)
			}
		}()
		return pass(ctx, shard)
	}
}

// passShard looks at every item of a shard, at its key only: what waits may be
// large, and there may be much of it. Those are read for whose hash somebody waits.
func (q *queue) passShard(ctx context.Context, shard string) (depth int, oldest time.Duration, err error) {
	var first etcdstore.Queued
	last := ""
	for cursor := ""; ; {
		items, next, err := q.cfg.Store.Queued(ctx, shard, cursor, queuePageSize)
		if err != nil {
			return depth, oldest, err
		}
		var hashes []string
		for _, item := range items {
			if first.Created == 0 || item.Created < first.Created {
				first = item
			}
			if item.Hash != last {
				last = item.Hash
				hashes = append(hashes, last)
			}
		}
		if err := q.queueHashes(ctx, hashes); err != nil {
			return depth, oldest, err
		}
		depth += len(items)
		if cursor = next; next == "" {
			break
		}
	}
	if depth > 0 {
		item, err := q.cfg.Store.QueueItem(ctx, first)
		if err != nil {
			return depth, oldest, err
		}
		if item != nil {
			oldest = max(0, q.cfg.Now().Sub(item.CreatedAt))
		}
	}
	return depth, oldest, nil
}

// queueHashes sends those items of some hashes on that something waits for now.
func (q *queue) queueHashes(ctx context.Context, hashes []string) error {
	awaited, err := q.cfg.Store.Awaited(ctx, hashes)
	if err != nil {
		return err
	}
	for _, hash := range hashes {
		for cursor := ""; awaited[hash]; {
			items, end, err := q.cfg.Reader.QueueItems(ctx, hash+"/", cursor, queueValues)
			if err != nil {
				return err
			}
			if err := q.queuePage(ctx, items); err != nil {
				return err
			}
			if cursor = end.Next; cursor == "" {
				break
			}
		}
	}
	return nil
}

// queuePage sends those items on that something waits for now.
func (q *queue) queuePage(ctx context.Context, items []store.QueueItem) error {
	var sent atomic.Bool
	err := loop.SideBySide(sendsAtOnce, len(items), func(i int) error {
		item := &items[i]
		if item.Unreadable != nil {
			return nil //nolint:nilerr // it is left to others
		}
		look, err := q.cfg.Store.Match(ctx, item.Stimulus, item.Hash)
		if workflow.CodeOf(err) == workflow.CodeNotRunnable {
			return nil // so is what waits for it; else all of the queue would be looked at again and again
		}
		if err != nil || len(look.Bookmarks)+len(look.Triggers) == 0 {
			return err
		}
		ok, err := q.cfg.Store.Requeue(ctx, item)
		if ok {
			sent.Store(true)
		}
		return err
	})
	if sent.Load() {
		q.cfg.Wakeups.Hint(nil, true)
	}
	return err
}
