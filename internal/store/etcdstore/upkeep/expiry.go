package upkeep

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
)

// ExpireRecords deletes idempotency records that are old enough at this age of the
// cluster, with their index entries, of a page from cursor on. It tells how many,
// and what follows; "" at the end.
//
// The index is in the order in which the cluster's age was known to those who
// wrote. Some of them know it late: so what is old lies before the age at which it
// is, and what lies there is looked at, each entry by its own mod revision, which is
// also its record's. What lies behind every age that there is, because the age
// itself was lost, is looked at too.
//
// A record is deleted by the index entry of its last writing only, which has its
// mod revision: one that was written again, as an answer that became final, lives
// on until its later entry, also when this transaction comes late.
func (s *Upkeep) ExpireRecords(ctx context.Context, age *store.Age, cursor string) (n int, next string, err error) {
	for _, over := range s.overAge(age) {
		if cursor >= over.to {
			continue
		}
		resp, err := s.conn.Get(ctx, "read expired records", max(over.from, cursor), clientv3.WithRange(over.to), clientv3.WithLimit(record.ExpirePage), clientv3.WithKeysOnly())
		if err != nil {
			return n, cursor, err
		}
		resp.Kvs = slices.DeleteFunc(resp.Kvs, func(kv *mvccpb.KeyValue) bool {
			cursor = string(kv.Key) + "\x00"
			return kv.ModRevision > over.upTo
		})
		for chunk := range slices.Chunk(resp.Kvs, MaxPurgeKeys) {
			t := s.conn.Begin("delete expired records")
			for _, kv := range chunk {
				s.forget(t.Ops, string(kv.Key), kv.ModRevision)
			}
			if _, err := t.Submit(ctx); err != nil {
				return n, "", err
			}
			n += len(chunk)
		}
		if resp.More {
			return n, cursor, nil
		}
	}
	return n, "", nil
}

// Expired is what is old enough at an age: the revisions up to which records of our
// own and of callers' keys are.
type Expired struct{ own, keys int64 }

// Expired tells that of an age. An age that has the same finds nothing new.
func (s *Upkeep) Expired(age *store.Age) (e Expired) {
	if m, ok := age.Before(record.RecordTTL); ok {
		e.own = m.Revision
	}
	if m, ok := age.Before(s.keepKeys); ok {
		e.keys = m.Revision
	}
	return e
}

// over is a range of the expiry index, and the last revision in it that is old enough.
type over struct {
	from, to string
	upTo     int64
}

// overAge are the ranges to be looked at, in the order of their keys.
func (s *Upkeep) overAge(age *store.Age) []over {
	lost := record.AgeKey((age.Elapsed + time.Minute).Milliseconds())
	own, keys := s.conn.Keys.Expiries(), s.conn.Keys.KeyExpiries()
	var out []over
	if m, ok := age.Before(record.RecordTTL); ok {
		out = append(out, over{own, own + record.AgeKey(m.Elapsed.Milliseconds()), m.Revision}, over{own + lost, keys, m.Revision})
	}
	if m, ok := age.Before(s.keepKeys); ok {
		out = append(out, over{keys, keys + record.AgeKey(m.Elapsed.Milliseconds()), m.Revision}, over{keys + lost, clientv3.GetPrefixRangeEnd(keys), m.Revision})
	}
	return out
}

// forget deletes an entry of the expiry index as it was read, and its record, if
// that was not written since.
func (s *Upkeep) forget(o *db.Ops, entry string, modified int64) {
	record := s.conn.Keys.Root + record.Decode(entry[strings.LastIndexByte(entry, '/')+1:])
	then, mine := db.NewOps(), db.NewOps()
	mine.Del(record)
	then.Nested([]clientv3.Cmp{db.ModifiedAt(record, modified)}, mine, nil)
	then.Del(entry)
	o.Nested([]clientv3.Cmp{db.ModifiedAt(entry, modified)}, then, nil)
}

// KeyRecord is the record of a caller's key, as retention sees it: its entry in
// the expiry index.
type KeyRecord struct {
	Bytes    int64 // about what it takes in the store
	Modified int64 // revision at which it was written
	Entry    string
}

// KeyRecords lists the records of callers' keys, the oldest first; next
// is "" at the end. A record that was written twice is listed twice.
func (s *Upkeep) KeyRecords(ctx context.Context, cursor string, limit int64) ([]KeyRecord, string, error) {
	kvs, next, err := s.conn.Page(ctx, "list idempotency keys", s.conn.Keys.KeyExpiries(), cursor, limit)
	if err != nil {
		return nil, "", err
	}
	out := make([]KeyRecord, len(kvs))
	for i, kv := range kvs {
		bytes, _ := strconv.ParseInt(string(kv.Value), 10, 64) // what cannot be read counts as nothing
		out[i] = KeyRecord{Bytes: bytes, Modified: kv.ModRevision, Entry: string(kv.Key)}
	}
	return out, next, nil
}

// MaxPurgeKeys is how many records Upkeep.PurgeKeys takes at once.
const MaxPurgeKeys = 200

// PurgeKeys deletes records of callers' keys before their time; those that were
// written again since they were listed stay, as with Upkeep.ExpireRecords. It
// only deletes: it has to work when etcd has no space.
func (s *Upkeep) PurgeKeys(ctx context.Context, records []KeyRecord) error {
	if len(records) == 0 {
		return nil
	}
	t := s.conn.Begin("purge idempotency keys")
	for _, r := range records {
		s.forget(t.Ops, r.Entry, r.Modified)
	}
	_, err := t.Submit(ctx)
	return err
}
