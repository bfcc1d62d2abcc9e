package record

import (
	"context"
	"strconv"
	"strings"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/pkg/workflow"
)

// Record puts a record of our own and its entry in the expiry index.
func (s *Conn) Record(o *db.Ops, key string, v any) {
	o.Put(key, v)
	o.PutRaw(s.Keys.Expiry(s.Elapsed.Load(), key), nil)
}

// Done leaves a record of a send record or queue item that goes, and of which nothing is made
// in the same transaction: what became of it. It tells where.
func (s *Conn) Done(o *db.Ops, id string, outcome workflow.Outcome) (record string) {
	record = s.Keys.CommandRecord(DoneRecords, id)
	s.Record(o, record, store.Effect{Outcome: outcome})
	return record
}

// MadeKey begins the names of keys that no caller knows, made for calls that came
// without: their records are our own, and live as long. No derived name begins so.
const MadeKey = "made-"

// Answer puts the record of a caller's key, and its entry, which says how large the
// record is. Entries are in the order of writing, not of expiry: the oldest come
// first, and a new age holds for all, also if another was configured when they
// were written. Who may have the answer says the key.
func (s *Conn) Answer(o *db.Ops, k *workflow.CommandKey, a *store.Answer) {
	guarded := *a
	guarded.Guard, guarded.Request, guarded.Caller, guarded.At = k.Guard, k.Request, k.Caller, k.At
	key := s.Keys.KeyRecord(k.Name)
	if strings.HasPrefix(k.Name, MadeKey) {
		s.Record(o, key, &guarded)
		return
	}
	size := int64(len(key)) + o.Put(key, &guarded)
	entry := s.Keys.KeyExpiry(s.Elapsed.Load(), key)
	o.PutRaw(entry, strconv.AppendInt(nil, size+int64(len(entry))+AnswerBytes, 10))
}

// AnswerBytes is about what etcd needs for a caller's record and its entry, beside
// their keys and the record's value.
const AnswerBytes = 200

// KeptAnswer reads the answer to a caller's key; nil if there is none.
func (s *Conn) KeptAnswer(ctx context.Context, key string) (*store.Answer, error) {
	resp, err := s.Get(ctx, "read idempotency key", s.Keys.KeyRecord(key))
	if err != nil || len(resp.Kvs) == 0 {
		return nil, err
	}
	a := new(store.Answer)
	return a, db.Decode(resp.Kvs[0].Value, a)
}

// DoneRecords are those of send records and queue items that went as all of it was done before.
const DoneRecords = "~done"
