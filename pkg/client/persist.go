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
// Config.LateAfter, or a drain comes first, it has the command made durable: from
// then on it is visible, can be cancelled, is taken over, and "accepted" is
// honest.
func (h *handle) await(ctx context.Context, w *waiter) (Result, error) {
	timer := time.NewTimer(h.n.cfg.LateAfter)
	defer timer.Stop()
	select {
	case <-w.done:
		return w.result, w.err
	case <-ctx.Done():
	case <-timer.C:
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
	r := persistRequest{w: w, answer: make(chan persistAnswer, 1)}
	grace := time.NewTimer(persistTimeout)
	defer grace.Stop()
	h.inbox.request(r)
	h.wake()
	var a persistAnswer
	select {
	case <-w.done:
		return w.result, w.err
	case <-h.done:
		return h.ended(w)
	case <-grace.C:
		return h.undecided(ctx, w)
	case a = <-r.answer:
	}
	if errors.Is(a.err, errNoInstance) || errors.Is(a.err, etcdstore.ErrTooLarge) {
		// It is as much in hand as before, and may be committed: its burst says what
		// there is to say.
		select {
		case <-w.done:
			return w.result, w.err
		case <-grace.C:
			return h.undecided(ctx, w)
		}
	}
	switch {
	case w.finished():
		return w.result, w.err
	case a.err == nil:
		return Result{Accepted: true, Instance: a.now}, nil
	case isUnknown(a.err):
		return h.undecided(ctx, w)
	}
	return Result{}, unavailable("this node lost instance "+h.id+" before it could commit", a.err)
}

// wake tells the owner that there are requests.
func (h *handle) wake() {
	select {
	case h.asked <- struct{}{}:
	default: // it was told, and has not looked yet
	}
}

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

// persistRequest asks an owner to make a command in hand durable.
type persistRequest struct {
	w      *waiter
	answer chan persistAnswer // capacity 1
}

// persistAnswer: without an error the command, or its effect, is durable.
type persistAnswer struct {
	now workflow.Instance // as far as it is known
	err error
}

// persisted is what became of a request.
type persisted struct {
	persistRequest
	locked  *locked       // the lock that was taken for it; nil: none was
	created int64         // revision of the mailbox key; 0: nothing was written
	fresh   *store.Record // of the instance that was made for it; nil: none was
	err     error
}

// persist makes a command durable while the burst runs. There may be one such request
// at a time: what it finds out decides what the next one, or the commit, has to write.
func (o *owner) persist(r persistRequest) chan persisted {
	h, ctx, own, base := o.handle, o.ctx, o.own, o.base
	out := make(chan persisted, 1)
	go func() {
		p := persisted{persistRequest: r}
		p.err = h.persist(ctx, own, base, &p)
		out <- p
	}()
	return out
}

// persisted notes what became of a request, and answers it.
func (o *owner) persisted(p persisted) {
	if p.locked != nil {
		o.own, o.seen = p.locked.own, p.locked.seen
	}
	if p.created > 0 {
		o.inbox.persisted(p.w, p.created)
		if p.fresh != nil {
			p.fresh.Modified = cmp.Or(p.fresh.Modified, p.created)
			o.base = p.fresh
		}
		o.n.cfg.Metrics.LateDurability()
	}
	if errors.Is(p.err, store.ErrStale) {
		o.stop(errStale)
	}
	p.answer <- persistAnswer{o.header(), p.err}
}

// persist puts a command in hand into the mailbox, and a new instance beside it
// as Executing, under the fence.
func (h *handle) persist(ctx context.Context, own ownership, base *store.Record, p *persisted) (err error) {
	if p.w.finished() {
		return nil
	}
	if p.locked, err = h.lock(ctx, own); err != nil {
		return err
	}
	if p.locked != nil {
		own = p.locked.own
	}
	if h.inbox.lasting(p.w) {
		return nil
	}
	if base == nil && p.w.cmd.Start == nil {
		return errNoInstance
	}
	var fresh *store.Record
	if base == nil {
		hd := etcdstore.NewHeader(h.id, p.w.cmd, p.w.cmd.CreatedAt)
		hd.SubStatus = workflow.Executing
		fresh = &store.Record{Header: hd}
	}
	var created int64
	err = pace.Repeat(ctx, pace.Every(persistRetry), func() (again bool, err error) {
		// Without an answer the identical transaction goes out again: until it is
		// known whether the command is durable, nothing may be committed.
		created, err = h.n.cfg.Store.Secure(ctx, own.Fence(), h.id, base, fresh, p.w.cmd)
		return isUnknown(err), err
	})
	if err == nil {
		p.created, p.fresh = created, fresh
	}
	return err
}

// errNoInstance: there is no instance that a command could be kept for, and the
// command makes none.
var errNoInstance = errors.New("there is no such instance")

const persistRetry = 100 * time.Millisecond
