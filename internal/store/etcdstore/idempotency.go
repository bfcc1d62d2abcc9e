package etcdstore

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
	"github.com/weft-run/weft/pkg/workflow"
)

// Records of our own commands live this long; those of callers' keys a day, if
// nothing else is configured.
const (
	recordTTL = 10 * time.Minute
	keyTTL    = 24 * time.Hour
)

// Requests are those with a caller's key that leave no record of their own.
type Requests struct{ s *Stimuli }

// RequestsOf are those of the cluster of stimuli.
func RequestsOf(s *Stimuli) Requests { return Requests{s} }

// Begin notes under a caller's key that a request is under way, by a write of its own, and gives the revision of
// that. If something is kept for the key it changes nothing and gives that.
//
// If: nothing is kept for the key.
func (r Requests) Begin(ctx context.Context, k *workflow.CommandKey, write string) (*store.Answer, int64, error) {
	key := r.s.conn.Keys.KeyRecord(k.Name)
	t := r.s.conn.Begin("begin request", db.Absent(key))
	r.s.conn.Answer(t.Ops, k, &store.Answer{BodyHash: k.BodyHash, Began: write})
	there := t.Otherwise.Value(key)
	resp, err := t.Submit(ctx)
	if err != nil || resp.Succeeded {
		return nil, resp.GetHeader().GetRevision(), err
	}
	kv, kept := there.One(resp), new(store.Answer)
	if err := db.Decode(kv.Value, kept); err != nil {
		return nil, 0, err
	}
	if kept.Began == write && kept.Reply == nil { // the transaction was made twice
		kept = nil
	}
	return kept, kv.ModRevision, nil
}

// End puts the reply to a request under way; nil: it did nothing, and its key is free again.
//
// If: the note of the request is as it was at a revision.
func (r Requests) End(ctx context.Context, k *workflow.CommandKey, write string, at int64, reply *store.Reply) error {
	key := r.s.conn.Keys.KeyRecord(k.Name)
	t := r.s.conn.Begin("end request", db.ModifiedAt(key, at))
	if reply == nil {
		t.Del(key)
	} else {
		r.s.conn.Answer(t.Ops, k, &store.Answer{BodyHash: k.BodyHash, Began: write, Reply: reply})
	}
	_, err := t.Submit(ctx)
	return err
}

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
		resp, err := s.conn.Get(ctx, "read expired records", max(over.from, cursor), clientv3.WithRange(over.to), clientv3.WithLimit(expirePage), clientv3.WithKeysOnly())
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
	if m, ok := age.Before(recordTTL); ok {
		e.own = m.Revision
	}
	if m, ok := age.Before(s.keepKeys); ok {
		e.keys = m.Revision
	}
	return e
}

const expirePage = 1000

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
	if m, ok := age.Before(recordTTL); ok {
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
	entry    string
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
		out[i] = KeyRecord{Bytes: bytes, Modified: kv.ModRevision, entry: string(kv.Key)}
	}
	return out, next, nil
}

// MaxPurgeKeys is how many records [Upkeep.PurgeKeys] takes at once.
const MaxPurgeKeys = 200

// PurgeKeys deletes records of callers' keys before their time; those that were
// written again since they were listed stay, as with [Upkeep.ExpireRecords]. It
// only deletes: it has to work when etcd has no space.
func (s *Upkeep) PurgeKeys(ctx context.Context, records []KeyRecord) error {
	if len(records) == 0 {
		return nil
	}
	t := s.conn.Begin("purge idempotency keys")
	for _, r := range records {
		s.forget(t.Ops, r.entry, r.Modified)
	}
	_, err := t.Submit(ctx)
	return err
}

// Answer reads the record of a caller's Idempotency-Key; nil if there is none.
func (s *Stimuli) Answer(ctx context.Context, key string) (*store.Answer, error) {
	return s.conn.KeptAnswer(ctx, key)
}

// Answer reads the record of a caller's Idempotency-Key; nil if there is none.
func (s *Instances) Answer(ctx context.Context, key string) (*store.Answer, error) {
	return s.conn.KeptAnswer(ctx, key)
}

// Effect reads what a command did; nil if it did nothing yet, or so long ago
// that its record expired.
func (s *Stimuli) Effect(ctx context.Context, instance, command string) (*store.Effect, error) {
	resp, err := s.conn.Get(ctx, "read command record", s.conn.Keys.CommandRecord(instance, command))
	if err != nil || len(resp.Kvs) == 0 {
		return nil, err
	}
	e := new(store.Effect)
	return e, db.Decode(resp.Kvs[0].Value, e)
}

// Effects reads what several commands did, each named by its instance and its id;
// nil as for [Stimuli.Effect].
func (s *Stimuli) Effects(ctx context.Context, of []store.Effect) ([]*store.Effect, error) {
	var out []*store.Effect
	for chunk := range slices.Chunk(of, db.MaxLevel) {
		reads := make([]clientv3.Op, len(chunk))
		for i, e := range chunk {
			reads[i] = db.Get(s.conn.Keys.CommandRecord(e.InstanceID, e.Command))
		}
		resp, err := s.conn.Read(ctx, "read command records", reads...)
		if err != nil {
			return nil, err
		}
		for _, r := range resp.Responses {
			var e *store.Effect
			if kvs := r.GetResponseRange().Kvs; len(kvs) > 0 {
				e = new(store.Effect)
				if err := db.Decode(kvs[0].Value, e); err != nil {
					s.conn.Left(kvs[0].Key, err)
					e = nil
				}
			}
			out = append(out, e)
		}
	}
	return out, nil
}
