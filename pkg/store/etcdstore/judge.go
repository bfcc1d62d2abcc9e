package etcdstore

import (
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/store"
)

// judge tells what a transaction's answer means, in the order that the design
// gives.
func (s *Store) judge(c *store.Commit, t *prepared, resp *clientv3.TxnResponse) (*store.Committed, metrics.CommitOutcome, error) {
	if resp.Succeeded {
		done := &store.Committed{Modified: resp.Header.Revision}
		outcome := metrics.CommitCommitted
		if t.releases {
			kept, err := s.readRelease(resp.Responses[len(resp.Responses)-1].GetResponseTxn(), resp.Header.Revision)
			if err != nil {
				return nil, outcome, err
			}
			if done.Kept = kept; kept != nil {
				outcome = metrics.CommitKeptLock
			}
			done.Released = kept == nil
		}
		if c.Unlocked != nil {
			done.Released = true
			done.Waits = t.looks && !resp.Responses[len(resp.Responses)-1].GetResponseTxn().Succeeded
		}
		return done, outcome, nil
	}
	if done, err := s.readProof(c, resp); err != nil || done != nil {
		return done, metrics.CommitResolved, err
	}
	if c.Unlocked != nil {
		outcome, err := s.refusedUnlocked(c, resp)
		return nil, outcome, err
	}
	if c.Fence != nil {
		owner := resp.Responses[3].GetResponseRange().Kvs
		if len(owner) == 0 || string(owner[0].Key) != c.Fence.Key || owner[0].CreateRevision != c.Fence.Revision {
			return nil, metrics.CommitFenced, store.ErrFenced
		}
	}
	// Under local coordination the revision is the guard, so that another moved
	// the instance is no breach. Nor is that one appeared: creating takes no lock.
	if moved := s.moved(c, resp); c.Fence == nil || moved && c.Before == nil || !moved && t.foreign > 0 {
		return nil, metrics.CommitConflict, store.ErrConflict
	}
	return nil, metrics.CommitBreach, store.ErrBreach
}

// moved reports whether the instance itself is not as it was loaded.
func (s *Store) moved(c *store.Commit, resp *clientv3.TxnResponse) bool {
	kvs := resp.Responses[2].GetResponseRange().Kvs
	if c.Before == nil {
		return len(kvs) > 0
	}
	return len(kvs) == 0 || kvs[0].ModRevision != c.Before.Modified
}

// readProof finds the commit id of c where only this commit can have put it.
func (s *Store) readProof(c *store.Commit, resp *clientv3.TxnResponse) (*store.Committed, error) {
	if kvs := resp.Responses[0].GetResponseRange().Kvs; len(kvs) > 0 && !c.Delete {
		var e journalEntry
		if err := Decode(kvs[0].Value, &e); err != nil {
			return nil, err
		}
		if e.Commit == c.ID {
			return &store.Committed{Resolved: true, Modified: kvs[0].ModRevision, Released: s.gone(c, resp)}, nil
		}
	}
	if kvs := resp.Responses[1].GetResponseRange().Kvs; len(kvs) > 0 && c.Delete {
		var e deletedEntry
		if err := Decode(kvs[0].Value, &e); err != nil {
			return nil, err
		}
		if e.Commit == c.ID {
			return &store.Committed{Resolved: true, Released: s.gone(c, resp)}, nil
		}
	}
	return nil, nil
}

// gone reports whether my lock key is no longer there.
func (s *Store) gone(c *store.Commit, resp *clientv3.TxnResponse) bool {
	if c.Fence == nil {
		return true
	}
	owner := resp.Responses[3].GetResponseRange().Kvs
	return len(owner) == 0 || string(owner[0].Key) != c.Fence.Key || owner[0].CreateRevision != c.Fence.Revision
}
