package commits

import (
	"context"
	"fmt"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/claims"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// fenceCompares hold while the lock is mine; none without a fence.
func fenceCompares(f *store.Fence) []clientv3.Cmp {
	if f == nil {
		return nil
	}
	return []clientv3.Cmp{db.CreatedAt(f.Key, f.Revision), db.NoneOlder(f.Prefix, f.Revision)}
}

// Secure makes a command in hand durable under the fence, and with it a new
// instance (fresh; nil if it exists). It returns the revision of the mailbox key,
// which is also the new instance's.
//
// If: the lock is mine; the instance as loaded; the command is not there, and
// left no record; no record of the caller's key ([store.ErrConflict]: another
// node has answered it), and of a worker's the claim stands ([store.ErrConflict]). A repeat finds its own key and returns its revision.
//
// So does a start whose twin on another node was faster. Then fresh becomes the
// instance as that one made it: its index entries are where its own sub-status and
// time put them, and the commit that moves them has to know.
func (s *Instances) Secure(ctx context.Context, f *store.Fence, id string, base, fresh *store.Record, cmd workflow.Command) (int64, error) {
	key, what := s.conn.Keys.Mail(id, cmd.ID), "make command durable for "+id
	t := s.conn.Begin(what, append(fenceCompares(f), db.Absent(key), db.Absent(s.conn.Keys.CommandRecord(id, cmd.ID)))...)
	s.conn.PutMail(t.Ops, id, cmd)
	if cmd.Key != nil {
		t.When(db.Absent(s.conn.Keys.KeyRecord(cmd.Key.Name)))
		s.conn.RecordAccepted(t.Ops, id, cmd)
	}
	lost := func(*pb.TxnResponse) bool { return false }
	there, used, twin := t.Otherwise.Key(key), t.Otherwise.Count(s.conn.Keys.KeyRecord(record.KeyName(cmd.Key))), db.Read(0)
	if base == nil {
		t.When(db.Absent(s.conn.Keys.Instance(id)))
		lookup.PartsOf(s.conn).Put(t.Ops, nil, fresh, false)
		s.conn.WriteIndex(t.Ops, nil, fresh)
		twin = t.Otherwise.Value(s.conn.Keys.Instance(id))
	} else {
		t.When(db.ModifiedAt(s.conn.Keys.Instance(id), base.Modified))
	}
	if cmd.Claim != nil {
		t.When(s.conn.ClaimStands(cmd.Bookmark, cmd.Claim))
		lost = claims.Lost(s.conn.Conn, []workflow.Command{cmd}, &t.Otherwise)
	}
	resp, err := t.Submit(ctx)
	if err != nil {
		return 0, err
	}
	if resp.Succeeded {
		return resp.Header.Revision, nil
	}
	if kv := there.One(resp); kv != nil {
		if base == nil {
			for _, kv := range twin.In(resp).Kvs {
				made, err := record.WholeRecord(kv)
				if err != nil {
					return 0, fmt.Errorf("%s: %w", what, err)
				}
				*fresh = *made
			}
		}
		return kv.CreateRevision, nil
	}
	if cmd.Key != nil && used.Found(resp) || lost(resp) {
		return 0, fmt.Errorf("%s: %w", what, store.ErrConflict)
	}
	return 0, fmt.Errorf("%s: %w", what, store.ErrFenced)
}

// CountAttempt rewrites a mailbox command with its attempts counted, before it
// runs, and returns the revision of that.
//
// If: the lock is mine; the command's create revision.
func (s *Instances) CountAttempt(ctx context.Context, f *store.Fence, id string, cmd workflow.Command, created int64) (int64, error) {
	key := s.conn.Keys.Mail(id, cmd.ID)
	raw, err := db.EncodeWithin(record.Lean(cmd), db.MaxPassed)
	if err != nil {
		return 0, err
	}
	resp, err := s.conn.Txn(ctx, "count attempt for "+id, append(fenceCompares(f), db.CreatedAt(key, created)), []clientv3.Op{db.Put(key, raw)}, nil)
	if err != nil {
		return 0, err
	}
	if !resp.Succeeded {
		return 0, fmt.Errorf("count attempt for %s: %w", id, store.ErrFenced)
	}
	return resp.Header.Revision, nil
}

// TakeBackAttempt rewrites a mailbox command as it was before an attempt of this
// process, which gave it up and lives. The lock may be gone by now. It tells whether
// the command was there, and nobody had counted another attempt.
//
// If: the revision of that attempt.
func (s *Instances) TakeBackAttempt(ctx context.Context, id string, cmd workflow.Command, counted int64) (bool, error) {
	key := s.conn.Keys.Mail(id, cmd.ID)
	raw, err := db.EncodeWithin(record.Lean(cmd), db.MaxPassed)
	if err != nil {
		return false, err
	}
	return db.Applied(s.conn.Txn(ctx, "take back attempt for "+id, []clientv3.Cmp{db.ModifiedAt(key, counted)}, []clientv3.Op{db.Put(key, raw)}, nil))
}

// Discard takes commands out of the mailbox without writing the instance: there is
// none (base is nil), or its record and what they become do not fit together. One
// command always fits.
//
// If: the lock is mine; the instance as loaded, or absent; each command as read.
func (s *Instances) Discard(ctx context.Context, f *store.Fence, id string, base *store.Record, consumed []store.Consumed, dead []store.DeadLetter) error {
	return discard(ctx, s.conn, f, id, base, consumed, dead)
}

// discard is for a removal too, which a repair may be.
func discard(ctx context.Context, s *lookup.Conn, f *store.Fence, id string, base *store.Record, consumed []store.Consumed, dead []store.DeadLetter) error {
	stands := db.Absent(s.Keys.Instance(id))
	if base != nil {
		stands = db.ModifiedAt(s.Keys.Instance(id), base.Modified)
	}
	t := s.Begin("discard mail of "+id, append(fenceCompares(f), stands)...)
	for i := range consumed {
		done := &consumed[i]
		if done.Created > 0 {
			t.When(db.CreatedAt(s.Keys.Mail(id, done.Command.ID), done.Created))
		}
		told := *done
		told.Drop = false // nothing else says what became of it: no commit names it
		told.Effect.Dead = record.LetterOf(dead, done.Command.ID)
		s.ConsumeOne(id, &told, t.Ops)
	}
	for _, d := range dead {
		s.PutDead(t.Ops, d)
	}
	ok, err := db.Applied(t.Submit(ctx))
	if err == nil && !ok {
		return fmt.Errorf("%s: %w", t.What, store.ErrFenced)
	}
	return err
}
