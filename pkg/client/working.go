package client

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/engine"
)

// working is the state in which the burst runs. It is the only one in which the desk is
// open: no commit is under way, so a command may be made durable. In all other states
// requests wait, and the answers of a commit come before theirs.
type working struct {
	*round
	x *burst
}

func (s working) next(o *owner) state {
	unmarked := o.unmarkInTime()
	o.running.Store(s.x.b)
	if o.interrupted.Swap(false) && !s.work.ending { // since the mailbox was read: what ends it may be there
		s.x.b.Interrupt()
	}
	ctx := s.ctx
	o.traced = ctx
	if o.free() {
		ctx, o.drop = context.WithCancelCause(ctx)
		defer o.drop(nil)
	}
	o.desk.open(o)
	began := time.Now()
	s.x.began = began
	err := s.x.work(ctx, &s.work)
	took := time.Since(began)
	o.running.Store(nil)
	o.desk.close()
	unmarked()
	if ctx.Err() != nil && s.ctx.Err() == nil { // who served at the desk has dropped the burst
		err = context.Cause(ctx)
	}
	if now := engine.StoppedIn(s.x.b); now != o.course.stopped {
		o.course.stopped = now
	} else {
		o.course.stopped.Activity = "" // a cancel that comes later did not end it
	}
	o.course.deletion = cmp.Or(s.x.deletion, o.course.deletion)
	o.n.cfg.Metrics.Burst(took, tracing.TraceID(s.ctx))
	switch {
	case errors.Is(err, store.ErrConflict): // at the barrier, or at the desk
		return o.conflict(s.round, s.work)
	case err != nil:
		return s.failed(o.fail(err))
	}
	return committing(s)
}

// unmarkInTime takes the mark back when the time of the node is over: an activity that
// does not end with its context is no reason to count this as a death. What it returns is
// called after the burst.
func (o *owner) unmarkInTime() (after func()) {
	if o.mark == nil {
		return func() {}
	}
	h, ctx, m, taken := o.handle, o.ctx, o.mark, make(chan struct{})
	left := context.AfterFunc(h.n.life, func() {
		defer close(taken)
		h.takeBackMark(ctx, m)
	})
	return func() {
		if !left() {
			<-taken
			o.mark = nil
		}
	}
}
