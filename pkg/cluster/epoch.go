package cluster

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/keylock"
)

// Epoch is the life of one lease. Everything that a node does in the cluster
// belongs to one epoch and dies with it; nothing is carried over.
type Epoch struct {
	Number int64            // 1 for the first epoch of this process
	Lease  clientv3.LeaseID // the lease of all locks and of the node record
	TTL    time.Duration    // as granted by etcd
	Began  time.Time        // when its lease was asked for, by this machine's clock

	ctx    context.Context // the product of Context
	cancel context.CancelCauseFunc
	// lockCtx is the parent of all lock contexts: it ends together with ctx, but
	// with cause ErrLockLost.
	lockCtx    context.Context
	cancelLock context.CancelCauseFunc

	// suspect wakes the loop that owns the lease: somebody saw a sign that the
	// lease is gone.
	suspect chan struct{}

	trustedUntil atomic.Int64 // nanoseconds since bootTime

	asked atomic.Int64  // when a lock was asked for, last, in nanoseconds since bootTime
	rouse chan struct{} // capacity 1: a lock was asked for, after a long time

	// local stands in front of etcd, because an etcd mutex is re-entrant per
	// session. The keys are the etcd keys of the locks.
	local keylock.Table

	mu   sync.Mutex
	held map[string]*Lock // by etcd key; guarded by mu
}

// bootTime anchors the monotonic clock.
var bootTime = time.Now()

func newEpoch(number int64, lease clientv3.LeaseID, ttl time.Duration, asked time.Time) *Epoch {
	e := &Epoch{
		Number:  number,
		Lease:   lease,
		TTL:     ttl,
		Began:   asked,
		suspect: make(chan struct{}, 1),
		rouse:   make(chan struct{}, 1),
		held:    make(map[string]*Lock),
	}
	e.asked.Store(-2 * lateCopies.Nanoseconds())
	// Not derived from anybody's context: an epoch ends when its lease does.
	e.ctx, e.cancel = context.WithCancelCause(context.Background())
	e.lockCtx, e.cancelLock = context.WithCancelCause(context.Background())
	e.trust(asked)
	return e
}

// Context ends when the epoch does, with cause [ErrSessionLost], or [ErrClosed]
// if the session was ended on purpose. It can end up to half a second after etcd
// has dropped the lease, and later if the process was paused: it is a reason to
// stop, never a proof of ownership.
func (e *Epoch) Context() context.Context { return e.ctx }

// Live tells whether the epoch has neither ended nor gone a whole TTL without a
// renewal. Unlike Context it is right at once after the process was paused.
func (e *Epoch) Live() bool {
	return e.ctx.Err() == nil && time.Since(bootTime).Nanoseconds() < e.trustedUntil.Load()
}

// trust notes that the lease was renewed not before t.
func (e *Epoch) trust(t time.Time) {
	e.trustedUntil.Store(t.Add(e.TTL).Sub(bootTime).Nanoseconds())
}

// remaining is how long the lease may still be believed in.
func (e *Epoch) remaining() time.Duration {
	return time.Duration(e.trustedUntil.Load() - time.Since(bootTime).Nanoseconds())
}

// overdue is how long ago the lease was renewed, if by now it should have been
// again, and the time of an election is over too.
func (e *Epoch) overdue() (since time.Duration, late bool) {
	since = e.TTL - e.remaining()
	return since, since > max(e.TTL/2, e.TTL/3+time.Second)
}

// doubt asks the loop that owns the lease to look at it now.
func (e *Epoch) doubt() {
	select {
	case e.suspect <- struct{}{}:
	default:
	}
}

// enter takes the local lock of an etcd key that is to be put on the lease, and tells
// whether it was free. Such a key may be put by a late copy, long after its local lock
// was given back: the janitor looks out for it.
func (e *Epoch) enter(key string) bool {
	e.ask()
	return e.local.TryLock(key)
}

// ask notes that a key may come: one was asked for, or its put was given up now.
func (e *Epoch) ask() {
	now := time.Since(bootTime).Nanoseconds()
	if was := e.asked.Swap(now); now-was > lateCopies.Nanoseconds()/2 { // in good time
		select {
		case e.rouse <- struct{}{}:
		default:
		}
	}
}

// keysMayCome waits until a key of this lease may be put that nobody here knows of:
// until a lock was asked for within [lateCopies]. False: ctx has ended.
func (e *Epoch) keysMayCome(ctx context.Context) bool {
	for time.Since(bootTime).Nanoseconds()-e.asked.Load() > lateCopies.Nanoseconds() {
		select {
		case <-ctx.Done():
			return false
		case <-e.rouse:
		}
	}
	return true
}

// lateCopies is for how long a copy of a request may still arrive: what the network
// holds of one that was given up comes within minutes, or never.
const lateCopies = 10 * time.Minute

// end cancels everything of this epoch and waits for nothing. It returns the
// locks that were held, the first time; later calls do nothing.
func (e *Epoch) end(cause, lockCause error) []*Lock {
	e.mu.Lock()
	if e.ctx.Err() != nil {
		e.mu.Unlock()
		return nil
	}
	e.cancel(cause)
	e.cancelLock(lockCause)
	lost := make([]*Lock, 0, len(e.held))
	for _, l := range e.held {
		lost = append(lost, l)
	}
	clear(e.held)
	e.mu.Unlock()
	return lost
}

// hold enters a lock that was just taken. It reports false if the epoch has
// ended.
func (e *Epoch) hold(l *Lock) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ctx.Err() != nil {
		return false
	}
	e.held[l.fence.Key] = l
	return true
}

// unhold removes the lock and reports whether it was still entered.
func (e *Epoch) unhold(l *Lock) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.held[l.fence.Key] != l {
		return false
	}
	delete(e.held, l.fence.Key)
	return true
}

// holder is the lock that this node holds under key, or nil.
func (e *Epoch) holder(key string) *Lock {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.held[key]
}
