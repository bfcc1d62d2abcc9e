package groupcommit

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/pkg/metrics"
)

// queue is where requests of one kind gather while enough proposals of that kind are
// under way.
type queue struct {
	kv      *KV
	kind    metrics.BatchKind
	permits int // proposals that may be under way at once
	metrics *metrics.Metrics

	mu     sync.Mutex
	inUse  int       // permits given; guarded by mu
	calls  []*call   // those that gather, in the order of arrival; guarded by mu
	closed bool      // guarded by mu
	sets   batchSets // of the batch that is being gathered; guarded by mu
}

// call is one request that gathers or is under way with others.
type call struct {
	ctx   context.Context // the caller's
	op    clientv3.Op
	reads []clientv3.Op // all of it, if it only reads
	sets  requestSets
	done  chan outcome // capacity 1

	batch *batch // guarded by queue.mu; nil while it gathers
	told  bool   // guarded by queue.mu: done holds what it is to do
}

// outcome is what a gathering caller is told: an answer, an error, or to send its
// request itself.
type outcome struct {
	resp   clientv3.OpResponse
	err    error
	send   bool    // nothing was applied for it: it sends its request itself
	permit *permit // for that; may be nil
}

// permit is the right to have one proposal under way. After patience it goes back
// although there is no answer yet: an etcd member that hangs must not hold up what
// others would answer.
type permit struct {
	q        *queue
	timer    *time.Timer
	returned atomic.Bool
}

const defaultPatience = 100 * time.Millisecond

func (q *queue) newPermit() *permit {
	p := &permit{q: q}
	p.timer = time.AfterFunc(q.kv.patience, p.free)
	return p
}

// giveBack returns the permit when there is an answer.
func (p *permit) giveBack() {
	p.timer.Stop()
	p.free()
}

// free counts the permit as free, once.
func (p *permit) free() {
	if p.returned.CompareAndSwap(false, true) {
		p.q.release()
	}
}

// do sends op now if a permit is free, and lets it gather with others if not.
func (q *queue) do(ctx context.Context, op clientv3.Op) (clientv3.OpResponse, error) {
	if p, err := q.enter(nil); p != nil || err != nil {
		return q.alone(ctx, op, p, err)
	}
	c := &call{ctx: ctx, op: op, sets: setsOf(op), done: make(chan outcome, 1)}
	if q.kind == metrics.BatchReads {
		c.reads = readsOf(op)
	}
	if p, err := q.enter(c); p != nil || err != nil {
		return q.alone(ctx, op, p, err)
	}
	select {
	case o := <-c.done:
		if o.send {
			return q.alone(ctx, op, o.permit, nil)
		}
		return o.resp, o.err
	case <-ctx.Done():
		if p := q.leave(c); p != nil {
			p.giveBack()
		}
		return clientv3.OpResponse{}, ctx.Err()
	}
}

// enter takes a permit if one is free, which also means that nothing gathers; if
// none is, c, unless it is nil, gathers.
func (q *queue) enter(c *call) (*permit, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed:
		return nil, ErrClosed
	case q.inUse < q.permits:
		q.inUse++
		return q.newPermit(), nil
	case c != nil:
		q.calls = append(q.calls, c)
	}
	return nil, nil
}

// alone sends a request by itself, unless there is an error.
func (q *queue) alone(ctx context.Context, op clientv3.Op, p *permit, err error) (clientv3.OpResponse, error) {
	if err != nil {
		return clientv3.OpResponse{}, err
	}
	if p != nil {
		defer p.giveBack()
	}
	q.metrics.EtcdBatch(q.kind, 1)
	return q.kv.KV.Do(ctx, op)
}

// release counts a permit as free and sends what has gathered.
func (q *queue) release() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.inUse--
	for q.inUse < q.permits && len(q.calls) > 0 {
		q.inUse++
		p, b := q.newPermit(), q.gather()
		if len(b.calls) == 1 {
			b.calls[0].told = true
			b.calls[0].done <- outcome{send: true, permit: p}
			continue
		}
		b.open()
		q.kv.tasks.Go(func() {
			defer p.giveBack()
			b.send()
		})
	}
}

// maxInspected bounds the requests that are inspected for one proposal.
const maxInspected = 2 * levelBudget

// gather takes the oldest request and what may share a proposal with it. The
// requests that are left are older than all that come later, so each is sent in the
// end. mu is held and the queue is not empty.
func (q *queue) gather() *batch {
	b := &batch{queue: q}
	defer q.sets.clear()
	rest := q.calls[:0]
	for i, c := range q.calls {
		if i >= maxInspected {
			rest = append(rest, q.calls[i:]...)
			break
		}
		if !b.add(c) {
			rest = append(rest, c)
		}
	}
	clear(q.calls[len(rest):])
	q.calls = rest
	return b
}

// leave is for a caller whose context has ended; it returns the permit that
// the caller may have been given until then.
func (q *queue) leave(c *call) *permit {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case c.told:
		o := <-c.done
		return o.permit
	case c.batch != nil:
		c.batch.left()
	default:
		q.calls = slices.DeleteFunc(q.calls, func(other *call) bool { return other == c })
	}
	return nil
}

// close refuses what gathers: it was not sent.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for _, c := range q.calls {
		c.told = true
		c.done <- outcome{err: ErrClosed}
	}
	q.calls = nil
}
