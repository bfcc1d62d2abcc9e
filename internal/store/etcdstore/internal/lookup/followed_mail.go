package lookup

import (
	"cmp"
	"context"
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
)

// NewMail tells whether the watch has told already of mail that was not seen.
func (f *Follower) NewMail(box string, seen int64) bool {
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

// LookedInto counts a look that read a mailbox. Only mail makes a range that is emptied.
func (f *Follower) LookedInto(read *pb.RangeResponse) {
	if len(read.Kvs) > 0 {
		f.Looked(record.SliceOf(string(read.Kvs[0].Key)), read.Count)
	}
}

// CameBefore tells whether mail that was not seen was there at a revision; also if it cannot be told.
func (f *Follower) CameBefore(ctx context.Context, box string, seen, revision int64) bool {
	r, _, ok := f.upTo(ctx, box, revision)
	if !ok {
		return true
	}
	defer f.mu.Unlock()
	return newerThan(r, seen)
}

// MailAt reads what lay in a mailbox that is followed at a revision, the oldest first: one command more than
// a burst takes.
func (f *Follower) MailAt(ctx context.Context, id string, revision int64) ([]*mvccpb.KeyValue, error) {
	what, box := "read mail of "+id, f.s.Keys.Mailbox(id)
	keys, _, _, ok := f.At(ctx, box, revision, MaxFollowed)
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
