package etcdmembers

import (
	"context"
	"errors"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/weft-run/weft/internal/pace"
)

// age is the time of one leader, as far as is known: calls that are made in it end
// with it.
type age struct {
	mu    sync.Mutex
	calls map[uint64]context.CancelCauseFunc // by number
	last  uint64                             // number
	over  error                              // why it ended; nil: it goes on
}

func newAge() *age { return &age{calls: map[uint64]context.CancelCauseFunc{}} }

// end ends the age, and its calls.
func (a *age) end(why error) {
	a.mu.Lock()
	calls := a.calls
	a.calls, a.over = nil, why
	a.mu.Unlock()
	for _, cancel := range calls {
		cancel(why)
	}
}

// join adds a call, which leaves by its number; if the age is over, the call ends at once.
func (a *age) join(cancel context.CancelCauseFunc) uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over != nil {
		cancel(a.over)
		return 0
	}
	a.last++
	a.calls[a.last] = cancel
	return a.last
}

func (a *age) leave(call uint64) {
	a.mu.Lock()
	delete(a.calls, call)
	a.mu.Unlock()
}

// newLeader begins another age. What the new leader, or no leader at all, is needed for
// is answered now; the rest was lost on its way to the old one.
func (m *Members) newLeader() {
	old := m.age.Swap(newAge())
	time.AfterFunc(afterLeader, func() { old.end(errLeader) })
}

// within gives a context that ends with the age, too.
func (m *Members) within(ctx context.Context) (context.Context, func()) {
	a := m.age.Load()
	ctx, cancel := context.WithCancelCause(ctx)
	call := a.join(cancel)
	return ctx, func() { a.leave(call); cancel(nil) }
}

// errLeader is unavailable, as from a connection that broke: the outcome of a write is
// not known.
var errLeader = status.Error(codes.Unavailable, "etcd has another leader than when it was asked")

// call is between the client and each of its calls.
func (m *Members) call(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	once := func() error {
		ctx, stop := m.within(ctx)
		defer stop()
		err := invoke(ctx, method, req, reply, cc, opts...)
		if err != nil && errors.Is(context.Cause(ctx), errLeader) {
			return errLeader
		}
		return err
	}
	err := once()
	if err == nil || status.Code(err) != codes.Unavailable || !reads(req) {
		return err
	}
	// Over another connection, or to another leader. A dozen tries take about 1.5 s, an
	// election.
	return pace.Repeat(ctx, pace.Doubling(10*time.Millisecond).UpTo(200*time.Millisecond).Spread(20).Times(12), func() (bool, error) {
		if ctx.Err() != nil {
			return false, err
		}
		err = once()
		return status.Code(err) == codes.Unavailable, err
	})
}

// reads tells whether a request changes nothing.
func reads(req any) bool {
	switch r := req.(type) {
	case *pb.RangeRequest:
		return true
	case *pb.TxnRequest:
		return txnReads(r)
	}
	return false
}

func txnReads(t *pb.TxnRequest) bool {
	for _, branch := range [][]*pb.RequestOp{t.GetSuccess(), t.GetFailure()} {
		for _, op := range branch {
			inner := op.GetRequestTxn()
			if op.GetRequestRange() == nil && (inner == nil || !txnReads(inner)) {
				return false
			}
		}
	}
	return true
}

// renewalPause is between two renewals.
const renewalPause = 50 * time.Millisecond

// stream is between the client and each stream. A renewal that is refused as
// "unavailable" the client repeats at once, without end.
func (m *Members) stream(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	if method == renewalMethod {
		now := time.Now().UnixNano()
		if wait := renewalPause - time.Duration(now-m.renewed.Swap(now)); wait > 0 {
			pace.Pause(ctx, min(wait, renewalPause))
		}
		own, stop := m.within(ctx)
		context.AfterFunc(ctx, stop) // the caller's context is that of one renewal
		s, err := open(own, desc, cc, method, opts...)
		return &renewal{s, own}, err
	}
	return open(ctx, desc, cc, method, opts...)
}

// renewal is a stream that a new leader ends.
type renewal struct {
	grpc.ClientStream
	ctx context.Context
}

func (r *renewal) RecvMsg(m any) error {
	err := r.ClientStream.RecvMsg(m)
	if err != nil && errors.Is(context.Cause(r.ctx), errLeader) {
		return errLeader
	}
	return err
}

const renewalMethod = "/etcdserverpb.Lease/LeaseKeepAlive"
