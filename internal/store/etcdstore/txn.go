package etcdstore

import (
	"context"
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// txn is a transaction while it is made.
//
//	If    cmps
//	Then  what ops collects
//	Else  otherwise
type txn struct {
	s    *link
	what string
	cmps []clientv3.Cmp
	*ops
	otherwise reads
}

// begin makes a transaction, which what says in errors, with its first compares.
func (s *link) begin(what string, cmps ...clientv3.Cmp) *txn {
	return &txn{s: s, what: what, cmps: slices.Clip(cmps), ops: newOps()}
}

// when adds compares.
func (t *txn) when(cmps ...clientv3.Cmp) { t.cmps = append(t.cmps, cmps...) }

// submit sends the transaction under the store's deadline. Its error is either
// definite (nothing was applied) or wraps [ErrUnknown].
func (t *txn) submit(ctx context.Context) (*pb.TxnResponse, error) {
	then, err := t.renderBeside(t.cmps)
	if err != nil {
		return nil, err
	}
	return t.s.txn(ctx, t.what, t.cmps, then, t.otherwise.ops)
}

// submitSmall is submit for few operations and compares, of which only the operations
// are held against the limit of a request.
func (t *txn) submitSmall(ctx context.Context) (*pb.TxnResponse, error) {
	then, err := t.render()
	if err != nil {
		return nil, err
	}
	return t.s.txn(ctx, t.what, t.cmps, then, t.otherwise.ops)
}

// applied is for a transaction of which only matters whether its compares held.
func applied(resp *pb.TxnResponse, err error) (bool, error) {
	return err == nil && resp.Succeeded, err
}

// reads are operations of one branch, or of a request that only reads. Each gives a
// name to its answer.
type reads struct{ ops []clientv3.Op }

// read names the answer to one operation of a branch.
type read int

// lastOf names the answer to the last operation of a branch.
const lastOf read = -1

func (r *reads) add(op clientv3.Op) read {
	r.ops = append(r.ops, op)
	return read(len(r.ops) - 1)
}

// value reads a key.
func (r *reads) value(key string) read { return r.add(get(key)) }

// key reads a key without its value.
func (r *reads) key(key string) read { return r.add(clientv3.OpGet(key, clientv3.WithKeysOnly())) }

// count asks whether a key is there.
func (r *reads) count(key string) read { return r.add(clientv3.OpGet(key, clientv3.WithCountOnly())) }

// any reads one key of a range, without its value.
func (r *reads) any(prefix string) read {
	return r.add(clientv3.OpGet(prefix, clientv3.WithPrefix(), clientv3.WithLimit(1), clientv3.WithKeysOnly()))
}

// first reads the oldest key of a range.
func (r *reads) first(prefix string) read {
	return r.add(clientv3.OpGet(prefix, clientv3.WithFirstCreate()...))
}

func (r read) of(resp *pb.TxnResponse) *pb.ResponseOp {
	if r == lastOf {
		return resp.Responses[len(resp.Responses)-1]
	}
	return resp.Responses[r]
}

// in is what was read.
func (r read) in(resp *pb.TxnResponse) *pb.RangeResponse { return r.of(resp).GetResponseRange() }

// one is the key that was read; nil: it is not there.
func (r read) one(resp *pb.TxnResponse) *mvccpb.KeyValue {
	if kvs := r.in(resp).Kvs; len(kvs) > 0 {
		return kvs[0]
	}
	return nil
}

// found tells whether anything is there.
func (r read) found(resp *pb.TxnResponse) bool { return r.in(resp).Count > 0 }

// nested is the answer to a transaction inside another.
func (r read) nested(resp *pb.TxnResponse) *pb.TxnResponse { return r.of(resp).GetResponseTxn() }
