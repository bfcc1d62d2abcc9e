package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

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
	case errors.Is(err, ErrBusy): // another has the lock, and nothing of the burst will be applied
	case errors.Is(err, store.ErrBreach):
		was := cmp.Or(o.base, &store.Record{}) // as it was loaded, for who looks for what moved it
		o.n.cfg.Log.ErrorContext(o.ctx, "the instance moved under its lock; this must not happen", "instanceId", o.id, "sequence", was.Seq+1, "revision", was.Modified, "error", err)
		refusal = &workflow.Error{Code: workflow.CodeInternal, Detail: "the instance moved under its lock; nothing was applied", Err: err}
	case workflow.CodeOf(err) == "":
		refusal = unavailable("this node lost instance "+o.id+" before it could commit", errors.Join(err, context.Cause(o.ctx)))
	}
	o.inbox.answerRunning(func(w *waiter) (Result, error) { return w.acceptedOr(now, refusal) })
	return err
}

// conflict: something that the lock does not protect moved: another call with
// the same key was faster, or, under local coordination and where there was no lock, the
// instance moved. What is run again is run under the lock: two nodes could refuse each
// other for ever.
func (o *owner) conflict(r *round, work batch) state {
	if o.free() {
		if err := o.lock(r.ctx); err != nil && !errors.Is(err, store.ErrConflict) {
			return r.failed(o.fail(err))
		}
	}
	var again []*waiter
	for _, w := range work.hands {
		if w.cmd.Key != nil {
			a, err := o.n.cfg.Store.Answer(r.ctx, w.cmd.Key.Name)
			if err != nil {
				return r.failed(o.fail(err))
			}
			if a != nil {
				w.finish(Result{Answer: a}, nil)
				continue
			}
		}
		if refused, err := claimLost(r.ctx, o, w); err != nil {
			return r.failed(o.fail(err))
		} else if refused != nil {
			w.finish(Result{}, refused)
			continue
		}
		again = append(again, w)
	}
	o.inbox.giveBack(again)
	return r.again(o)
}

// claimLost is the refusal of a command whose worker's claim has ended; nil: it stands, or there is none. A claim that
// has ended never comes back, so no copy of the commit is applied any more.
func claimLost(ctx context.Context, o *owner, w *waiter) (refused, err error) {
	cmd := &w.cmd
	if cmd.Claim == nil || o.inbox.lasting(w) {
		return nil, nil
	}
	stands, err := o.n.cfg.Store.Claimed(ctx, cmd.Bookmark, cmd.Claim)
	if err != nil || stands {
		return nil, err
	}
	return workflow.Fail(workflow.CodeTaskClaimLost, fmt.Sprintf("the claim of task %s has ended", cmd.Bookmark)), nil
}

// unopened: there is nothing to run the commands on. What this node cannot run
// or read it leaves as it is: what is durable stays in the mailbox for a node that
// can.
func (o *owner) unopened(r *round, x *burst, work batch, err error) state {
	if o.base == nil && known(&work) == nil {
		return o.discard(r, x, work, err)
	}
	switch workflow.CodeOf(err) {
	case workflow.CodeUnavailable, workflow.CodeBusy, workflow.CodeNotRunnable:
		return r.failed(o.fail(err))
	}
	if r.ctx.Err() != nil {
		return r.failed(o.fail(err))
	}
	return o.park(r, x, work, err)
}

