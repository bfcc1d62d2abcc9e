package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/cluster/mutex"
)

// Locks takes the cluster's locks. Only its
// acquisitions touch [concurrency.Mutex].
type Locks struct{ s *Session }

// TryAcquire takes the lock if it is free and never waits for a holder. It returns
// soon after ctx has ended, also when the network is gone.
//
// The reads (gets, or transactions of gets) are executed inside the transaction
// that takes the lock, so that what they load is no older than the ownership;
// see [Lock.Reads].
//
// If the lock is held it returns a [*HeldError], which is [ErrHeld] and names the
// holder; a lock that another goroutine of this node holds or is busy with is held
// too, by this node. All other errors mean that the try failed and says nothing
// about the lock: the cause of ctx, [ErrSessionLost] if this node has no live
// session, anything from etcd. [IsTransient] tells whether another try may help.
// After one whose outcome is unknown the lock's key may exist for a moment: the
// name stays locked on this node until a clean-up has removed it.
func (l *Locks) TryAcquire(ctx context.Context, name Name, reads ...clientv3.Op) (*Lock, error) {
	start := time.Now()
	lock, err := l.tryAcquire(ctx, name, reads, start)
	l.account(ctx, name, start, err)
	return lock, err
}

// Prefix is what all keys of a lock begin with: while none is below it, nobody has the lock.
func (l *Locks) Prefix(name Name) string { return LockPrefix(l.s.root, name) }

func (l *Locks) account(ctx context.Context, name Name, start time.Time, err error) {
	m, scope := l.s.cfg.Metrics, name.scope
	switch {
	case err == nil:
		m.LockAcquired(scope, time.Since(start), tracing.TraceID(ctx))
	case errors.Is(err, ErrHeld):
		m.LockRefused(scope)
		m.LockContended(scope)
	default:
		m.LockAcquireFailed(scope)
	}
}

func (l *Locks) tryAcquire(ctx context.Context, name Name, reads []clientv3.Op, start time.Time) (*Lock, error) {
	e := l.s.Epoch()
	if e == nil {
		return nil, fmt.Errorf("lock %s: %w", name, l.s.notReady())
	}
	ctx, stop := within(ctx, e)
	defer stop()
	const tries = 3
	for i := 1; ; i++ {
		a := l.newAcquisition(e, name, reads, start)
		if !e.enter(a.Key) {
			return nil, l.heldHere(e, a, name)
		}
		err := a.Try(ctx, l.s.cfg.Client, l.s.root+name.path())
		if err == nil {
			return l.handle(e, a, name)
		}
		l.s.abandon(e, a)
		if !mutex.IsRefusal(err) {
			return nil, l.explain(ctx, e, name, err)
		}
		held := l.confirm(ctx, a, name)
		if held.Confirmed || i == tries || ctx.Err() != nil {
			return nil, held
		}
		// The holder that refused the try has gone: the lock may be free now.
	}
}

// confirm reads the holder again after a refusal: if it is still the same, the
// lock is really held.
func (l *Locks) confirm(ctx context.Context, a *mutex.Acquisition, name Name) *HeldError {
	held := &HeldError{Name: name, Holder: l.s.holderOf(a.Owner)}
	now, found, err := l.s.readHolder(ctx, a.Prefix)
	switch {
	case err != nil: // the refusal itself was definite
	case found:
		held.Confirmed = now.Fence == held.Holder.Fence
		held.Holder = now
	}
	return held
}

// heldHere is the refusal of a lock that this node itself is busy with: it is
// held, being acquired, or being cleaned up.
func (l *Locks) heldHere(e *Epoch, a *mutex.Acquisition, name Name) *HeldError {
	if own := e.holder(a.Key); own != nil {
		return &HeldError{Name: name, Holder: l.ownHolder(own), Confirmed: true}
	}
	return &HeldError{Name: name, Holder: Holder{NodeID: l.s.cfg.NodeID, Lease: e.Lease}}
}

func (l *Locks) newAcquisition(e *Epoch, name Name, reads []clientv3.Op, start time.Time) *mutex.Acquisition {
	prefix := l.s.root + name.path() + "/"
	return &mutex.Acquisition{
		KV:     l.s.cfg.Client.KV,
		Prefix: prefix,
		Key:    prefix + leaseHex(e.Lease),
		Value:  mutex.Value{Node: l.s.cfg.NodeID, Name: name.String(), Since: start.UTC()}.Encode(),
		Lease:  e.Lease,
		Reads:  reads,
	}
}

// handle makes the handle of a lock that was just taken.
func (l *Locks) handle(e *Epoch, a *mutex.Acquisition, name Name) (*Lock, error) {
	lock := &Lock{
		s: l.s, e: e, name: name,
		fence: Fence{Key: a.Key, Prefix: a.Prefix, Revision: a.Rev},
		since: time.Now(),
		reads: a.Loaded,
	}
	lock.ctx, lock.cancel = context.WithCancelCause(e.lockCtx)
	if !e.hold(lock) {
		lock.cancel(nil)
		l.s.abandon(e, a)
		return nil, fmt.Errorf("lock %s: %w", name, context.Cause(e.ctx))
	}
	return lock, nil
}

// explain turns an error of the Mutex into one for the caller.
func (l *Locks) explain(ctx context.Context, e *Epoch, name Name, err error) error {
	switch {
	case ctx.Err() != nil:
		// Why it was given up matters more than what the call said to that.
		err = context.Cause(ctx)
	case errors.Is(err, rpctypes.ErrLeaseNotFound):
		e.doubt()
		err = sessionLost("etcd does not know the lease any more")
	}
	return fmt.Errorf("lock %s: %w", name, err)
}

// within is ctx, ending also when the epoch does.
func within(ctx context.Context, e *Epoch) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(e.ctx, func() { cancel(context.Cause(e.ctx)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}
