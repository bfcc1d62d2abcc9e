package client

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/workflow"
)

const abandoned = metrics.CommitAbandoned

// fail answers the commands in hand of a burst that came to nothing, and hands
// err on. What is durable of them is taken up again, here or elsewhere.
func (h *holding) fail(hands []*waiter, err error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ctx.Err() != nil && !errors.Is(err, etcdstore.ErrUnknown) && !errors.Is(err, store.ErrFenced) {
		h.n.cfg.Metrics.Commit(abandoned, 0, 0, "")
	}
	for _, w := range hands {
		switch {
		case w.created > 0:
			w.finish(Result{Accepted: true, Instance: h.header()}, nil)
		case errors.Is(err, etcdstore.ErrUnknown):
			w.finish(Result{}, unknown("the commit of instance "+h.id+" got no answer", err))
		case errors.Is(err, store.ErrBreach):
			h.n.cfg.Log.ErrorContext(h.ctx, "the instance moved under its lock; this must not happen", "instanceId", h.id, "error", err)
			w.finish(Result{}, &workflow.Error{Code: workflow.CodeInternal, Detail: "the instance moved under its lock; nothing was applied", Err: err})
		case workflow.CodeOf(err) != "":
			w.finish(Result{}, err)
		default:
			w.finish(Result{}, unavailable("this node lost instance "+h.id+" before it could commit", errors.Join(err, context.Cause(h.ctx))))
		}
	}
	h.active = nil
	return err
}

// header is what is known of the instance; mu is held.
func (h *holding) header() workflow.Instance {
	if h.base == nil {
		return workflow.Instance{ID: h.id}
	}
	return h.base.Header
}

// conflict: something that the lock does not protect moved: another call with
// the same key was faster, or, under local coordination, the instance moved.
func (h *holding) conflict(ctx context.Context, work batch) (batch, bool, error) {
	var again []*waiter
	for _, w := range work.hands {
		if w.cmd.Key != nil {
			a, err := h.n.cfg.Store.Answer(ctx, w.cmd.Key.Name)
			if err != nil {
				return batch{}, false, h.fail(work.hands, err)
			}
			if a != nil {
				w.finish(Result{Answer: a}, nil)
				continue
			}
		}
		again = append(again, w)
	}
	h.giveBack(again)
	return h.reload(ctx)
}

// unopened: there is nothing to run the commands on. What this node cannot run
// or read it leaves as it is: what is durable stays in the mailbox for a node that
// can.
func (h *holding) unopened(ctx context.Context, x *burst, work batch, err error) (batch, bool, error) {
	if h.base == nil && known(&work) == nil {
		return h.discard(ctx, x, work, err)
	}
	switch workflow.CodeOf(err) {
	case workflow.CodeUnavailable, workflow.CodeBusy, workflow.CodeNotRunnable:
		return batch{}, false, h.fail(work.hands, err)
	}
	if ctx.Err() != nil {
		return batch{}, false, h.fail(work.hands, err)
	}
	return h.park(ctx, x, work, err)
}

// discard: there is no such instance. Its mail becomes dead letters.
func (h *holding) discard(ctx context.Context, x *burst, work batch, cause error) (batch, bool, error) {
	for _, w := range work.hands {
		w.finish(Result{}, cause)
	}
	h.mu.Lock()
	h.active = nil
	h.mu.Unlock()
	if len(work.mail) == 0 {
		return batch{}, false, nil
	}
	x.deleting = true
	var consumed []store.Consumed
	for _, m := range work.mail {
		effect := x.tooLate(m.Command, workflow.DeadInstanceGone, workflow.CodeInstanceNotFound, false)
		effect.InstanceID = h.id
		consumed = append(consumed, store.Consumed{Command: m.Command, Created: m.Created, Effect: effect, Drop: effect.Outcome == workflow.OutcomeDropped})
	}
	err := h.n.cfg.Store.Discard(ctx, h.owner().Fence(), h.id, nil, consumed, x.dead)
	if errors.Is(err, etcdstore.ErrTooLarge) {
		return h.oneByOne(ctx, x, consumed)
	}
	if err != nil {
		return batch{}, false, err
	}
	h.n.buried(x.dead)
	return h.reload(ctx)
}

// buried counts dead letters that are durable.
func (n *Node) buried(dead []store.DeadLetter) {
	for _, d := range dead {
		n.cfg.Metrics.DeadLetter(d.Reason)
	}
}

