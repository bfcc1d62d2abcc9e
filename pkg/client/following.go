package client

import (
	"errors"
	"fmt"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
)

// following is the state in which the answer of the store to a commit is acted on, and
// those who wait for it are answered.
type following struct {
	*round
	x    *burst
	sent sent
}

// sent is a commit with what the store said of it.
type sent struct {
	c   *store.Commit    // nil: it could not be built
	res *store.Committed // nil: err says why
	err error
}

func (s following) next(o *owner) state {
	if s.sent.err == nil {
		s.committed(o)
	}
	a := s.sent.after(s.x, &s.work, o.course.unmatched)
	//exhaustive:enforce
	switch a {
	case commitStale:
		o.stale()
		return s.released()
	case commitConflict:
		return o.conflict(s.round, s.work)
	case commitHalves:
		o.halve(&s.work)
		return s.then(o, s.work.mail, s.work.more)
	case commitWithout:
		o.course.unfit = &unfit{s.work.mail[0].Command.ID, fmt.Sprintf("instance %s: %v", o.id, s.sent.err)}
		return s.then(o, s.work.mail, s.work.more)
	case commitOneByOne:
		return o.oneByOne(s.round, s.x, s.x.consumed) // it is a dead letter for a better reason than its size
	case commitParks:
		return o.park(s.round, s.x, s.work, s.sent.err)
	case commitGated:
		o.course.gated = s.sent.err
		o.inbox.giveBack(s.work.hands)
		return s.then(o, s.work.mail, s.work.more)
	case commitFailed:
		return s.failed(o.fail(s.sent.err))
	case lockReleased:
		s.round.span.End()
		return releasing{more: s.sent.res.Waits}
	case lockKeptWithMail, lockKeptWithQueue, mailboxAgain, mailboxAndQueueAgain, queueToLookAt, nothingLeft:
	}
	mail, more, err := s.mail(o, a)
	switch {
	case err != nil:
		return s.failed(err)
	case s.x.givesWay:
		return givingWay{s.round}
	}
	return s.then(o, mail, more)
}

// committed notes what is durable, answers, and tells others.
func (s following) committed(o *owner) {
	c, res := s.sent.c, s.sent.res
	o.applyCommitted(c, res)
	o.live = s.x.committed(o.base)
	// The answers come before all else: a caller that waits is not to ask for what
	// took effect already.
	o.inbox.commit(s.x.served, s.x.response, headerOf(o.base), s.x.goOn, res.Released)
	o.announce(c)
	o.n.cfg.Wakeups.Lines(res.Lines)
	if s.x.goOn {
		o.course.stretch.ran(s.x.began, res.Size)
	}
	for _, late := range s.x.late {
		o.n.cfg.Metrics.TimerLateness(late)
	}
	o.course.unmatched = o.course.unmatched || s.sent.waits() && (s.x.goOn || s.work.more)
}

// mail is what the next round begins with, and whether the mailbox holds more.
func (s following) mail(o *owner, a action) (mail []store.Mail, more bool, err error) {
	hd := &s.sent.c.After.Header
	var queued []store.Mail
	switch a {
	case lockKeptWithMail:
		mail, more = s.sent.res.Kept.Mail, s.sent.res.Kept.More
	case lockKeptWithQueue:
		mail, more = s.sent.res.Kept.Mail, s.sent.res.Kept.More
		if s.sent.res.Kept.Unread {
			queued, err = o.lookQueue(s.ctx, hd)
			break
		}
		queued, err = o.claim(s.ctx, hd, s.sent.res.Kept.Queue)
	case mailboxAgain:
		mail, more, err = o.reload(s.ctx)
	case mailboxAndQueueAgain: // the answer that was lost may have told of queued stimuli
		if mail, more, err = o.reload(s.ctx); err == nil {
			queued, err = o.lookQueue(s.ctx, hd)
		}
	case queueToLookAt:
		queued, err = o.lookQueue(s.ctx, hd)
	}
	return append(mail, queued...), more, err
}

// action is what follows a commit.
type action int

const (
	commitStale          action = iota // the definition has another version by now: its callers plan again
	commitConflict                     // something that the lock does not protect moved
	commitHalves                       // too large: half of the commands are run again
	commitWithout                      // too large: the command is set aside, in a round of its own
	commitOneByOne                     // too large: what is set aside goes into transactions of its own
	commitParks                        // too large: the old state stays, with an incident
	commitGated                        // another has the gate that it takes: what could bring it back is refused
	commitFailed                       // the callers get the error, and the instance is let go
	lockReleased                       // nothing else came
	lockKeptWithMail                   // it came since the mailbox was read
	lockKeptWithQueue                  // stimuli that were queued meet the new bookmarks
	mailboxAgain                       // there is more in it than is known
	mailboxAndQueueAgain               // and stimuli that were queued may meet the new bookmarks
	queueToLookAt                      // the commit did not look itself
	nothingLeft
)

