package etcdstore

import (
	"context"
	"fmt"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Records of our own commands live this long; those of callers' keys a day.
const (
	recordTTL = 10 * time.Minute
	keyTTL    = 24 * time.Hour
)

// record puts a record and its entry in the expiry index.
func (s *Store) record(o *ops, key string, v any, expires time.Time) {
	o.put(key, v)
	o.putRaw(s.keys.expiry(expires, key), nil)
}

// ExpireRecords deletes up to limit idempotency records that expired before now,
// with their index entries, and tells how many.
//
// A record is deleted by the index entry of its last writing only, which has its
// mod revision: one that was written again, as an answer that became final, lives
// on until its later entry, also when this transaction comes late.
func (s *Store) ExpireRecords(ctx context.Context, now time.Time, limit int64) (int, error) {
	prefix := s.keys.expiries()
	end := prefix + minute(now)
	resp, err := s.get(ctx, "read expired records", prefix, clientv3.WithRange(end), clientv3.WithLimit(limit), clientv3.WithKeysOnly())
	if err != nil || len(resp.Kvs) == 0 {
		return 0, err
	}
	o := newOps()
	for _, kv := range resp.Kvs {
		entry := string(kv.Key)
		record := s.keys.root + decode(entry[strings.LastIndexByte(entry, '/')+1:])
		then, mine := newOps(), newOps()
		mine.del(record)
		then.nested([]clientv3.Cmp{modifiedAt(record, kv.ModRevision)}, mine, nil)
		then.del(entry)
		o.nested([]clientv3.Cmp{modifiedAt(entry, kv.ModRevision)}, then, nil)
	}
	then, err := o.renderBeside(nil)
	if err != nil {
		return 0, err
	}
	_, err = s.txn(ctx, "delete expired records", nil, then, nil)
	return len(resp.Kvs), err
}

// minute is a time's part of a key in the expiry index.
func minute(t time.Time) string { return fmt.Sprintf("%010d", t.Unix()/60) }
