package cluster

import (
	"context"
	"fmt"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/pkg/cluster/mutex"
)

// Fence proves ownership of a lock inside a transaction. It is a plain value, so
// that the store need not know this package. The holder's transaction compares
//
//	CreateRevision(Key) = Revision
//	CreateRevision(every key under Prefix) > Revision-1
//
// The second compare matters: a mere waiter passes the first.
type Fence struct {
	Key      string
	Prefix   string
	Revision int64
}

// IsZero tells whether this is no fence at all.
func (f Fence) IsZero() bool { return f.Revision == 0 }

// Lock is a held lock. Its methods may be called from any goroutine. Either
// Release or Released should end it; further calls do nothing.
type Lock struct {
	s     *Session
	e     *Epoch
	name  Name
	fence Fence
	since time.Time
	reads *clientv3.TxnResponse

	ctx    context.Context // the handle's product; see Context
	cancel context.CancelCauseFunc

	once sync.Once
	err  error // of Release; written inside once
}

// Name is the name of the lock.
func (l *Lock) Name() Name { return l.name }

// Fence proves ownership; see [Fence].
func (l *Lock) Fence() Fence { return l.fence }

// Since is when the lock was taken, by this node's clock.
func (l *Lock) Since() time.Time { return l.since }

// Epoch is the epoch that the lock belongs to.
func (l *Lock) Epoch() *Epoch { return l.e }

// Context ends when the lock's epoch does, with cause [ErrLockLost], and after a
// release with [ErrLockReleased]. It is not derived from the context that the
// lock was acquired with: work under the lock may outlive the request that
// started it. It is a reason to stop; the proof of ownership is the fence.
func (l *Lock) Context() context.Context { return l.ctx }

// Reads returns the answers to the reads that were given to the acquisition, in
// their order, with the revision in the header. ok is false if they did not come
// from a transaction that shows this node as the owner; then load again.
func (l *Lock) Reads() (resp *clientv3.TxnResponse, ok bool) { return l.reads, l.reads != nil }

// Release gives the lock back and frees the local lock last. It never deletes a
// successor's key. It works with a ctx that has ended, and waits no longer than
// a few seconds.
//
// No error means that the lock key with this fence is gone, so that a late copy
// of a commit that compares the fence cannot be applied any more. After an error
// it is not known yet whether the key is gone: the local lock stays held while a clean-up in the
// background goes on until the key is gone or the epoch ends. An error from
// Release must not fail the work that was done under the lock.
func (l *Lock) Release(ctx context.Context) error {
	l.once.Do(func() {
		l.finish()
		cctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
		defer cancel()
		if _, err := mutex.DeleteKey(cctx, l.s.cfg.Client.KV, l.fence.Key, l.fence.Revision); err != nil {
			l.s.cfg.Metrics.LockReleaseFailed(l.name.scope)
			l.s.cleanUp(l.e, l.fence.Key, l.fence.Revision)
			l.err = fmt.Errorf("release the lock of %s: %w", l.name, err)
			return
		}
		l.e.local.Unlock(l.fence.Key)
	})
	return l.err
}

// Released says that a commit transaction has itself deleted the lock key. It
// frees the local lock and calls nobody.
func (l *Lock) Released() {
	l.once.Do(func() {
		l.finish()
		l.e.local.Unlock(l.fence.Key)
	})
}

// releaseTimeout bounds a release that gets no answer.
const releaseTimeout = 3 * time.Second

// finish ends the handle. If its epoch has ended it was counted as lost already.
func (l *Lock) finish() {
	held := l.e.unhold(l)
	l.cancel(ErrLockReleased)
	if held {
		l.s.cfg.Metrics.LockReleased(l.name.scope, time.Since(l.since))
	}
}
