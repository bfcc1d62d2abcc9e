package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/workflow"
)

// await waits for a command in hand. When the caller's deadline, the limit of
// Config.LateAfter, or a drain comes first, it has the command made durable: from
// then on it is visible, can be cancelled, is taken over, and "accepted" is
// honest. What waits for a place then waits here no longer: [admission.ErrCrowded]. An import that may fit no mailbox waits as
// long as its caller does.
func (h *handle) await(ctx context.Context, w *waiter) (Result, error) {
	timer := time.NewTimer(h.n.cfg.LateAfter)
	defer timer.Stop()
	late := timer.C
	if len(w.cmd.State) > slowState {
		late = nil
	}
	select {
	case <-w.done:
		return w.result, w.err
	case <-ctx.Done():
	case <-late:
	case <-h.n.draining:
	}
	if h.inbox.takeBack(w) {
		return Result{}, ErrBusy // its turn did not come: let it wait in the mailbox
	}
	return h.ask(ctx, w)
}

// ask asks the owner to make a command durable, and waits for that or for the answer
// to the command, which is better. A request stays when its caller gives up: the burst
// may run for hours yet.
func (h *handle) ask(ctx context.Context, w *waiter) (Result, error) {
	answer := make(chan persistAnswer, 1)
	grace := time.NewTimer(h.n.persistFor)
	defer grace.Stop()
	look := time.NewTicker(persistRetry)
	defer look.Stop()
	h.desk.ask(func(o *owner) { answer <- o.persist(w) })
	var a persistAnswer
	for asked := true; asked; {
		select {
		case <-w.done:
			return w.result, w.err
		case <-h.done:
			return h.ended(w)
		case <-look.C: // who imports wants to know more than that
			if w.finished() {
				return w.result, w.err
			}
			if w.cmd.Kind != workflow.CommandImport && h.inbox.lasting(w) {
				return h.undecided(ctx, w)
			}
		case <-grace.C:
			return h.undecided(ctx, w)
		case a = <-answer:
			asked = false
		}
	}
	if errors.Is(a.err, errNoInstance) || errors.Is(a.err, etcdstore.ErrTooLarge) {
		// It is as much in hand as before, and may be committed: its burst says what
		// there is to say, as long as its caller waits. An import of many places takes some time.
		waits := ctx
		if ctx.Err() != nil {
			var stop context.CancelFunc
			waits, stop = context.WithTimeout(context.WithoutCancel(ctx), h.n.persistFor)
			defer stop()
		}
		select {
		case <-w.done:
			return w.result, w.err
		case <-h.done:
			return h.ended(w)
		case <-waits.Done():
			return h.undecided(ctx, w)
		}
	}
	switch {
	case w.finished():
		return w.result, w.err
	case a.err == nil:
		return Result{Accepted: true, Instance: a.now}, nil
	case errors.Is(a.err, ErrBusy):
		return Result{}, a.err
	case isUnknown(a.err):
		return h.undecided(ctx, w)
	}
	return Result{}, unavailable("this node lost instance "+h.id+" before it could commit", a.err)
}

// slowState is from how many bytes on a state may fit no mailbox, and its import takes longer than other commands.
const slowState = 1 << 20

// ended gives the answer of an owner that is gone.
func (h *handle) ended(w *waiter) (Result, error) {
	if w.finished() {
		return w.result, w.err
	}
	return Result{}, unknown("instance "+h.id+" was given up", h.err)
}

// undecided is the answer when the owner did not come to the request, or did not learn
// what became of it. A twin may have made the command durable, or a commit its effect.
func (h *handle) undecided(ctx context.Context, w *waiter) (Result, error) {
	if h.inbox.lasting(w) {
		return Result{Accepted: true, Instance: h.known(nil)}, nil
	}
	return Result{}, unknown("instance "+h.id+" could not be made durable in time", ctx.Err())
}

const persistTimeout = 5 * time.Second

// persistAnswer: without an error the command, or its effect, is durable.
type persistAnswer struct {
	now workflow.Instance // as far as it is known
	err error
}

// persist serves a request while the burst runs. There is one at a time: what it finds
// out decides what the next one, or the commit, has to write.
func (o *owner) persist(w *waiter) persistAnswer {
	err := o.makeDurable(w)
	if errors.Is(err, store.ErrStale) {
		o.stop(errStale)
	}
	return persistAnswer{o.header(), err}
}

// makeDurable puts a command in hand into the mailbox, and a new instance beside it
// as Executing, under the fence.
func (o *owner) makeDurable(w *waiter) error {
	if w.finished() {
		return nil
	}
	if err := o.lockBeside(); err != nil {
		return err
	}
	if o.inbox.lasting(w) {
		return nil
	}
	if o.base == nil && w.cmd.Start == nil {
		return errNoInstance
	}
	var fresh *store.Record
	if o.base == nil {
		hd := etcdstore.NewHeader(o.id, w.cmd, w.cmd.CreatedAt)
		hd.SubStatus = workflow.Executing
		fresh = &store.Record{Header: hd}
	}
	var created int64
	err := pace.Repeat(o.ctx, pace.Every(persistRetry), func() (again bool, err error) {
		// Without an answer the identical transaction goes out again: until it is
		// known whether the command is durable, nothing may be committed.
		created, err = o.n.cfg.Store.Secure(o.ctx, o.own.Fence(), o.id, o.base, fresh, w.cmd)
		return isUnknown(err), err
	})
	if err != nil {
		return err
	}
	o.inbox.persisted(w, created)
	if fresh != nil {
		fresh.Modified = cmp.Or(fresh.Modified, created)
		o.base = fresh
	}
	o.n.cfg.Metrics.LateDurability()
	return nil
}

// lockBeside takes the lock while the burst runs. One that may not go on under it is
// dropped: nothing of it will be committed.
func (o *owner) lockBeside() error {
	free := o.free()
	err := o.lock(tracing.Within(o.ctx, o.traced))
	switch {
	case err == nil || !free:
		return err
	case errors.Is(err, store.ErrConflict):
		o.drop(err)
		return nil
	case errors.Is(err, ErrBusy):
		o.drop(err)
		return err
	}
	return fmt.Errorf("%w: %w", etcdstore.ErrUnknown, err)
}

// errNoInstance: there is no instance that a command could be kept for, and the
// command makes none.
var errNoInstance = errors.New("there is no such instance")

const persistRetry = 100 * time.Millisecond
