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
func (o *owner) fail(err error) error {
	if o.ctx.Err() != nil && !errors.Is(err, etcdstore.ErrUnknown) && !errors.Is(err, store.ErrFenced) {
		o.n.cfg.Metrics.Commit(abandoned, 0, 0, "")
	}
	now, refusal := o.header(), err
	switch {
	case errors.Is(err, etcdstore.ErrUnknown):
		refusal = unknown("the commit of instance "+o.id+" got no answer", err)
	case errors.Is(err, store.ErrBreach):
		o.n.cfg.Log.ErrorContext(o.ctx, "the instance moved under its lock; this must not happen", "instanceId", o.id, "error", err)
		refusal = &workflow.Error{Code: workflow.CodeInternal, Detail: "the instance moved under its lock; nothing was applied", Err: err}
	case workflow.CodeOf(err) == "":
		refusal = unavailable("this node lost instance "+o.id+" before it could commit", errors.Join(err, context.Cause(o.ctx)))
	}
	o.inbox.answerRunning(func(w *waiter) (Result, error) { return w.acceptedOr(now, refusal) })
	return err
}

// committed is the record as it was last committed; nil: absent.
func (o *owner) committed() *store.Record {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.base
}

// header is what is known of the instance.
func (o *owner) header() workflow.Instance {
	if base := o.committed(); base != nil {
		return base.Header
	}
	return workflow.Instance{ID: o.id}
}

func headerOf(r *store.Record) workflow.Instance {
	if r == nil {
		return workflow.Instance{}
	}
	return r.Header
}

// conflict: something that the lock does not protect moved: another call with
// the same key was faster, or, under local coordination, the instance moved.
func (o *owner) conflict(ctx context.Context, work batch) (batch, bool, error) {
	var again []*waiter
	for _, w := range work.hands {
		if w.cmd.Key != nil {
			a, err := o.n.cfg.Store.Answer(ctx, w.cmd.Key.Name)
			if err != nil {
				return batch{}, false, o.fail(err)
			}
			if a != nil {
				w.finish(Result{Answer: a}, nil)
				continue
			}
		}
		again = append(again, w)
	}
	o.inbox.giveBack(again)
	return o.reload(ctx)
}

// unopened: there is nothing to run the commands on. What this node cannot run
// or read it leaves as it is: what is durable stays in the mailbox for a node that
// can.
func (o *owner) unopened(ctx context.Context, x *burst, work batch, err error) (batch, bool, error) {
	if o.base == nil && known(&work) == nil {
		return o.discard(ctx, x, work, err)
	}
	switch workflow.CodeOf(err) {
	case workflow.CodeUnavailable, workflow.CodeBusy, workflow.CodeNotRunnable:
		return batch{}, false, o.fail(err)
	}
	if ctx.Err() != nil {
		return batch{}, false, o.fail(err)
	}
	return o.park(ctx, x, work, err)
}

