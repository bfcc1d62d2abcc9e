package etcdstore

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/metrics"
)

// applied reads the answer to a commit whose compares held.
func (s *Instances) applied(c *store.Commit, t *prepared, resp *clientv3.TxnResponse) (*store.Committed, metrics.CommitOutcome) {
	done := &store.Committed{Modified: resp.Header.Revision}
	outcome := metrics.CommitCommitted
	if t.releases {
		kept := s.readRelease(resp.Responses[len(resp.Responses)-1].GetResponseTxn(), resp.Header.Revision)
		if done.Kept = kept; kept != nil {
			outcome = metrics.CommitKeptLock
		}
		done.Released = kept == nil
	}
	if t.reads {
		done.Kept = s.readOn(c, resp.Responses[len(resp.Responses)-1].GetResponseTxn(), resp.Header.Revision)
	}
	if c.Unlocked != nil {
		done.Released = true
		done.Waits = t.looks && !resp.Responses[len(resp.Responses)-1].GetResponseTxn().Succeeded
	}
	return done, outcome
}

// refused finds out why a commit was refused, in the order of
// docs/keys.md. It is a read of its own, as refusals are rare and what a transaction
// reads in its Else is sent and logged with every commit. The answer is that of
// an identical commit sent a moment later, which is as good: the compares are
// monotone. Without an answer the outcome stays unknown, as an earlier copy may
// have been applied.
func (s *Instances) refused(ctx context.Context, c *store.Commit, t *prepared) (*store.Committed, metrics.CommitOutcome, error) {
	resp, err := s.read(ctx, "read why the commit of instance "+c.After.Header.ID+" was refused", s.why(c)...)
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w", ErrUnknown, err)
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

// why are the reads that tell what became of a commit.
func (s *Instances) why(c *store.Commit) []clientv3.Op {
	id := c.After.Header.ID
	reads := []clientv3.Op{
		clientv3.OpGet(s.keys.journal(id, c.After.Seq)),
		clientv3.OpGet(s.keys.commandRecord(id, deletedRecord)),
		clientv3.OpGet(s.keys.instance(id), clientv3.WithKeysOnly()),
	}
	if c.Fence != nil {
		reads = append(reads, clientv3.OpGet(c.Fence.Prefix, clientv3.WithFirstCreate()...))
	}
	if u := c.Unlocked; u != nil { // with the value: an answer of keys only has no lease
		reads = append(reads, clientv3.OpGet(u.Key), clientv3.OpGet(s.keys.head(u.Definition), clientv3.WithKeysOnly()))
	}
	return reads
}

// moved reports whether the instance itself is not as it was loaded.
func (s *Instances) moved(c *store.Commit, resp *clientv3.TxnResponse) bool {
	kvs := resp.Responses[2].GetResponseRange().Kvs
	if c.Before == nil {
		return len(kvs) > 0
	}
	return len(kvs) == 0 || kvs[0].ModRevision != c.Before.Modified
}

// readProof finds the commit id of c where only this commit can have put it.
func (s *Instances) readProof(c *store.Commit, resp *clientv3.TxnResponse) (*store.Committed, error) {
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
func (s *Instances) gone(c *store.Commit, resp *clientv3.TxnResponse) bool {
	if c.Fence == nil {
		return true
	}
	owner := resp.Responses[3].GetResponseRange().Kvs
	return len(owner) == 0 || string(owner[0].Key) != c.Fence.Key || owner[0].CreateRevision != c.Fence.Revision
}