// waits tells whether the commit has made something that queued stimuli may meet.
func (s *sent) waits() bool {
	c := s.c
	return len(c.Created) > 0 || c.Before != nil && c.Before.Header.CorrelationID != c.After.Header.CorrelationID
}

// after decides what follows a commit of a burst with these commands. unmatched:
// stimuli that were queued before its bookmarks are still to be looked for.
func (s *sent) after(x *burst, work *batch, unmatched bool) action {
	switch {
	case s.err != nil:
		return s.afterError(x, work)
	case s.res.Released:
		return lockReleased
	case s.res.Resolved, s.res.Unseen:
		return mailboxAndQueueAgain
	case x.goOn && s.res.Kept == nil, work.more:
		return mailboxAgain
	case s.res.Kept != nil && (len(s.res.Kept.Queue) > 0 || s.res.Kept.Unread):
		return lockKeptWithQueue
	case s.res.Kept != nil:
		return lockKeptWithMail
	case s.waits(), unmatched:
		return queueToLookAt
	}
	return nothingLeft
}

func (s *sent) afterError(x *burst, work *batch) action {
	var gated *store.GatedError
	switch {
	case errors.Is(s.err, store.ErrStale):
		return commitStale
	case errors.As(s.err, &gated):
		return commitGated
	case errors.Is(s.err, store.ErrConflict):
		return commitConflict
	case !errors.Is(s.err, etcdstore.ErrTooLarge):
		return commitFailed
	case work.size() > 1:
		return commitHalves
	case x.why == "" && len(work.mail) == 1 && held(&work.mail[0].Command):
		return commitWithout
	case x.buries():
		return commitOneByOne
	}
	return commitParks
}

// applyCommitted takes over what a commit made durable.
func (o *owner) applyCommitted(c *store.Commit, res *store.Committed) {
	o.mark, o.course.gated = nil, nil
	o.taken.wentOn = o.taken.wentOn || c.Continue != nil
	o.seat.refused = o.seat.refused && !c.Delete && !finished(&c.After)
	o.base = nil
	if !c.Delete {
		after := c.After
		after.Modified = res.Modified
		o.base = &after
	}
	if res.Released {
		o.own.Released()
	}
	if res.Kept != nil {
		o.seen = res.Kept.Revision
	}
}

// halve gives a burst back that is too large for a commit together. It is run
// again, with half of its commands, as is the rest of this owner: the ids of what
// it makes derive from its commands, so nothing of the first run stays.
func (o *owner) halve(work *batch) {
	o.course.atMost = work.size() / 2
	o.inbox.giveBack(work.hands)
	work.hands = nil
}

// count tells what a commit means for its definition, and whose it is.
func (n *Node) count(c *store.Commit) {
	h := &c.After.Header
	n.rates.Note(h.ID, time.Now())
	switch {
	case c.Before == nil || c.Before.Seq == 0:
		n.cfg.Metrics.InstanceStarted(h.DefinitionID)
	case c.Before.Header.SubStatus == workflow.Suspended:
		n.cfg.Metrics.InstanceWaited(h.DefinitionID, h.UpdatedAt.Sub(c.Before.Header.UpdatedAt))
	}
	if h.Status == workflow.StatusFinished && (c.Before == nil || c.Before.Header.Status != workflow.StatusFinished) {
		n.cfg.Metrics.InstanceFinished(h.DefinitionID, h.SubStatus, h.UpdatedAt.Sub(h.CreatedAt))
	}
}

// announce counts, and wakes those who have to do something about the commit.
func (o *owner) announce(c *store.Commit) {
	n := o.n
	n.buried(c.Dead)
	n.count(c)
	if g := c.After.Gate; g != nil && (c.Delete || c.After.Header.Status == workflow.StatusFinished) {
		n.cfg.Wakeups.Freed(*g)
	} else if g != nil && c.Before != nil && c.Before.Gate != nil && *c.Before.Gate != *g {
		n.cfg.Wakeups.Freed(*c.Before.Gate)
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
		n.cfg.Wakeups.Hint(ids, sent)
	}
}
