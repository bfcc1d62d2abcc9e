package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/workflow"
)

// step is one round: burst, commit, answers. It returns the work that came
// meanwhile, or that the lock was released.
func (o *owner) step(ctx context.Context, work batch, last bool) (next batch, released bool, err error) {
	ctx, span := o.trace(ctx, &work)
	defer func() {
		if err != nil {
			span.Fail(failure(err))
		}
		span.End()
	}()
	x, err := o.open(ctx, &work)
	if err != nil {
		return o.unopened(ctx, x, work, err)
	}
	if work.why == "" && !o.enter(x, &work) { // what is set aside does not run
		o.crowded = true
		o.inbox.giveBack(work.hands)
		return o.reload(ctx) // what ends it may be behind this
	}
	// What this node cannot run, or has no place for, counts no attempt.
	if work.counted && work.why == "" && !o.marked(work.mail[0].Command.ID) {
		if !o.isolate(ctx, &work.mail[0].Command) {
			return o.reload(ctx) // others of this instance go on
		}
		if err := o.countAttempt(ctx, &work); err != nil {
			return next, false, o.fail(err)
		}
	}
	o.mu.Lock()
	o.burst = x.b
	o.mu.Unlock()
	began := time.Now()
	err = x.work(ctx, &work)
	o.mu.Lock()
	o.burst = nil
	o.mu.Unlock()
	o.n.cfg.Metrics.Burst(time.Since(began), tracing.TraceID(ctx))
	if err != nil {
		return next, false, o.fail(err)
	}
	return o.commitBurst(ctx, x, work, last)
}

// commitBurst makes a burst durable and answers those who wait for it.
func (o *owner) commitBurst(ctx context.Context, x *burst, work batch, last bool) (next batch, released bool, err error) {
	o.writing <- struct{}{}
	x.leaveMail()
	if len(x.consumed) == 0 && !x.goOn { // every command in hand found its bookmark gone
		o.inbox.giveBack(nil) // a twin that comes from now on is looked at anew
		o.inbox.commit(x.served, x.response, headerOf(o.committed()), x.goOn, false)
		<-o.writing
		return batch{mail: nil, more: work.more}, false, nil
	}
	if x.why != "" && x.buries() && x.unrun() {
		<-o.writing
		return o.oneByOne(ctx, x, x.consumed) // a state would keep its start from running later
	}
	o.ending = x.goOn && o.onlyEnds(&work)
	o.inbox.looks()
	c, err := x.commit(!last && !work.more && o.inbox.idle())
	var done *store.Committed
	if err == nil {
		err = o.unlocked(ctx, c, x.goOn)
	}
	if err == nil {
		done, err = o.send(ctx, c)
	}
	if errors.Is(err, etcdstore.ErrTooLarge) && c != nil && c.Unlocked != nil {
		// The look for queued stimuli may not fit beside the rest; under the lock it
		// can be done afterwards.
		if err = o.relock(ctx, c); err == nil {
			done, err = o.send(ctx, c)
		}
	}
	if err == nil {
		// The answers too: late durability must not find a command that took effect
		// and still waits, or it takes effect again.
		o.settle(c, done)
		o.inbox.commit(x.served, x.response, headerOf(o.committed()), x.goOn, done.Released)
	}
	if errors.Is(err, store.ErrStale) {
		o.stale()
	}
	<-o.writing
	switch {
	case errors.Is(err, store.ErrStale):
		return batch{}, true, nil
	case errors.Is(err, store.ErrConflict):
		return o.conflict(ctx, work)
	case errors.Is(err, etcdstore.ErrTooLarge) && o.halve(&work):
		return work, false, nil
	case o.hold(x, &work, err):
		return work, false, nil
	case errors.Is(err, etcdstore.ErrTooLarge) && x.buries():
		return o.oneByOne(ctx, x, x.consumed) // it is a dead letter for a better reason than its size
	case errors.Is(err, etcdstore.ErrTooLarge):
		return o.park(ctx, x, work, err)
	case err != nil:
		return next, false, o.fail(err)
	}
	o.announce(c)
	for _, late := range x.late {
		o.n.cfg.Metrics.TimerLateness(late)
	}
	if done.Waits {
		o.n.cfg.Hint([]string{o.id}, false)
	}
	return o.more(ctx, x, c, done, work)
}

