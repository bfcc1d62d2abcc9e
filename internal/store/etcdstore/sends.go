package etcdstore

import (
	"context"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// Sends lists send records, in the order of their keys, without those that this
// program cannot read whole. A page may be shorter than its limit and have a next
// one.
func (s *Stimuli) Sends(ctx context.Context, cursor string, limit int64) ([]store.Send, string, error) {
	var out []store.Send
	next, err := s.values(ctx, "list send records", s.keys.sends(), cursor, limit, func(kv *mvccpb.KeyValue) error {
		send := store.Send{Created: kv.CreateRevision, Modified: kv.ModRevision}
		if err := DecodeWhole(kv.Value, &send); err != nil {
			s.left(kv.Key, err)
			return nil
		}
		out = append(out, send)
		return nil
	})
	return out, next, err
}

// PutSend accepts a stimulus as a send record, with the answer for its key.
// [store.ErrConflict]: the key was used by another call; read its answer.
//
// If: no record of its id, nor of the caller's key. Then: the send record, both
// records. Else: a record of its id is from an earlier copy, and as good.
func (s *Stimuli) PutSend(ctx context.Context, send store.Send, answer *store.Answer) error {
	o := newOps()
	o.put(s.keys.send(send.ID), send)
	rec := s.keys.commandRecord("~send", send.ID)
	s.record(o, rec, store.Effect{Outcome: workflow.OutcomeAccepted})
	cmps := []clientv3.Cmp{absent(rec)}
	if send.Key != nil && answer != nil {
		cmps = append(cmps, absent(s.keys.keyRecord(send.Key.Name)))
		s.answer(o, send.Key, answer)
	}
	then, err := o.renderBeside(cmps)
	if err != nil {
		return err
	}
	resp, err := s.txn(ctx, "accept stimulus", cmps, then, []clientv3.Op{clientv3.OpGet(rec, clientv3.WithCountOnly())})
	if err != nil || resp.Succeeded || resp.Responses[0].GetResponseRange().Count > 0 {
		return err
	}
	return fmt.Errorf("accept stimulus: %w", store.ErrConflict)
}

// LookAgain looks up a send record's stimulus; what is found is delivered, or
// queued, in a transaction that compares the record.
func (s *Stimuli) LookAgain(ctx context.Context, send *store.Send, hash string) (*Look, error) {
	l, err := s.Look(ctx, send.Stimulus, hash, "")
	if err != nil {
		return nil, err
	}
	l.send = send
	return l, nil
}

// BurySend turns a send record into a dead letter.
//
// If: the record's mod revision, and that of the count of what is done of its list.
func (s *Stimuli) BurySend(ctx context.Context, send *store.Send, dead store.DeadLetter) (bool, error) {
	o := newOps()
	s.dropSend(o, send)
	s.putDead(o, dead)
	then, err := o.render()
	if err != nil {
		return false, err
	}
	resp, err := s.txn(ctx, "bury stimulus", s.sendStands(send), then, nil)
	return err == nil && resp.Succeeded, err
}

// Left is what is left of the fixed list of a send record, nothing if it is not as it
// was read. It notes in the record how much was done.
func (s *Stimuli) Left(ctx context.Context, send *store.Send) ([]store.Target, error) {
	resp, err := s.read(ctx, "look what is left of stimulus "+send.ID, clientv3.OpGet(s.keys.sent(send.ID)),
		clientv3.OpGet(s.keys.send(send.ID), clientv3.WithKeysOnly()))
	if err != nil {
		return nil, err
	}
	if kvs := resp.Responses[1].GetResponseRange().Kvs; len(kvs) == 0 || kvs[0].ModRevision != send.Modified {
		return nil, nil
	}
	var count sentCount
	if kvs := resp.Responses[0].GetResponseRange().Kvs; len(kvs) > 0 {
		send.Counted = kvs[0].ModRevision
		if err := DecodeWhole(kvs[0].Value, &count); err != nil {
			s.left(kvs[0].Key, err)
			return nil, nil
		}
	}
	if count.Done < 0 || count.Done >= len(send.Targets) {
		return nil, fmt.Errorf("what is left of stimulus %s: %d of %d targets are done", send.ID, count.Done, len(send.Targets))
	}
	return send.Targets[count.Done:], nil
}

// Standing leaves out the bookmarks that are gone. Triggers stay: the stimulus is
// for those that it met, whatever was published or retracted since.
func (s *Stimuli) Standing(ctx context.Context, targets []store.Target) ([]store.Target, error) {
	var reads []clientv3.Op
	for _, t := range targets {
		if b := t.Bookmark; b != nil {
			reads = append(reads, clientv3.OpGet(s.keys.bookmark(b.Hash, b.CorrelationID, b.ID), clientv3.WithKeysOnly()))
		}
	}
	if len(reads) == 0 {
		return targets, nil
	}
	resp, err := s.read(ctx, "check targets", reads...)
	if err != nil {
		return nil, err
	}
	var out []store.Target
	found := resp.Responses
	for _, t := range targets {
		if t.Bookmark != nil {
			kvs := found[0].GetResponseRange().Kvs
			found = found[1:]
			if len(kvs) == 0 || t.Bookmark.Created != 0 && kvs[0].CreateRevision != t.Bookmark.Created {
				continue
			}
		}
		out = append(out, t)
	}
	return out, nil
}
