package client

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
)

// await waits for a command in hand. When the caller's deadline, the limit of
// late durability, or a drain comes first, it makes the command durable: from
// then on it is visible, can be cancelled, is taken over, and "accepted" is
// honest.
func (o *owner) await(ctx context.Context, w *waiter) (Result, error) {
	timer := time.NewTimer(o.n.cfg.LateAfter)
	defer timer.Stop()
	select {
	case <-w.done:
		return w.result, w.err
	case <-ctx.Done():
	case <-timer.C:
	case <-o.n.draining:
	}
	if o.inbox.takeBack(w) {
		return Result{}, ErrBusy // its turn did not come: let it wait in the mailbox
	}
	secured := make(chan error, 1)
	if !o.n.attach(func() { secured <- o.secure(w) }) {
		return o.ended(w) // no owner is left, so this one has answered everybody
	}
	grace := time.NewTimer(secureTimeout)
	defer grace.Stop()
	select {
	case <-w.done:
		return w.result, w.err
	case err := <-secured:
		select {
		case <-w.done: // it ended meanwhile: the better answer
			return w.result, w.err
		default:
		}
		// What cannot be made durable is as much in hand as before, and may be committed.
		if errors.Is(err, errNoInstance) || errors.Is(err, etcdstore.ErrTooLarge) {
			select {
			case <-w.done: // its burst says what there is to say
				return w.result, w.err
			case <-grace.C:
			}
			break
		}
		if err != nil && !isUnknown(err) {
			return Result{}, unavailable("this node lost instance "+o.id+" before it could commit", err)
		}
		if err != nil {
			break
		}
		return Result{Accepted: true, Instance: o.header()}, nil
	case <-grace.C:
	}
	return Result{}, unknown("instance "+o.id+" could not be made durable in time", ctx.Err())
}

// ended gives the answer of an owner that is over, or will be at once.
func (o *owner) ended(w *waiter) (Result, error) {
	<-o.done
	select {
	case <-w.done:
		return w.result, w.err
	default:
		return Result{}, unknown("instance "+o.id+" was given up", o.err)
	}
}

const secureTimeout = 5 * time.Second

// attach runs f on a goroutine that Stop waits for, as long as an owner keeps
// the wait group above zero.
func (n *Node) attach(f func()) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.owners) == 0 {
		return false
	}
	n.wg.Go(f)
	return true
}

// secure puts a command in hand into the mailbox, and a new instance beside it
// as Executing, under the fence.
func (o *owner) secure(w *waiter) error {
	select {
	case o.writing <- struct{}{}:
	case <-w.done:
		return nil
	}
	defer func() { <-o.writing }()
	if w.finished() {
		return nil
	}
	if err := o.lock(o.ctx); err != nil {
		return err
	}
	if o.inbox.lasting(w) {
		return nil
	}
	base := o.committed()
	if base == nil && w.cmd.Start == nil {
		return errNoInstance
	}
	var fresh *store.Record
	if base == nil {
		hd := etcdstore.NewHeader(o.id, w.cmd, w.cmd.CreatedAt)
		hd.SubStatus = workflow.Executing
		fresh = &store.Record{Header: hd}
	}
	var rev int64
	err := pace.Repeat(o.ctx, pace.Every(secureRetry), func() (again bool, err error) {
		// Without an answer the identical transaction goes out again: until it is
		// known whether the command is durable, nothing may be committed.
		rev, err = o.n.cfg.Store.Secure(o.ctx, o.ownership().Fence(), o.id, base, fresh, w.cmd)
		return isUnknown(err), err
	})
	if err != nil {
		return err
	}
	o.inbox.persisted(w, rev)
	o.mu.Lock()
	if fresh != nil {
		fresh.Modified = cmp.Or(fresh.Modified, rev)
		o.base = fresh
	}
	o.mu.Unlock()
	o.n.cfg.Metrics.LateDurability()
	return nil
}

// errNoInstance: there is no instance that a command could be kept for, and the
// command makes none.
var errNoInstance = errors.New("there is no such instance")

const secureRetry = 100 * time.Millisecond
