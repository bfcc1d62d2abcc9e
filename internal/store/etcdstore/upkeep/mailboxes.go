package upkeep

import (
	"cmp"
	"context"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
)

// Pending is one mailbox entry as a sweep sees it.
type Pending struct {
	InstanceID string
	CommandID  string
	Key        string
	Created    int64
}

// Sweep lists up to limit mailbox entries, keys only, from cursor on; next is ""
// at the end.
func (s *Upkeep) Sweep(ctx context.Context, cursor string, limit int) (entries []Pending, next string, err error) {
	const what = "sweep mailboxes"
	from := cmp.Or(cursor, s.conn.Keys.Mailboxes())
	kvs, more, ok, err := s.conn.Boxes.Now(ctx, what, from, limit)
	if err != nil {
		return nil, "", err
	}
	if !ok {
		began := time.Now()
		resp, err := s.conn.Get(ctx, what, from, clientv3.WithRange(clientv3.GetPrefixRangeEnd(s.conn.Keys.Mailboxes())), clientv3.WithKeysOnly(), clientv3.WithLimit(int64(limit)))
		if err != nil {
			return nil, "", err
		}
		if time.Since(began) > lookup.SlowLook {
			s.conn.Boxes.Want(s.conn.Keys.Mailboxes(), resp.Count)
		}
		kvs, more = resp.Kvs, resp.More
	}
	for _, kv := range kvs {
		parts := strings.Split(strings.TrimPrefix(string(kv.Key), s.conn.Keys.Mailboxes()), "/")
		if len(parts) != 3 {
			continue
		}
		entries = append(entries, Pending{InstanceID: parts[1], CommandID: record.Decode(parts[2]), Key: string(kv.Key), Created: kv.CreateRevision})
	}
	if more && len(kvs) > 0 {
		next = string(kvs[len(kvs)-1].Key) + "\x00"
	}
	return entries, next, nil
}

// Sends lists send records, in the order of their keys, without those that this
// program cannot read whole. A page may be shorter than its limit and have a next
// one.
func (s *Upkeep) Sends(ctx context.Context, cursor string, limit int64) ([]store.Send, string, error) {
	var out []store.Send
	take := func(kv *mvccpb.KeyValue) error {
		send := store.Send{Created: kv.CreateRevision, Modified: kv.ModRevision}
		if err := db.DecodeWhole(kv.Value, &send); err != nil {
			s.conn.Left(kv.Key, err)
			return nil
		}
		out = append(out, send)
		return nil
	}
	const what = "list send records"
	if kvs, more, ok, err := s.conn.Sending.Now(ctx, what, db.PageFrom(s.conn.Keys.Sends(), cursor), int(limit)); ok || err != nil {
		if err != nil {
			return nil, "", err
		}
		n, err := s.conn.Sending.Named(ctx, what, kvs, take)
		if err != nil || n == len(kvs) && !more {
			return out, "", err
		}
		return out, strings.TrimPrefix(string(kvs[n-1].Key), s.conn.Keys.Sends()), nil
	}
	end, err := s.conn.Values(ctx, what, s.conn.Keys.Sends(), cursor, limit, take)
	if len(out) > 0 {
		s.conn.Sending.Looked(s.conn.Keys.Sends(), int64(len(out)))
	}
	return out, end.Next, err
}