// leaveMail accepts the commands in hand that came to nothing and that late
// durability has put into the mailbox since: their callers may have been told so,
// and mail goes on, to the queue or to the dead letters. The next round does that.
// The burst has the right to write, so that no more become durable.
func (x *burst) leaveMail() {
	now := x.o.header()
	x.served = slices.DeleteFunc(x.served, func(s served) bool {
		if !s.nothing() || !x.o.inbox.accept(s.w, now) {
			return false
		}
		x.consumed = slices.DeleteFunc(x.consumed, func(c store.Consumed) bool { return c.Command.ID == s.w.cmd.ID })
		return true
	})
}

// commit builds the transaction of this burst.
func (x *burst) commit(release bool) (*store.Commit, error) {
	o := x.o
	res, err := x.b.Result()
	if workflow.CodeOf(err) == workflow.CodeTooLarge {
		return nil, fmt.Errorf("%w: %w", etcdstore.ErrTooLarge, err) // what it keeps is too much to be encoded
	}
	if err != nil {
		return nil, err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return nil, err
	}
	before := o.committed()
	for _, m := range o.inbox.runningMail() { // it may have become durable meanwhile
		for i := range x.consumed {
			if x.consumed[i].Command.ID == m.Command.ID {
				x.consumed[i].Created = m.Created
			}
		}
	}
	c := &store.Commit{
		ID: id.String(), Fence: o.ownership().Fence(), Before: before, At: x.env.Now(), Delete: x.deleting, Trace: x.trace,
		After:   store.Record{Header: res.Instance, State: res.State, Seq: 1},
		Journal: res.Journal, Created: res.Created, Burned: res.Burned, Consumed: x.consumed,
		Requeue: x.requeue, Dead: x.dead, SeenMail: o.seen,
		// The release looks for stimuli of as many bookmarks only.
		Release: release && !x.goOn && (!o.blind || len(res.Instance.Bookmarks) <= etcdstore.MaxUnlocked),
	}
	if before != nil {
		c.After.Seq = before.Seq + 1
		c.After.Gate = before.Gate
	}
	c.After.Header.Incidents = append(slices.Clone(c.After.Header.Incidents), x.extra...)
	if x.replaced != nil {
		c.Burned, c.Created = nil, x.replaced.Bookmarks
		if before != nil {
			c.Burned = before.Header.Bookmarks
		}
	}
	if x.deleting && before != nil {
		c.Burned = before.Header.Bookmarks
		c.Created = nil
	}
	for _, ch := range res.Children {
		start := ch.Start
		gate, err := o.n.cfg.Gate(o.ctx, &start)
		if err != nil {
			return nil, err
		}
		c.Children = append(c.Children, store.Child{ID: ch.InstanceID, Gate: gate,
			Command: workflow.Command{ID: ch.CommandID, Kind: workflow.CommandStart, CreatedAt: c.At, Start: &start, Trace: c.Trace}})
	}
	for _, child := range res.Cancel {
		c.Outgoing = append(c.Outgoing, store.Outgoing{InstanceID: child,
			Command: workflow.Command{ID: "cancel-" + workflow.DeriveID(o.id, child), Kind: workflow.CommandCancel, CreatedAt: c.At, Trace: c.Trace}})
	}
	for _, ev := range res.Events {
		c.Sends = append(c.Sends, store.Send{ID: ev.ID, Stimulus: ev.Stimulus, CreatedAt: c.At, Trace: c.Trace})
	}
	x.tellParent(c, before)
	if x.goOn {
		c.Continue = &workflow.Command{ID: workflow.ContinueID, Kind: workflow.CommandContinue, CreatedAt: c.At, Trace: c.Trace}
	}
	for i := range c.Consumed {
		if a := c.Consumed[i].Answer; a != nil && c.Consumed[i].Command.Kind == workflow.CommandStart {
			hd := c.After.Header
			a.Instance = &hd
		}
	}
	return c, nil
}

// tellParent sends the end of a child with the commit that makes it durable.
func (x *burst) tellParent(c *store.Commit, before *store.Record) {
	hd := &c.After.Header
	if hd.Parent == nil || hd.Parent.BookmarkID == "" {
		return
	}
	if before != nil && before.Header.Status == workflow.StatusFinished {
		return // told when it ended; a deletion later says nothing new
	}
	if hd.Status == workflow.StatusFinished || c.Delete {
		end := etcdstore.ChildEnd(hd.Parent.BookmarkID, hd.ID, hd.SubStatus, hd.Output, c.At)
		end.Trace = c.Trace
		c.Outgoing = append(c.Outgoing, store.Outgoing{InstanceID: hd.Parent.InstanceID, Command: end})
	}
}

