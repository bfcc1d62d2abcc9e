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

// lane is the requests of one kind: those under way and those that gather.
type lane struct {
	kv      *KV
	kind    metrics.BatchKind
	slots   int // proposals under way at once
	limit   int // requests in a proposal
	metrics *metrics.Metrics

	mu      sync.Mutex
	taken   int     // slots in use; guarded by mu
	queue   []*call // in the order of arrival; guarded by mu
	closed  bool    // guarded by mu
	touched touched // by the batch that is being gathered; guarded by mu
}

// call is one request that gathers or is under way with others.

type call struct {
	ctx  context.Context // the caller's
	op   clientv3.Op
	foot footprint
	turn chan turn // capacity 1

	batch *batch // guarded by lane.mu; nil while it gathers
	told  bool   // guarded by lane.mu: turn holds what it is to do
}

// turn is what a gathering caller is told.
type turn struct {
	resp clientv3.OpResponse
	err  error
	send bool  // nothing was applied for it: it sends its request itself
	slot *slot // which it has while it does; may be nil
}

// slot is the right to have one proposal under way. After patience it is given
// back although there is no answer yet: an etcd member that hangs must not hold
// up what others would answer.
type slot struct {
	l     *lane
	timer *time.Timer
	given atomic.Bool
}

const defaultPatience = 100 * time.Millisecond

func (l *lane) newSlot() *slot {
	s := &slot{l: l}
	s.timer = time.AfterFunc(l.kv.patience, s.free)
	return s
}

// back gives the slot back when there is an answer.
func (s *slot) back() {
	s.timer.Stop()
	s.free()
}

// free counts the slot as free, once.
func (s *slot) free() {
	if s.given.CompareAndSwap(false, true) {
		s.l.release()
	}
}

// do sends op now if a slot is free, and lets it gather with others if not.
func (l *lane) do(ctx context.Context, op clientv3.Op) (clientv3.OpResponse, error) {
	if s, err := l.enter(nil); s != nil || err != nil {
		return l.alone(ctx, op, s, err)
	}
	c := &call{ctx: ctx, op: op, foot: footprintOf(op), turn: make(chan turn, 1)}
	if s, err := l.enter(c); s != nil || err != nil {
		return l.alone(ctx, op, s, err)
	}
	select {
	case t := <-c.turn:
		if t.send {
			return l.alone(ctx, op, t.slot, nil)
		}
		return t.resp, t.err
	case <-ctx.Done():
		if s := l.leave(c); s != nil {
			s.back()
		}
		return clientv3.OpResponse{}, ctx.Err()
	}
}

// enter takes a slot if one is free, which also means that nothing gathers; if
// none is, c, unless it is nil, gathers.
func (l *lane) enter(c *call) (*slot, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return nil, ErrClosed
	case l.taken < l.slots:
		l.taken++
		return l.newSlot(), nil
	case c != nil:
		l.queue = append(l.queue, c)
	}
	return nil, nil
}

// alone sends a request by itself, unless there is an error.
func (l *lane) alone(ctx context.Context, op clientv3.Op, s *slot, err error) (clientv3.OpResponse, error) {
	if err != nil {
		return clientv3.OpResponse{}, err
	}
	if s != nil {
		defer s.back()
	}
	l.metrics.EtcdBatch(l.kind, 1)
	return l.kv.KV.Do(ctx, op)
}

// release counts a slot as free and sends what has gathered.
func (l *lane) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taken--
	for l.taken < l.slots && len(l.queue) > 0 {
		l.taken++
		s, b := l.newSlot(), l.gather()
		if len(b.calls) == 1 {
			b.calls[0].told = true
			b.calls[0].turn <- turn{send: true, slot: s}
			continue
		}
		b.open()
		l.kv.tasks.Go(func() {
			defer s.back()
			b.send()
		})
	}
}

// maxLook bounds the requests that are looked at for one proposal.
const maxLook = 4 * maxBatch

// gather takes the oldest request and what may share a proposal with it. Those
// that are left are older than all that come, so that each has its turn. mu is
// held and the queue is not empty.
func (l *lane) gather() *batch {
	b := &batch{lane: l}
	defer l.touched.clear()
	rest := l.queue[:0]
	for i, c := range l.queue {
		if i >= maxLook || len(b.calls) == l.limit {
			rest = append(rest, l.queue[i:]...)
			break
		}
		if !b.add(c) {
			rest = append(rest, c)
		}
	}
	clear(l.queue[len(rest):])
	l.queue = rest
	return b
}

// leave is for a caller whose context has ended; it returns the slot that the
// caller was given meanwhile.
func (l *lane) leave(c *call) *slot {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case c.told:
		t := <-c.turn
		return t.slot
	case c.batch != nil:
		c.batch.left()
	default:
		l.queue = slices.DeleteFunc(l.queue, func(q *call) bool { return q == c })
	}
	return nil
}

// close refuses what gathers: it was not sent.
func (l *lane) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, c := range l.queue {
		c.told = true
		c.turn <- turn{err: ErrClosed}
	}
	l.queue = nil
}
