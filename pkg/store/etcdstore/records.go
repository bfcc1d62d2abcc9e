package etcdstore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/pkg/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// Records of our own commands live this long; those of callers' keys a day, if
// nothing else is configured.
const (
	recordTTL = 10 * time.Minute
	keyTTL    = 24 * time.Hour
)

// record puts a record of our own and its entry in the expiry index.
func (s *Store) record(o *ops, key string, v any, expires time.Time) {
	o.put(key, v)
	o.putRaw(s.keys.expiry(expires, key), nil)
}

// MadeKey begins the names of keys that no caller knows, made for calls that came
// without: their records are our own, and live as long. No derived name begins so.
const MadeKey = "made-"

// answer puts the record of a caller's key, and its entry, which says when that
// was and how large the record is. Entries are in the order of writing, not of
// expiry: the oldest come first, and a new age holds for all, whatever was
// configured when they were written. Who may have the answer says the key.
func (s *Store) answer(o *ops, k *workflow.CommandKey, a *store.Answer, at time.Time) {
	guarded := *a
	guarded.Guard = k.Guard
	key := s.keys.keyRecord(k.Name)
	if strings.HasPrefix(k.Name, MadeKey) {
		s.record(o, key, &guarded, at.Add(recordTTL))
		return
	}
	size := int64(len(key)) + o.put(key, &guarded)
	entry := s.keys.keyExpiry(at, key)
	o.putRaw(entry, fmt.Appendf(nil, "%d %d", at.UnixMilli(), size+int64(len(entry))+answerBytes))
}

// answerBytes is about what etcd needs for a caller's record and its entry, beside
// their keys and the record's value.
const answerBytes = 200

// ExpireRecords deletes up to limit idempotency records that expired before now,
// with their index entries, and tells how many.
//
// A record is deleted by the index entry of its last writing only, which has its
// mod revision: one that was written again, as an answer that became final, lives
// on until its later entry, also when this transaction comes late.
func (s *Store) ExpireRecords(ctx context.Context, now time.Time, limit int64) (int, error) {
	var entries []*mvccpb.KeyValue
	for _, over := range []struct {
		prefix string
		before time.Time
	}{{s.keys.expiries(), now}, {s.keys.keyExpiries(), now.Add(-s.keepKeys)}} {
		left := limit - int64(len(entries))
		if left == 0 {
			break
		}
		resp, err := s.get(ctx, "read expired records", over.prefix, clientv3.WithRange(over.prefix+minute(over.before)), clientv3.WithLimit(left), clientv3.WithKeysOnly())
		if err != nil {
			return 0, err
		}
		entries = append(entries, resp.Kvs...)
	}
	o := newOps()
	for _, kv := range entries {
		s.forget(o, string(kv.Key), kv.ModRevision)
	}
	return len(entries), s.sendForget(ctx, "delete expired records", o, len(entries))
}

// forget deletes an entry of the expiry index as it was read, and its record, if
// that was not written since.
func (s *Store) forget(o *ops, entry string, modified int64) {
	record := s.keys.root + decode(entry[strings.LastIndexByte(entry, '/')+1:])
	then, mine := newOps(), newOps()
	mine.del(record)
	then.nested([]clientv3.Cmp{modifiedAt(record, modified)}, mine, nil)
	then.del(entry)
	o.nested([]clientv3.Cmp{modifiedAt(entry, modified)}, then, nil)
}

func (s *Store) sendForget(ctx context.Context, what string, o *ops, n int) error {
	if n == 0 {
		return nil
	}
	then, err := o.renderBeside(nil)
	if err != nil {
		return err
	}
	_, err = s.txn(ctx, what, nil, then, nil)
	return err
}

// KeyRecord is the record of a caller's key, as retention sees it: its entry in
// the expiry index.
type KeyRecord struct {
	At       time.Time // when it was written
	Bytes    int64     // about what it takes in the store
	entry    string
	modified int64
}

// KeyRecords lists the records of callers' keys, the oldest first; next
// is "" at the end. A record that was written twice is listed twice.
func (s *Store) KeyRecords(ctx context.Context, cursor string, limit int64) ([]KeyRecord, string, error) {
	kvs, next, err := s.page(ctx, "list idempotency keys", s.keys.keyExpiries(), cursor, limit)
	if err != nil {
		return nil, "", err
	}
	out := make([]KeyRecord, len(kvs))
	for i, kv := range kvs {
		var ms, bytes int64
		_, _ = fmt.Sscan(string(kv.Value), &ms, &bytes) // what cannot be read counts as long ago and as nothing
		out[i] = KeyRecord{At: time.UnixMilli(ms).UTC(), Bytes: bytes, entry: string(kv.Key), modified: kv.ModRevision}
	}
	return out, next, nil
}

// MaxPurgeKeys is how many records [Store.PurgeKeys] takes at once.
const MaxPurgeKeys = 200

// PurgeKeys deletes records of callers' keys before their time; those that were
// written again since they were listed stay, as with [Store.ExpireRecords]. It
// only deletes: it has to work when etcd has no space.
func (s *Store) PurgeKeys(ctx context.Context, records []KeyRecord) error {
	o := newOps()
	for _, r := range records {
		s.forget(o, r.entry, r.modified)
	}
	return s.sendForget(ctx, "purge idempotency keys", o, len(records))
}

// minute is a time's part of a key in the expiry index. One before 1970 comes
// before all others, as a minus sign comes before digits.
func minute(t time.Time) string { return fmt.Sprintf("%010d", t.Unix()/60) }
