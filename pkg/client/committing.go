package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/workflow"
)

// committing is the state in which a burst is made durable. Nothing else may become
// durable of this instance until it is known what became of the commit, and those are
// answered whose commands took effect: such a command would take effect again.
type committing struct {
	*round
	x *burst
}

func (s committing) next(o *owner) state {
	x := s.x
	x.leaveMail(o.header())
	if len(x.consumed) == 0 && !x.goOn { // every command in hand found its bookmark gone
		o.inbox.giveBack(nil) // a twin that comes from now on is looked at as a new one
		o.inbox.commit(x.served, x.response, headerOf(o.base), false, false)
		if o.free() { // who came since knows the instance as it is now, and this owner does not
			return s.released()
		}
		return s.then(o, nil, s.work.more)
	}
	if x.why != "" && x.buries() && x.unrun() {
		return o.oneByOne(s.round, x, x.consumed) // a state would keep its start from running later
	}
	o.seat.ending = x.goOn && s.work.ending
	if !o.free() { // which does not look for mail
		o.inbox.looks()
	}
	c, res, err := o.commit(s.ctx, x, !s.last(o) && !s.work.more && o.inbox.idle())
	return following{s.round, x, sent{c, res, err}}
}

// leaveMail accepts the commands in hand that came to nothing and that were made
// durable since: their callers may have been told so, and mail goes on, to the queue
// or to the dead letters. The next round does that. now is what is known of the
// instance.
func (x *burst) leaveMail(now workflow.Instance) {
	x.served = slices.DeleteFunc(x.served, func(s served) bool {
		if !s.nothing() || !x.handle.inbox.accept(s.w, now) {
			return false
		}
		x.consumed = slices.DeleteFunc(x.consumed, func(c store.Consumed) bool { return c.Command.ID == s.w.cmd.ID })
		return true
	})
}

// commit makes a burst durable, and frees the lock with it if nothing else came. The
// commit is nil if it could not be built.
func (o *owner) commit(ctx context.Context, x *burst, release bool) (*store.Commit, *store.Committed, error) {
	c, err := x.commit(o.ctx, ground{before: o.base, fence: o.own.Fence(), seen: o.seen, release: release, unmatched: o.course.unmatched})
	if err != nil {
		return nil, nil, err
	}
	var res *store.Committed
	if err = etcdstore.ErrTooLarge; !o.n.cfg.Store.Wide(c) {
		res, err = o.sendWhole(ctx, c)
	}
	if errors.Is(err, etcdstore.ErrTooLarge) && etcdstore.Parts(c) {
		res, err = o.sendInParts(ctx, c, x)
	}
	switch {
	case errors.Is(err, store.ErrHeld):
		o.n.contended.note(o.id)
		o.n.cfg.Metrics.UnlockedResume(metrics.ResumeHeld)
		err = fmt.Errorf("%w: %w", ErrBusy, err)
	case err == nil && c.Unlocked != nil && c.Before != nil:
		o.n.cfg.Metrics.UnlockedResume(metrics.ResumeCommitted)
	}
	return c, res, err
}

// sendWhole commits in one transaction.
func (o *owner) sendWhole(ctx context.Context, c *store.Commit) (*store.Committed, error) {
	reserved, err := o.unlocked(ctx, c)
	if err != nil {
		return nil, err
	}
	res, err := o.send(ctx, c)
	if reserved != nil {
		o.lockTaken(ctx, reserved, res, err)
	}
	if errors.Is(err, etcdstore.ErrTooLarge) && c.Unlocked != nil {
		// The look for queued stimuli, or the lock key, may not fit beside the rest; under
		// the lock there is none.
		if err = o.relock(ctx, c); err == nil {
			res, err = o.send(ctx, c)
		}
	}
	return res, err
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
	o.n.refusals.note(c, err)
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