// discard: there is no such instance. Its mail becomes dead letters.
func (o *owner) discard(ctx context.Context, x *burst, work batch, cause error) (batch, bool, error) {
	o.inbox.answerRunning(func(*waiter) (Result, error) { return Result{}, cause })
	if len(work.mail) == 0 {
		return batch{}, false, nil
	}
	x.deleting = true
	var consumed []store.Consumed
	for _, m := range work.mail {
		effect := x.tooLate(m.Command, workflow.DeadInstanceGone, workflow.CodeInstanceNotFound, false)
		effect.InstanceID = o.id
		consumed = append(consumed, store.Consumed{Command: m.Command, Created: m.Created, Effect: effect, Drop: effect.Outcome == workflow.OutcomeDropped})
	}
	err := o.n.cfg.Store.Discard(ctx, o.ownership().Fence(), o.id, nil, consumed, x.dead)
	if errors.Is(err, etcdstore.ErrTooLarge) {
		return o.oneByOne(ctx, x, consumed)
	}
	if err != nil {
		return batch{}, false, err
	}
	o.n.buried(x.dead)
	return o.reload(ctx)
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
func (o *owner) oneByOne(ctx context.Context, x *burst, consumed []store.Consumed) (batch, bool, error) {
	base := o.committed()
	for i := range consumed {
		var dead []store.DeadLetter
		for _, d := range x.dead {
			if d.Command != nil && d.Command.ID == consumed[i].Command.ID {
				dead = append(dead, d)
			}
		}
		if err := o.n.cfg.Store.Discard(ctx, o.ownership().Fence(), o.id, base, consumed[i:i+1], dead); err != nil {
			return batch{}, false, o.fail(err)
		}
		o.n.buried(dead)
	}
	o.mu.Lock()
	o.mark = nil
	o.mu.Unlock()
	now := o.header()
	o.inbox.answerRunning(func(w *waiter) (Result, error) { return w.acceptedOr(now, errLeft) }) // what is set aside is durable
	return o.reload(ctx)
}

// park is the commit for work that cannot be done: the old state stays, an
// incident says why, durable commands become dead letters, commands in hand get
// the error.
func (o *owner) park(ctx context.Context, x *burst, work batch, cause error) (batch, bool, error) {
	o.n.cfg.Log.ErrorContext(ctx, "burst cannot be committed", "instanceId", o.id, "error", cause)
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
	refusal := &workflow.Error{Code: code, Detail: fmt.Sprintf("instance %s: %v", o.id, cause)}
	base := o.committed()
	durable := slices.Concat(work.mail, o.inbox.runningMail())
	now := o.header()
	o.inbox.answerRunning(func(w *waiter) (Result, error) { return w.acceptedOr(now, refusal) })
	if base == nil || len(durable) == 0 {
		return batch{}, false, nil
	}
	at := x.env.Now()
	after := *base
	after.Seq++
	after.Header.UpdatedAt = at
	after.Header.Incidents = append(slices.Clone(base.Header.Incidents), workflow.Incident{Message: refusal.Detail, Time: at})
	if len(base.State) == 0 { // it never ran, and never will
		after.Header.Status, after.Header.SubStatus, after.Header.FinishedAt = workflow.StatusFinished, workflow.Faulted, &at
	}
	c := &store.Commit{ID: uuid.NewString(), Fence: o.ownership().Fence(), Before: base, After: after, At: at}
	x.dead = nil
	for _, m := range durable {
		x.bury(m.Command, reason, refusal.Detail)
		c.Consumed = append(c.Consumed, store.Consumed{Command: m.Command, Created: m.Created,
			Effect: store.Effect{InstanceID: o.id, Outcome: workflow.OutcomeRefused, Code: string(code)}})
	}
	c.Dead = x.dead
	x.tellParent(c, base)
	done, err := o.send(ctx, c)
	if errors.Is(err, etcdstore.ErrTooLarge) {
		return o.parkApart(ctx, x, c)
	}
	if err != nil {
		return batch{}, false, o.fail(err)
	}
	o.settle(c, done)
	o.announce(c)
	return o.reload(ctx)
}

// parkApart parks what does not fit one transaction with its dead letters: the
// incident first, so that no instance waits in silence for what it will not get. A
// record that has no room for an incident stays as it is.
func (o *owner) parkApart(ctx context.Context, x *burst, c *store.Commit) (batch, bool, error) {
	consumed := c.Consumed
	c.ID, c.Consumed, c.Dead = uuid.NewString(), nil, nil
	done, err := o.send(ctx, c)
	switch {
	case errors.Is(err, etcdstore.ErrTooLarge):
	case err != nil:
		return batch{}, false, o.fail(err)
	default:
		o.mu.Lock()
		after := c.After
		after.Modified = done.Modified
		o.base = &after
		o.mu.Unlock()
		o.announce(c)
	}
	return o.oneByOne(ctx, x, consumed)
}