// send commits, repeating the identical transaction while its outcome is
// unknown and the ownership lasts.
func (o *owner) send(ctx context.Context, c *store.Commit) (*store.Committed, error) {
	ctx, span := tracing.Commit(ctx, o.id, c.After.Seq)
	defer span.End()
	var done *store.Committed
	err := context.Cause(ctx) // nothing goes out for an ownership that is over
	if err == nil {
		waits := pace.Doubling(50 * time.Millisecond).UpTo(2 * time.Second).Spread(20)
		err = pace.Repeat(ctx, waits, func() (again bool, err error) {
			done, err = o.n.cfg.Store.Commit(ctx, c)
			if again = isUnknown(err); again {
				o.n.cfg.Log.WarnContext(ctx, "commit without an answer; sending it again", "instanceId", o.id, "sequence", c.After.Seq, "error", err)
			}
			return again, err
		})
	}
	if errors.Is(err, etcdstore.ErrUnknown) {
		o.n.cfg.Metrics.Commit(abandoned, 0, 0, "")
	}
	switch {
	case err != nil:
		span.Fail(failure(err))
	case done.Kept != nil:
		span.Outcome("kept-lock")
	case done.Resolved:
		span.Outcome("resolved")
	default:
		span.Outcome("committed")
	}
	return done, err
}

// settle notes what is durable now.
func (o *owner) settle(c *store.Commit, done *store.Committed) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.mark = nil
	o.crowded = o.crowded && !c.Delete && !finished(&c.After)
	if c.Delete {
		o.base = nil
	} else {
		after := c.After
		after.Modified = done.Modified
		o.base = &after
	}
	if done.Released {
		o.own.Released()
	}
	if done.Kept != nil {
		o.seen = done.Kept.Revision
	}
}

// announce counts, and wakes whoever has to do something about the commit.
func (o *owner) announce(c *store.Commit) {
	n := o.n
	n.buried(c.Dead)
	if c.Before == nil || c.Before.Seq == 0 {
		n.cfg.Metrics.InstanceStarted()
	}
	if c.After.Header.Status == workflow.StatusFinished && (c.Before == nil || c.Before.Header.Status != workflow.StatusFinished) {
		n.cfg.Metrics.InstanceFinished(c.After.Header.SubStatus)
	}
	if g := c.After.Gate; g != nil && (c.Delete || c.After.Header.Status == workflow.StatusFinished) {
		n.cfg.Freed(*g)
	}
	var ids []string
	for _, ch := range c.Children {
		ids = append(ids, ch.ID)
		if p := ch.Command.Start.Parent; ch.Gate != nil && p != nil {
			ids = append(ids, p.InstanceID)
		}
	}
	for _, o := range c.Outgoing {
		ids = append(ids, o.InstanceID)
	}
	if sent := len(c.Sends)+len(c.Requeue) > 0; sent || len(ids) > 0 {
		n.cfg.Hint(ids, sent)
	}
}

// more finds out what there is to do after a commit.
func (o *owner) more(ctx context.Context, x *burst, c *store.Commit, done *store.Committed, work batch) (batch, bool, error) {
	fresh := len(c.Created) > 0 || c.Before != nil && c.Before.Header.CorrelationID != c.After.Header.CorrelationID
	if fresh && (x.goOn || work.more) {
		o.blind = true
	}
	switch {
	case done.Released:
		return batch{}, true, nil
	case x.goOn && done.Kept == nil || work.more || done.Resolved:
		next, _, err := o.reload(ctx)
		if err != nil || !done.Resolved {
			return next, false, err
		}
		// The answer that was lost may have told of queued stimuli.
		queued, _, err := o.lookQueue(ctx, &c.After.Header)
		next.mail = append(next.mail, queued.mail...)
		return next, false, err
	case done.Kept != nil:
		mail := done.Kept.Mail
		if len(done.Kept.Queue) > 0 {
			claimed, err := o.claim(ctx, &c.After.Header, done.Kept.Queue)
			return batch{mail: append(mail, claimed...)}, false, err
		}
		return batch{mail: mail}, false, nil
	case fresh || o.blind:
		return o.lookQueue(ctx, &c.After.Header)
	}
	return batch{}, false, nil
}

// reload reads the mailbox again.
func (o *owner) reload(ctx context.Context) (batch, bool, error) {
	l, err := o.n.cfg.Store.Load(ctx, o.id, "", "")
	if err != nil {
		return batch{}, false, err
	}
	o.mu.Lock()
	o.base, o.seen = l.Record, l.Revision
	o.mu.Unlock()
	return batch{mail: l.Mail, more: l.More}, false, nil
}