// discard: there is no such instance. Its mail becomes dead letters.
func (o *owner) discard(r *round, x *burst, work batch, cause error) state {
	o.inbox.answerRunning(func(*waiter) (Result, error) { return Result{}, cause })
	if len(work.mail) == 0 {
		return r.then(o, nil, false)
	}
	x.deleting = true
	var consumed []store.Consumed
	for _, m := range work.mail {
		effect := x.tooLate(m.Command, workflow.DeadInstanceGone, workflow.CodeInstanceNotFound, false)
		effect.InstanceID = o.id
		consumed = append(consumed, store.Consumed{Command: m.Command, Created: m.Created, Effect: effect, Drop: effect.Outcome == workflow.OutcomeDropped})
	}
	err := o.n.cfg.Store.Discard(r.ctx, o.own.Fence(), o.id, nil, consumed, x.dead)
	if errors.Is(err, etcdstore.ErrTooLarge) {
		return o.oneByOne(r, x, consumed)
	}
	if err != nil {
		return r.failed(err)
	}
	o.n.buried(x.dead)
	return r.again(o)
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
func (o *owner) oneByOne(r *round, x *burst, consumed []store.Consumed) state {
	for i := range consumed {
		var dead []store.DeadLetter
		for _, d := range x.dead {
			if d.Command != nil && d.Command.ID == consumed[i].Command.ID {
				dead = append(dead, d)
			}
		}
		if err := o.n.cfg.Store.Discard(r.ctx, o.own.Fence(), o.id, o.base, consumed[i:i+1], dead); err != nil {
			return r.failed(o.fail(err))
		}
		o.n.buried(dead)
	}
	o.mark = nil
	now := o.header()
	o.inbox.answerRunning(func(w *waiter) (Result, error) { return w.acceptedOr(now, errLeft) }) // what is set aside is durable
	return r.again(o)
}

// park is the commit for work that cannot be done: the old state stays, an
// incident says why, durable commands become dead letters, commands in hand get
// the error.
func (o *owner) park(r *round, x *burst, work batch, cause error) state {
	o.n.cfg.Log.ErrorContext(r.ctx, "burst cannot be committed", "instanceId", o.id, "error", cause)
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
	if err := o.whole(r.ctx); err != nil {
		return r.failed(o.fail(err))
	}
	base := o.base
	durable := slices.Concat(work.mail, o.inbox.runningMail())
	now := o.header()
	o.inbox.answerRunning(func(w *waiter) (Result, error) { return w.acceptedOr(now, refusal) })
	if base == nil || len(durable) == 0 {
		return r.then(o, nil, false)
	}
	at := x.env.Now()
	after := *base
	after.Seq++
	after.Header.UpdatedAt = at
	after.Header.Incidents = append(slices.Clone(base.Header.Incidents), workflow.Incident{Message: refusal.Detail, Time: at})
	if len(base.State) == 0 { // it never ran, and never will
		after.Header.Status, after.Header.SubStatus, after.Header.FinishedAt = workflow.StatusFinished, workflow.Faulted, &at
	}
	c := &store.Commit{ID: workflow.NewID(), Fence: o.own.Fence(), Before: base, After: after, At: at}
	x.dead = nil
	for _, m := range durable {
		x.bury(m.Command, reason, refusal.Detail)
		c.Consumed = append(c.Consumed, store.Consumed{Command: m.Command, Created: m.Created,
			Effect: store.Effect{InstanceID: o.id, Outcome: workflow.OutcomeRefused, Code: string(code)}})
	}
	c.Dead = x.dead
	x.tellParent(c)
	res, err := o.send(r.ctx, c)
	if errors.Is(err, etcdstore.ErrTooLarge) {
		return o.parkApart(r, x, c)
	}
	if err != nil {
		return r.failed(o.fail(err))
	}
	o.applyCommitted(c, res)
	o.announce(c)
	return r.again(o)
}

// parkApart parks what does not fit one transaction with its dead letters: the
// incident first, so that no instance waits in silence for what it will not get. A
// record that has no room for an incident stays as it is.
func (o *owner) parkApart(r *round, x *burst, c *store.Commit) state {
	consumed := c.Consumed
	c.ID, c.Consumed, c.Dead = workflow.NewID(), nil, nil
	res, err := o.send(r.ctx, c)
	switch {
	case errors.Is(err, etcdstore.ErrTooLarge):
	case err != nil:
		return r.failed(o.fail(err))
	default:
		after := c.After
		after.Modified = res.Modified
		o.base = &after
		o.announce(c)
	}
	return o.oneByOne(r, x, consumed)
}
