package groupcommit

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/pkg/metrics"
)

// Limits of etcd: 128 operations on a path through the nested levels, 1.5 MiB a
// request. They alone bound a proposal: some 110 commits share one, and the rest is
// for what a commit has on its own levels.
const (
	levelBudget = 128
	maxSize     = 1400 << 10
)

// batch is the requests of one proposal.
type batch struct {
	queue *queue
	calls []*call
	reads int // of all calls, if they only read
	depth int // the deepest of the calls
	size  int

	ctx     context.Context // of the proposal
	cancel  context.CancelFunc
	waiting atomic.Int32 // callers that have not left
}

// add takes c into the batch if it fits; queue.mu is held, and queue.sets are
// those of this batch.
func (b *batch) add(c *call) bool {
	if len(b.calls) > 0 {
		switch {
		case b.reads+len(c.reads) > levelBudget:
			return false
		case c.reads == nil && len(b.calls)+1+max(b.depth, c.sets.depth) > levelBudget:
			return false
		case b.size+c.sets.size > maxSize:
			return false
		case !b.queue.sets.compatible(&c.sets):
			return false
		}
	}
	b.calls = append(b.calls, c)
	b.reads += len(c.reads)
	b.depth = max(b.depth, c.sets.depth)
	b.size += c.sets.size
	if b.queue.kind == metrics.BatchWrites { // reads go beside reads
		b.queue.sets.add(&c.sets)
	}
	return true
}

// open makes the context of the proposal: it ends with the last caller's
// deadline, or when all have left. queue.mu is held.
func (b *batch) open() {
	ctx := b.queue.kv.ctx
	leader, bounded, last := false, true, time.Time{}
	for _, c := range b.calls {
		c.batch = b
		leader = leader || requiresLeader(c.ctx)
		deadline, ok := c.ctx.Deadline()
		bounded = bounded && ok
		if deadline.After(last) {
			last = deadline
		}
	}
	if leader {
		ctx = clientv3.WithRequireLeader(ctx)
	}
	b.waiting.Store(int32(len(b.calls)))
	if bounded {
		b.ctx, b.cancel = context.WithDeadline(ctx, last)
		return
	}
	b.ctx, b.cancel = context.WithCancel(ctx)
}

// left notes that a caller does not wait any more.
func (b *batch) left() {
	if b.waiting.Add(-1) == 0 {
		b.cancel()
	}
}

// send sends the proposal and tells everybody what became of it.
func (b *batch) send() {
	defer b.cancel()
	ops := b.ops()
	b.queue.metrics.EtcdBatch(b.queue.kind, len(b.calls))
	resp, err := b.queue.kv.KV.Txn(b.ctx).Then(ops...).Commit()
	switch {
	case err == nil && len(resp.Responses) != len(ops):
		err = fmt.Errorf("groupcommit: %d answers to %d operations", len(resp.Responses), len(ops))
		b.tell(outcome{err: err})
	case err == nil:
		answers := resp.Responses
		for _, c := range b.calls {
			var o outcome
			o.resp, answers = c.cut(answers, resp.Header)
			c.done <- o
		}
	case refused(err):
		// Nothing was applied; whose fault it was shows when each is sent alone.
		b.queue.metrics.EtcdBatchRefused(b.queue.kind)
		b.tell(outcome{send: true})
	case errors.Is(err, rpctypes.ErrNoSpace):
		b.tellFull(err)
	default:
		b.tell(outcome{err: err})
	}
}

// ops are the operations of the proposal. Reads stand beside each other in it: etcd puts
// a transaction into the raft log for another one in it, also if both only read.
func (b *batch) ops() []clientv3.Op {
	ops := make([]clientv3.Op, 0, max(len(b.calls), b.reads))
	for _, c := range b.calls {
		if c.reads == nil {
			ops = append(ops, c.op)
			continue
		}
		ops = append(ops, c.reads...)
	}
	return ops
}

// cut makes the answer of one request from the first of these, and gives the rest.
func (c *call) cut(answers []*pb.ResponseOp, header *pb.ResponseHeader) (clientv3.OpResponse, []*pb.ResponseOp) {
	if c.reads == nil || !c.op.IsTxn() {
		return unfold(answers[0], header), answers[1:]
	}
	n := len(c.reads)
	own := &pb.TxnResponse{Header: header, Succeeded: true, Responses: answers[:n:n]}
	return (*clientv3.TxnResponse)(own).OpResponse(), answers[n:]
}

func (b *batch) tell(o outcome) {
	for _, c := range b.calls {
		c.done <- o
	}
}

// tellFull tells everybody that etcd has no space. It refuses a proposal that may put
// anything, also for the deletes that share it, and they are what makes room: they
// are sent alone. Whether it was applied is not known, as etcd says the same after
// the last one that it applies, so who puts hears the error. A delete of what is
// gone does nothing.
func (b *batch) tellFull(err error) {
	for _, c := range b.calls {
		if c.sets.puts {
			c.done <- outcome{err: err}
		} else {
			c.done <- outcome{send: true}
		}
	}
}

// unfold makes the answer of one request as etcd would have given it alone. The
// header is that of the proposal: inside of it answers have none.
func unfold(r *pb.ResponseOp, header *pb.ResponseHeader) clientv3.OpResponse {
	switch r := r.GetResponse().(type) {
	case *pb.ResponseOp_ResponseRange:
		r.ResponseRange.Header = header
		return (*clientv3.GetResponse)(r.ResponseRange).OpResponse()
	case *pb.ResponseOp_ResponsePut:
		r.ResponsePut.Header = header
		return (*clientv3.PutResponse)(r.ResponsePut).OpResponse()
	case *pb.ResponseOp_ResponseDeleteRange:
		r.ResponseDeleteRange.Header = header
		return (*clientv3.DeleteResponse)(r.ResponseDeleteRange).OpResponse()
	case *pb.ResponseOp_ResponseTxn:
		r.ResponseTxn.Header = header
		return (*clientv3.TxnResponse)(r.ResponseTxn).OpResponse()
	}
	return clientv3.OpResponse{}
}

// refusals prove that nothing was applied, and may be the fault of one request
// of the proposal. That etcd has too much to do is the fault of none.
var refusals = []error{
	rpctypes.ErrTooManyOps, rpctypes.ErrDuplicateKey, rpctypes.ErrEmptyKey, rpctypes.ErrRequestTooLarge,
	rpctypes.ErrLeaseNotFound, rpctypes.ErrPermissionDenied, rpctypes.ErrKeyNotFound,
	rpctypes.ErrValueProvided, rpctypes.ErrLeaseProvided, rpctypes.ErrInvalidSortOption,
}

func refused(err error) bool {
	for _, r := range refusals {
		if errors.Is(err, r) {
			return true
		}
	}
	return false
}
