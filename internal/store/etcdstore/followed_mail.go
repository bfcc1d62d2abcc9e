package etcdstore

import (
	"cmp"
	"context"
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
)

// The mailbox of an instance that is sent much is a range that is emptied all the time, and each
// load, commit and release went over it. It is followed like others ([follower]). Then:
//
//   - A load reads what the watch has told of, by its keys.
//   - A commit does not compare the mailbox. If the watch has told of new mail before, the commit does
//     not release the lock; else it does, and a look follows, at the revision of the commit.
//   - If that finds mail, it came before the commit, so that its sender counts on this owner:
//     who works the instance is told to take it again ([store.Committed.Waits]). Mail of a later
//     revision is its sender's, as ever. If the node ends between the two, the sweep
//     finds the mail, as after the end of any owner.

// boxLook is the look behind a commit at a mailbox that was not compared.
type boxLook int

const (
	boxCompared boxLook = iota // none: the commit compares it, or does not ask
	boxReleased                // the lock is released, or is not for what is queued
	boxKept                    // there is new mail, and the lock stays
	boxGoesOn                  // the burst goes on
)

// newMail tells whether the watch has told already of mail that was not seen.
func (f *follower) newMail(box string, seen int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.ranges[box]
	return r != nil && newerThan(r, seen)
}

func newerThan(r *followed, seen int64) bool {
	for _, kv := range r.kvs {
		if kv.CreateRevision > seen {
			return true
		}
	}
	return false
}

// lookedInto counts a look that read a mailbox. Only mail makes a range that is emptied.
func (f *follower) lookedInto(read *pb.RangeResponse) {
	if len(read.Kvs) > 0 {
		f.looked(record.SliceOf(string(read.Kvs[0].Key)), read.Count)
	}
}

// cameBefore tells whether mail that was not seen was there at a revision; also if it cannot be told.
func (s *Instances) cameBefore(ctx context.Context, id string, seen, revision int64) bool {
	r, _, ok := s.conn.boxes.upTo(ctx, s.conn.Keys.Mailbox(id), revision)
	if !ok {
		return true
	}
	defer s.conn.boxes.mu.Unlock()
	return newerThan(r, seen)
}

// lookBehind looks into the mailbox at the revision of a commit that did not compare it.
func (s *Instances) lookBehind(ctx context.Context, c *store.Commit, t *prepared, done *store.Committed) {
	id := c.After.Header.ID
	switch {
	case t.box == boxCompared:
	case done.Released:
		done.Waits = s.cameBefore(ctx, id, c.SeenMail, done.Modified)
	default:
		kept := cmp.Or(done.Kept, &store.Kept{Revision: done.Modified, Unread: t.box == boxKept && Waits(c) > 0})
		if err := s.keepMail(ctx, id, kept); err != nil {
			done.Kept, done.Unseen = nil, true
			return
		}
		done.Kept = kept
	}
}

// keepMail reads what lies in a mailbox for an owner who goes on.
func (s *Instances) keepMail(ctx context.Context, id string, kept *store.Kept) error {
	kvs, err := s.conn.boxes.mailAt(ctx, id, kept.Revision)
	if err == nil {
		keeps(kept, decodeMail(kvs))
	}
	return err
}

// mailAt reads what lay in a mailbox that is followed at a revision, the oldest first: one command more than
// a burst takes.
func (f *follower) mailAt(ctx context.Context, id string, revision int64) ([]*mvccpb.KeyValue, error) {
	what, box := "read mail of "+id, f.s.Keys.Mailbox(id)
	keys, _, _, ok := f.at(ctx, box, revision, maxFollowed)
	if !ok {
		resp, err := f.s.Get(ctx, what, box, clientv3.WithPrefix(), clientv3.WithRev(revision), clientv3.WithLimit(record.MailBatch+1), clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortAscend))
		if err != nil {
			return nil, err
		}
		return resp.Kvs, nil
	}
	keys = slices.DeleteFunc(keys, func(kv *mvccpb.KeyValue) bool { return kv.CreateRevision > revision })
	slices.SortStableFunc(keys, func(a, b *mvccpb.KeyValue) int { return cmp.Compare(a.CreateRevision, b.CreateRevision) })
	// One that was taken since is not there any more: the next one takes its place, or what lies behind those that were
	// asked for would count as seen.
	var kvs []*mvccpb.KeyValue
	for len(kvs) <= record.MailBatch && len(keys) > 0 {
		some := keys[:min(len(keys), record.MailBatch+1-len(kvs))]
		keys = keys[len(some):]
		var ask db.Reads
		for _, kv := range some {
			ask.Value(string(kv.Key))
		}
		resp, err := f.s.Read(ctx, what, ask.Ops...)
		if err != nil {
			return nil, err
		}
		for i := range ask.Ops {
			if kv := db.Read(i).One(resp); kv != nil {
				kvs = append(kvs, kv)
			}
		}
	}
	return kvs, nil
}
