package cluster

import (
	"context"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/pkg/cluster/call"
	"github.com/weft-run/weft/pkg/cluster/mutex"
)

// janitorEvery is under 2 s with its jitter: part of the promise that work is
// taken over within TTL + 2 s.
const janitorEvery = 1500 * time.Millisecond

// janitor removes lock keys of our own lease that nobody on this node holds:
// acquisitions that were delivered after their clean-up, waiters that a
// partition left behind. Such a key would lock its name as long as we live. It rests
// while there can be none.
func (s *Session) janitor(ctx context.Context, e *Epoch) {
	for e.keysMayCome(ctx) && pace.Pause(ctx, pace.Jitter(janitorEvery)) {
		if err := s.tidy(ctx, e); err != nil && ctx.Err() == nil {
			s.log.DebugContext(ctx, "janitor", "epoch", e.Number, "error", err)
		}
	}
}

// tidy is one round of the janitor.
func (s *Session) tidy(ctx context.Context, e *Epoch) error {
	cctx, cancel := call.WithTimeout(ctx)
	lease, err := s.cfg.Client.TimeToLive(cctx, e.Lease, clientv3.WithAttachedKeys())
	cancel()
	if err != nil {
		return err
	}
	if lease.TTL <= 0 {
		e.doubt()
		return nil
	}
	for _, k := range lease.Keys {
		key := string(k)
		if !strings.HasPrefix(key, s.root+lockDir) {
			continue
		}
		// A goroutine that holds, acquires or cleans up this lock has its local
		// lock. While the janitor has that, the key belongs to none of them, and
		// none can come to own it before it is deleted.
		if !e.local.TryLock(key) {
			continue
		}
		if err := s.removeOrphan(ctx, e, key); err != nil {
			return err
		}
	}
	return nil
}

// removeOrphan takes over the local lock of key.
func (s *Session) removeOrphan(ctx context.Context, e *Epoch, key string) error {
	cctx, cancel := call.WithTimeout(ctx)
	defer cancel()
	resp, err := s.cfg.Client.Get(cctx, key)
	if err != nil || len(resp.Kvs) == 0 {
		e.local.Unlock(key) // nothing was sent that could delete anything
		return err
	}
	rev := resp.Kvs[0].CreateRevision
	removed, err := mutex.DeleteKey(cctx, s.cfg.Client.KV, key, rev)
	if err != nil {
		s.cleanUp(e, key, rev)
		return err
	}
	e.local.Unlock(key)
	if removed.Succeeded {
		s.cfg.Metrics.LockOrphanRemoved()
		s.log.WarnContext(ctx, "removed a lock key that nobody on this node holds", "key", key, "epoch", e.Number)
	}
	return nil
}

func lastSlash(key string) int { return strings.LastIndexByte(key, '/') }
