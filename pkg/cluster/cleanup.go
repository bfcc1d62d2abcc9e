package cluster

import (
	"context"
	"time"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/pkg/cluster/call"
	"github.com/weft-run/weft/pkg/cluster/mutex"
)

// abandon ends an acquisition that did not give a lock: it frees the local lock
// if no key of ours can exist, and otherwise leaves both to a clean-up.
func (s *Session) abandon(e *Epoch, a *mutex.Acquisition) {
	if !a.Sent {
		e.local.Unlock(a.Key)
		return
	}
	s.cleanUp(e, a.Key, a.Rev)
}

// cleanUp keeps the local lock of key in quarantine until the key is gone from
// etcd, and then frees it. It returns at once. When the epoch ends so does the
// clean-up: the lease takes the key, and the local locks go with the epoch.
//
// Rev is the create revision of the key, 0 if it is not known.
func (s *Session) cleanUp(e *Epoch, key string, rev int64) {
	started := s.tasks.start(func() {
		defer e.local.Unlock(key)
		if err := s.erase(e.ctx, key, rev); err != nil {
			s.log.DebugContext(e.ctx, "lock key left to its lease", "key", key, "error", err)
		}
	})
	if !started {
		e.local.Unlock(key)
	}
}

// erase deletes a key of our own lease, again and again until etcd has said that
// it is gone, or ctx ends. The caller holds the local lock of the key.
//
// With an unknown revision, a copy of the put that is still under way can land
// after that; the janitor finds it.
func (s *Session) erase(ctx context.Context, key string, rev int64) error {
	waits := pace.Doubling(20 * time.Millisecond).Spread(30).UpTo(time.Second)
	return pace.Repeat(ctx, waits, func() (bool, error) {
		gone, err := s.eraseOnce(ctx, key, rev)
		return !gone, err
	})
}

func (s *Session) eraseOnce(ctx context.Context, key string, rev int64) (gone bool, err error) {
	ctx, cancel := call.WithTimeout(ctx)
	defer cancel()
	if rev == 0 {
		resp, err := s.cfg.Client.Get(ctx, key)
		if err != nil {
			return false, err
		}
		if len(resp.Kvs) == 0 {
			return true, nil
		}
		rev = resp.Kvs[0].CreateRevision
	}
	if _, err := mutex.DeleteKey(ctx, s.cfg.Client.KV, key, rev); err != nil {
		return false, err
	}
	return true, nil
}
