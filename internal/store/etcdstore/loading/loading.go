package loading

import (
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
)

// Loading are the reads of [Loading.Load], which may ride in the transaction that
// takes the instance's lock.
type Loading struct {
	reads                      db.Reads
	conn                       *lookup.Conn
	id                         string
	answerTo, definition       string
	known                      *store.Record
	record, mail, answer, head db.Read
	deleted                    db.Read
	leavings                   bool // also when the one that had its id before left
	followed                   bool // the mailbox is, and is read afterwards
	lock                       db.Read
	claimants                  string // below which the claimants of the lock have their keys; "": not asked for
}

// New makes the reads. key names the record of a caller's Idempotency-Key,
// definition a head to confirm; "" if there is none. known is the instance as the caller
// knows it: if it has not moved since, it is what is loaded, and is not read again. Nil:
// it is read.
func New(conn *lookup.Conn, id, key, definition string, known *store.Record) *Loading {
	q := &Loading{conn: conn, id: id, answerTo: key, definition: definition, known: known}
	at := conn.Keys.Instance(id)
	if known != nil {
		return q.with(q.reads.Add(clientv3.OpTxn([]clientv3.Cmp{db.ModifiedAt(at, known.Modified)}, nil, []clientv3.Op{db.Get(at)})))
	}
	return q.with(q.reads.Value(at))
}

// with adds all reads but that of the record, which is there.
func (q *Loading) with(record db.Read) *Loading {
	q.record = record
	if q.followed = q.conn.Boxes.Has(q.conn.Keys.Mailbox(q.id)); !q.followed {
		q.mail = q.reads.Add(q.conn.GetMail(q.id))
	}
	if q.answerTo != "" || q.definition != "" {
		q.answer, q.head = q.reads.Value(q.conn.Keys.KeyRecord(q.answerTo)), q.reads.Key(q.conn.Keys.Head(q.definition))
	}
	if q.claimants != "" {
		q.lock = q.reads.Any(q.claimants)
	}
	if q.leavings {
		q.WithDeleted()
	}
	return q
}

// WithDeleted makes it ask also when an instance of this id was deleted, or left for the archive.
func (q *Loading) WithDeleted() *Loading {
	q.leavings, q.deleted = true, q.reads.Key(q.conn.Keys.CommandRecord(q.id, record.DeletedRecord))
	return q
}

// WithLock makes it ask also whether somebody has the lock, below whose name this is.
func (q *Loading) WithLock(prefix string) *Loading {
	q.claimants, q.lock = prefix, q.reads.Any(prefix)
	return q
}

// Ops are the operations to be sent, in this order.
func (q *Loading) Ops() []clientv3.Op { return q.reads.Ops }

// Load sends the reads in a request of their own, without the compare: etcd makes a
// proposal of each transaction that has another one in it. Of an instance that is known
// only the key is read, and all again if it moved.
func (q *Loading) Load(ctx context.Context) (*store.Loaded, error) {
	at := q.conn.Keys.Instance(q.id)
	if q.known != nil {
		p := q.plain()
		l, err := p.with(p.reads.Key(at)).send(ctx, q.known)
		if !lookup.IsMoved(err) {
			return l, err
		}
	}
	return lookup.Again(func() (*store.Loaded, error) {
		p := q.plain()
		return p.with(p.reads.Value(at)).send(ctx, nil)
	})
}

// plain is for the same reads, of an instance that may be another by now.
func (q *Loading) plain() *Loading {
	return &Loading{conn: q.conn, id: q.id, answerTo: q.answerTo, definition: q.definition, claimants: q.claimants, leavings: q.leavings}
}

// send sends the reads. Of a record that may be same its key was read alone.
func (q *Loading) send(ctx context.Context, same *store.Record) (*store.Loaded, error) {
	resp, err := q.conn.Read(ctx, "load instance "+q.id, q.reads.Ops...)
	if err != nil {
		return nil, err
	}
	return q.decode(ctx, resp, same)
}

// Decode reads the answers to [Loading.Ops], which were read at one revision, and the parts of a large
// instance, which is the caller's by then: they stay as they are.
func (q *Loading) Decode(ctx context.Context, responses []*pb.ResponseOp, revision int64) (*store.Loaded, error) {
	return q.decode(ctx, &pb.TxnResponse{Header: &pb.ResponseHeader{Revision: revision}, Responses: responses}, nil)
}

// decode reads the answers. Of a record that may be same its key was read alone; else same is nil.
func (q *Loading) decode(ctx context.Context, resp *pb.TxnResponse, same *store.Record) (*store.Loaded, error) {
	l := &store.Loaded{Revision: resp.Header.Revision}
	at, in := q.record, resp
	if q.known != nil {
		if at, in = 0, q.record.Nested(resp); in.Succeeded {
			l.Record = q.known
		}
	}
	if l.Record == nil {
		var err error
		switch kv := at.One(in); {
		case kv == nil:
		case same != nil && kv.ModRevision != same.Modified:
			return nil, lookup.ErrMoved
		case same != nil:
			l.Record = same
		default:
			if l.Record, err = lookup.PartsOf(q.conn).Owned(ctx, kv); err != nil {
				return nil, err
			}
			l.Bytes += db.DecodedBytes(kv.Value) + record.PartBytes(l.Record)
		}
	}
	box, err := q.readMail(ctx, resp)
	if err != nil {
		return nil, err
	}
	l.Mail = record.DecodeMail(box)
	for _, kv := range box {
		l.Bytes += db.DecodedBytes(kv.Value)
	}
	if len(l.Mail) > record.MailBatch {
		l.Mail, l.More = l.Mail[:record.MailBatch], true
	}
	l.Locked = q.claimants != "" && q.lock.Found(resp)
	if q.leavings {
		if kv := q.deleted.One(resp); kv != nil {
			l.Deleted = kv.ModRevision
		}
	}
	if q.head == 0 { // it was not asked for
		return l, nil
	}
	if kv := q.answer.One(resp); kv != nil {
		l.Answer = new(store.Answer)
		if err := db.Decode(kv.Value, l.Answer); err != nil {
			return nil, err
		}
	}
	if kv := q.head.One(resp); kv != nil {
		l.Head = kv.ModRevision
	}
	return l, nil
}

// readMail gives what lies in the mailbox, at the revision of the load.
func (q *Loading) readMail(ctx context.Context, resp *pb.TxnResponse) ([]*mvccpb.KeyValue, error) {
	if q.followed {
		return q.conn.Boxes.MailAt(ctx, q.id, resp.Header.Revision)
	}
	box := q.mail.In(resp)
	q.conn.Boxes.LookedInto(box)
	return box.Kvs, nil
}