// oneByOne sets commands aside that do not fit one transaction with the instance's
// record, or with each other: each one alone, and the record stays as it is. That
// always fits, so no command is in the way of those behind it.
func (h *holding) oneByOne(ctx context.Context, x *burst, consumed []store.Consumed) (batch, bool, error) {
	h.mu.Lock()
	base := h.base
	h.mu.Unlock()
	for i := range consumed {
		var dead []store.DeadLetter
		for _, d := range x.dead {
			if d.Command != nil && d.Command.ID == consumed[i].Command.ID {
				dead = append(dead, d)
			}
		}
		if err := h.n.cfg.Store.Discard(ctx, h.owner().Fence(), h.id, base, consumed[i:i+1], dead); err != nil {
			return batch{}, false, h.fail(nil, err)
		}
		h.n.buried(dead)
	}
	h.mu.Lock()
	h.active, h.mark = nil, nil
	h.mu.Unlock()
	return h.reload(ctx)
}

// park is the commit for work that cannot be done: the old state stays, an
// incident says why, durable commands become dead letters, commands in hand get
// the error.
func (h *holding) park(ctx context.Context, x *burst, work batch, cause error) (batch, bool, error) {
	h.n.cfg.Log.ErrorContext(ctx, "burst cannot be committed", "instanceId", h.id, "error", cause)
	code := workflow.CodeOf(cause)
	if errors.Is(cause, etcdstore.ErrTooLarge) {
		code = workflow.CodeTooLarge
	}
	if code == "" {
		code = workflow.CodeInternal
	}
	reason := workflow.DeadUnrunnable
	if code == workflow.CodeTooLarge {
		reason = workflow.DeadTooLarge
	}
	refusal := &workflow.Error{Code: code, Detail: fmt.Sprintf("instance %s: %v", h.id, cause)}
	for _, w := range work.hands {
		if w.created == 0 {
			w.finish(Result{}, refusal)
		}
	}
	h.mu.Lock()
	base := h.base
	durable := slices.Clone(work.mail)
	for _, w := range h.active {
		if w.created > 0 {
			durable = append(durable, store.Mail{Command: w.cmd, Created: w.created})
		}
	}
	h.active = nil
	h.mu.Unlock()
	if base == nil || len(durable) == 0 {
		return batch{}, false, nil
	}
	now := x.env.Now()
	after := *base
	after.Seq++
	after.Header.UpdatedAt = now
	after.Header.Incidents = append(slices.Clone(base.Header.Incidents), workflow.Incident{Message: refusal.Detail, Time: now})
	if len(base.State) == 0 { // it never ran, and never will
		after.Header.Status, after.Header.SubStatus, after.Header.FinishedAt = workflow.StatusFinished, workflow.Faulted, &now
	}
	c := &store.Commit{ID: uuid.NewString(), Fence: h.owner().Fence(), Before: base, After: after, At: now}
	x.dead = nil
	for _, m := range durable {
		x.bury(m.Command, reason, refusal.Detail)
		c.Consumed = append(c.Consumed, store.Consumed{Command: m.Command, Created: m.Created,
			Effect: store.Effect{InstanceID: h.id, Outcome: workflow.OutcomeRefused, Code: string(code)}})
	}
	c.Dead = x.dead
	x.tellParent(c, base)
	done, err := h.send(ctx, c)
	if errors.Is(err, etcdstore.ErrTooLarge) {
		return h.parkApart(ctx, x, c)
	}
	if err != nil {
		return batch{}, false, h.fail(nil, err)
	}
	h.settle(c, done)
	h.announce(c)
	return h.reload(ctx)
}

// parkApart parks what does not fit one transaction with its dead letters: the
// incident first, so that no instance waits in silence for what it will not get. A
// record that has no room for an incident stays as it is.
func (h *holding) parkApart(ctx context.Context, x *burst, c *store.Commit) (batch, bool, error) {
	consumed := c.Consumed
	c.ID, c.Consumed, c.Dead = uuid.NewString(), nil, nil
	done, err := h.send(ctx, c)
	switch {
	case errors.Is(err, etcdstore.ErrTooLarge):
	case err != nil:
		return batch{}, false, h.fail(nil, err)
	default:
		h.mu.Lock()
		after := c.After
		after.Modified = done.Modified
		h.base = &after
		h.mu.Unlock()
		h.announce(c)
	}
	return h.oneByOne(ctx, x, consumed)
}
