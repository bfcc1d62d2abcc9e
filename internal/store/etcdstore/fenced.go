package etcdstore

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// fenceCompares hold while the lock is mine; none without a fence.
func fenceCompares(f *store.Fence) []clientv3.Cmp {
	if f == nil {
		return nil
	}
	return []clientv3.Cmp{createdAt(f.Key, f.Revision), noneOlder(f.Prefix, f.Revision)}
}

// Secure makes a command in hand durable under the fence, and with it a new
// instance (fresh; nil if it exists). It returns the revision of the mailbox key,
// which is also the new instance's.
//
// If: the lock is mine; the instance as loaded; the command is not there, and
// left no record; no record of the caller's key ([store.ErrConflict]: another
// node has answered it). A repeat finds its own key and returns its revision.
//
// So does a start whose twin on another node was faster. Then fresh becomes the
// instance as that one made it: its index entries are where its own sub-status and
// time put them, and whoever moves them has to know.
func (s *Instances) Secure(ctx context.Context, f *store.Fence, id string, base, fresh *store.Record, cmd workflow.Command) (int64, error) {
	key := s.keys.mail(id, cmd.ID)
	cmps := append(fenceCompares(f), absent(key), absent(s.keys.commandRecord(id, cmd.ID)))
	o := newOps()
	s.putMail(o, id, cmd)
	if cmd.Key != nil {
		cmps = append(cmps, absent(s.keys.keyRecord(cmd.Key.Name)))
		s.recordAccepted(o, id, cmd)
	}
	if base == nil {
		cmps = append(cmps, absent(s.keys.instance(id)))
		o.put(s.keys.instance(id), fresh)
		s.writeIndex(o, nil, &fresh.Header)
	} else {
		cmps = append(cmps, modifiedAt(s.keys.instance(id), base.Modified))
	}
	then, err := o.renderBeside(cmps)
	if err != nil {
		return 0, err
	}
	other := []clientv3.Op{clientv3.OpGet(key, clientv3.WithKeysOnly()), clientv3.OpGet(s.keys.keyRecord(keyName(cmd.Key)), clientv3.WithCountOnly())}
	if base == nil {
		other = append(other, clientv3.OpGet(s.keys.instance(id)))
	}
	resp, err := s.txn(ctx, "make command durable for "+id, cmps, then, other)
	if err != nil {
		return 0, err
	}
	if resp.Succeeded {
		return resp.Header.Revision, nil
	}
	if kvs := resp.Responses[0].GetResponseRange().Kvs; len(kvs) > 0 {
		if base == nil {
			for _, kv := range resp.Responses[2].GetResponseRange().Kvs {
				made, err := wholeRecord(kv)
				if err != nil {
					return 0, fmt.Errorf("make command durable for %s: %w", id, err)
				}
				*fresh = *made
			}
		}
		return kvs[0].CreateRevision, nil
	}
	if cmd.Key != nil && resp.Responses[1].GetResponseRange().Count > 0 {
		return 0, fmt.Errorf("make command durable for %s: %w", id, store.ErrConflict)
	}
	return 0, fmt.Errorf("make command durable for %s: %w", id, store.ErrFenced)
}

// CountAttempt rewrites a mailbox command with its attempts counted, before it
// runs, and returns the revision of that.
//
// If: the lock is mine; the command's create revision.
func (s *Instances) CountAttempt(ctx context.Context, f *store.Fence, id string, cmd workflow.Command, created int64) (int64, error) {
	key := s.keys.mail(id, cmd.ID)
	raw, err := encodeWithin(lean(cmd), maxPassed)
	if err != nil {
		return 0, err
	}
	resp, err := s.txn(ctx, "count attempt for "+id, append(fenceCompares(f), createdAt(key, created)),
		[]clientv3.Op{clientv3.OpPut(key, string(raw))}, nil)
	if err != nil {
		return 0, err
	}
	if !resp.Succeeded {
		return 0, fmt.Errorf("count attempt for %s: %w", id, store.ErrFenced)
	}
	return resp.Header.Revision, nil
}

// TakeBackAttempt rewrites a mailbox command as it was before an attempt of this
// process, which gave it up and lives. The lock may be gone by now. It tells whether
// the command was there, and nobody had counted another attempt.
//
// If: the revision of that attempt.
func (s *Instances) TakeBackAttempt(ctx context.Context, id string, cmd workflow.Command, counted int64) (bool, error) {
	key := s.keys.mail(id, cmd.ID)
	raw, err := encodeWithin(lean(cmd), maxPassed)
	if err != nil {
		return false, err
	}
	resp, err := s.txn(ctx, "take back attempt for "+id, []clientv3.Cmp{modifiedAt(key, counted)},
		[]clientv3.Op{clientv3.OpPut(key, string(raw))}, nil)
	return err == nil && resp.Succeeded, err
}

// Discard takes commands out of the mailbox without writing the instance: there is
// none (base is nil), or its record and what they become do not fit together. One
// command always fits.
//
// If: the lock is mine; the instance as loaded, or absent; each command as read.
func (s *Instances) Discard(ctx context.Context, f *store.Fence, id string, base *store.Record, consumed []store.Consumed, dead []store.DeadLetter) error {
	return s.discard(ctx, f, id, base, consumed, dead)
}

// discard is for a removal too, which a repair may be.
func (s *conn) discard(ctx context.Context, f *store.Fence, id string, base *store.Record, consumed []store.Consumed, dead []store.DeadLetter) error {
	stands := absent(s.keys.instance(id))
	if base != nil {
		stands = modifiedAt(s.keys.instance(id), base.Modified)
	}
	cmps := append(fenceCompares(f), stands)
	o := newOps()
	for i := range consumed {
		done := &consumed[i]
		if done.Created > 0 {
			cmps = append(cmps, createdAt(s.keys.mail(id, done.Command.ID), done.Created))
		}
		s.consumeOne(id, done, o)
	}
	for _, d := range dead {
		s.putDead(o, d)
	}
	then, err := o.renderBeside(cmps)
	if err != nil {
		return err
	}
	resp, err := s.txn(ctx, "discard mail of "+id, cmps, then, nil)
	if err == nil && !resp.Succeeded {
		return fmt.Errorf("discard mail of %s: %w", id, store.ErrFenced)
	}
	return err
}
