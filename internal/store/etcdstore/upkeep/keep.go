package upkeep

import (
	"context"
	"errors"
	"strconv"
	"strings"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// Ended is a finished instance with what is left of its journal.
type Ended struct {
	Record  *store.Record
	Life    int64                   // the revision at which its record was made: it begins to count at 1 again when it is imported after that
	Journal []workflow.JournalEntry // the oldest commit first
}

// Keep keeps instances elsewhere, some at a time. When it returns without an error all of them are durable there.
type Keep func(context.Context, []Ended) error

// keptBytes is about how much of instances is read and kept at once: of their journals, as they are stored, and of their states.
const keptBytes = 4 << 20

// keeping gives instances to who keeps them.
type keeping struct {
	conn *lookup.Conn
	keep Keep
}

// all hands on the instances of a response that may go, and tells which may not: they have moved since, or cannot be read whole. A journal is written with its
// instance only: where the record is found as it was later on, the journal is as it was, too.
func (s *keeping) all(ctx context.Context, resp *pb.TxnResponse, leaving []Leaving) (stay map[string]bool, err error) {
	stay = map[string]bool{}
	var some []Ended
	bytes := int64(0)
	flush := func() error {
		if len(some) == 0 {
			return nil
		}
		if err := s.journals(ctx, some); err != nil {
			return err
		}
		err := s.keep(ctx, some)
		some, bytes = nil, 0
		return err
	}
	for i, l := range leaving {
		kv := db.Read(i).One(resp)
		if kv == nil {
			continue
		}
		rec, err := record.WholeRecord(kv)
		if err != nil || !l.mayGo(s.conn.Keys, rec) { // which is logged when it would be purged
			continue
		}
		id := rec.Header.ID
		if len(rec.Parts) > 0 {
			rec, err = lookup.PartsOf(s.conn).Join(ctx, kv, db.DecodeWhole)
		}
		switch {
		case lookup.IsMoved(err):
			stay[id] = true
			continue
		case errors.Is(err, db.ErrDamaged): // it stays for who repairs it, and is in nobody's way
			s.conn.Log.ErrorContext(ctx, "a finished instance cannot be read whole, so it is not archived; it is kept", "instanceId", id, "error", err)
			stay[id] = true
			continue
		case err != nil:
			return nil, err
		}
		size := rec.JournalBytes + int64(len(rec.State))
		if bytes+size > keptBytes {
			if err := flush(); err != nil {
				return nil, err
			}
		}
		some, bytes = append(some, Ended{Record: rec, Life: kv.CreateRevision}), bytes+size
	}
	return stay, flush()
}

// journals reads those of some instances, in one request if none is large.
func (s *keeping) journals(ctx context.Context, some []Ended) error {
	var ops []clientv3.Op
	var small []int
	for i := range some {
		rec := some[i].Record
		if rec.JournalBytes > keptBytes {
			if err := s.largeJournal(ctx, &some[i]); err != nil {
				return err
			}
			continue
		}
		small = append(small, i)
		ops = append(ops, clientv3.OpGet(s.conn.Keys.JournalOf(rec.Header.ID), clientv3.WithPrefix()))
	}
	if len(ops) == 0 {
		return nil
	}
	resp, err := s.conn.Read(ctx, "read journals of finished instances", ops...)
	if err != nil {
		return err
	}
	for n, i := range small {
		if err := some[i].add(db.Read(n).In(resp)); err != nil {
			return err
		}
	}
	return nil
}

func (e *Ended) add(found *pb.RangeResponse) error {
	for _, kv := range found.Kvs {
		key := string(kv.Key)
		seq, err := strconv.ParseInt(key[strings.LastIndexByte(key, '/')+1:], 10, 64)
		if err != nil {
			return errors.Join(db.ErrDamaged, err)
		}
		e.Journal = append(e.Journal, record.ReadEntry(seq, kv.Value))
	}
	return nil
}

// largeJournal reads a journal part by part.
func (s *keeping) largeJournal(ctx context.Context, e *Ended) error {
	id, from, end := e.Record.Header.ID, record.JournalFrom(e.Record), e.Record.Seq+1
	part := max(1, keptBytes*(end-from)/e.Record.JournalBytes)
	for ; from < end; from += part {
		resp, err := s.conn.Get(ctx, "read journal of "+id, s.conn.Keys.Journal(id, from), clientv3.WithRange(s.conn.Keys.Journal(id, min(end, from+part))))
		if err != nil {
			return err
		}
		if err := e.add((*pb.RangeResponse)(resp)); err != nil {
			return err
		}
	}
	return nil
}
