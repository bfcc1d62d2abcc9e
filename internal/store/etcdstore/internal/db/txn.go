package db

import (
	"context"
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Txn is a transaction while it is made.
//
//	If    cmps
//	Then  what ops collects
//	Else  otherwise
type Txn struct {
	s    *Conn
	What string
	Cmps []clientv3.Cmp
	*Ops
	Otherwise Reads
}

// Begin makes a transaction, which what says in errors, with its first compares.
func (s *Conn) Begin(what string, cmps ...clientv3.Cmp) *Txn {
	return &Txn{s: s, What: what, Cmps: slices.Clip(cmps), Ops: NewOps()}
}

// When adds compares.
func (t *Txn) When(cmps ...clientv3.Cmp) { t.Cmps = append(t.Cmps, cmps...) }

// Submit sends the transaction under the store's deadline. Its error is either
// definite (nothing was applied) or wraps [ErrUnknown].
func (t *Txn) Submit(ctx context.Context) (*pb.TxnResponse, error) {
	then, err := t.RenderBeside(t.Cmps)
	if err != nil {
		return nil, err
	}
	return t.s.Txn(ctx, t.What, t.Cmps, then, t.Otherwise.Ops)
}

// SubmitSmall is submit for few operations and compares, of which only the operations
// are held against the limit of a request.
func (t *Txn) SubmitSmall(ctx context.Context) (*pb.TxnResponse, error) {
	then, err := t.Render()
	if err != nil {
		return nil, err
	}
	return t.s.Txn(ctx, t.What, t.Cmps, then, t.Otherwise.Ops)
}

// Applied is for a transaction of which only matters whether its compares held.
func Applied(resp *pb.TxnResponse, err error) (bool, error) {
	return err == nil && resp.Succeeded, err
}

// Reads are operations of one branch, or of a request that only reads. Each gives a
// name to its answer.
type Reads struct{ Ops []clientv3.Op }

// Read names the answer to one operation of a branch.
type Read int

// LastOf names the answer to the last operation of a branch.
const LastOf Read = -1

// Add names the answer to an operation.
func (r *Reads) Add(op clientv3.Op) Read {
	r.Ops = append(r.Ops, op)
	return Read(len(r.Ops) - 1)
}

// Value reads a key.
func (r *Reads) Value(key string) Read { return r.Add(Get(key)) }

// Key reads a key without its value.
func (r *Reads) Key(key string) Read { return r.Add(clientv3.OpGet(key, clientv3.WithKeysOnly())) }

// Count asks whether a key is there.
func (r *Reads) Count(key string) Read { return r.Add(clientv3.OpGet(key, clientv3.WithCountOnly())) }

// Any reads one key of a range, without its value.
func (r *Reads) Any(prefix string) Read {
	return r.Add(clientv3.OpGet(prefix, clientv3.WithPrefix(), clientv3.WithLimit(1), clientv3.WithKeysOnly()))
}

// First reads the oldest key of a range.
func (r *Reads) First(prefix string) Read {
	return r.Add(clientv3.OpGet(prefix, clientv3.WithFirstCreate()...))
}

func (r Read) of(resp *pb.TxnResponse) *pb.ResponseOp {
	if r == LastOf {
		return resp.Responses[len(resp.Responses)-1]
	}
	return resp.Responses[r]
}

// In is what was read.
func (r Read) In(resp *pb.TxnResponse) *pb.RangeResponse { return r.of(resp).GetResponseRange() }

// One is the key that was read; nil: it is not there.
func (r Read) One(resp *pb.TxnResponse) *mvccpb.KeyValue {
	if kvs := r.In(resp).Kvs; len(kvs) > 0 {
		return kvs[0]
	}
	return nil
}

// Found tells whether anything is there.
func (r Read) Found(resp *pb.TxnResponse) bool { return r.In(resp).Count > 0 }

// Nested is the answer to a transaction inside another.
func (r Read) Nested(resp *pb.TxnResponse) *pb.TxnResponse { return r.of(resp).GetResponseTxn() }
