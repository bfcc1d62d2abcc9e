package client

import (
	"cmp"
	"context"
	"slices"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/client/admission"
	"github.com/weft-run/weft/pkg/workflow"
)

// choosing is the state in which the commands of the next burst are chosen, of what
// was read of the mailbox and of what is in hand.
type choosing struct {
	mail  []store.Mail
	more  bool // the mailbox holds more
	round int  // which it is, from 0
}

func (s choosing) next(o *owner) state {
	if o.base != nil && o.base.Unwritten != nil { // who left it is gone
		if err := o.writeLeft(o.ctx); err != nil {
			return releasing{err: err}
		}
	}
	work, err := o.collectAll(o.ctx, s.mail, s.more)
	for err == nil && work.stale {
		if s.mail, s.more, err = o.reload(o.ctx); err == nil {
			work, err = o.collectAll(o.ctx, s.mail, s.more)
		}
	}
	switch {
	case err != nil:
		return releasing{err: err}
	case !work.empty():
		return opening{o.newRound(s.round, work)}
	case o.seat.refused:
		return releasing{err: admission.ErrCrowded}
	}
	return leaving(s)
}

// round is the way from the choice of commands to what follows their commit.
type round struct {
	number int
	work   batch
	ctx    context.Context // with the span
	span   tracing.Span
}

func (o *owner) newRound(number int, work batch) *round {
	r := &round{number: number, work: work}
	r.ctx, r.span = o.trace(o.ctx, &r.work)
	return r
}

// last tells whether the lock is to be given to others after this round.
func (r *round) last(o *owner) bool { return r.number >= o.n.cfg.Rounds }

// then ends the round. The next one begins with this mail.
func (r *round) then(o *owner, mail []store.Mail, more bool) state {
	r.span.End()
	if r.last(o) {
		return yielding{}
	}
	return choosing{mail: mail, more: more, round: r.number + 1}
}

// again ends the round. The next one begins with what is in the mailbox.
func (r *round) again(o *owner) state {
	mail, more, err := o.reload(r.ctx)
	if err != nil {
		return r.failed(err)
	}
	return r.then(o, mail, more)
}

// released ends the last round: the commit has freed the lock, or there is none to
// be freed.
func (r *round) released() state {
	r.span.End()
	return releasing{}
}

func (r *round) failed(err error) state {
	r.span.Fail(failure(err))
	r.span.End()
	return releasing{err: err}
}

// collect takes the commands in hand for the next burst. After a takeover one
// command goes at a time, so that a poisonous one harms no other.
func (o *owner) collect(mail []store.Mail, more bool) (work batch) {
	now := o.header()
	o.inbox.choose(func(c choice) { work = o.chooseFrom(c, now, mail, more) })
	return work
}

// chooseFrom is collect, while the inbox does not change.
func (o *owner) chooseFrom(c choice, now workflow.Instance, mail []store.Mail, more bool) batch {
	if o.mark == nil { // what ran in quarantine is over
		o.n.quarantine.Leave(o.handle)
	}
	mail, start := o.awake(c, now, mail)
	if o.base != nil && o.endsIn(c, mail) {
		// What was accepted before an end in hand is to be known: it goes before that.
		if !o.free() && c.any(func(w *waiter) bool { return endsHand(w) && !w.read }) {
			return batch{stale: true}
		}
		c.putOff(now, ErrBusy, func(w *waiter) bool { return w.created > 0 && returns(w.cmd.Kind) }) // it is judged as mail
		b := o.ending(c, o.withoutTwins(c, mail), more)
		b.start = cmp.Or(b.start, start)
		return b
	}
	if o.seat.refused {
		c.putOff(now, admission.ErrCrowded, func(w *waiter) bool { return !endsHand(w) })
		return batch{hands: c.take(c.toFront(endsHand)), more: true}
	}
	mail, more = o.othersFirst(c, o.withoutTwins(c, mail), more)
	switch i := slices.IndexFunc(mail, o.suspect); {
	case i == 0:
		b := o.alone(mail[0])
		b.more, b.start = more || len(mail) > 1, start
		return b
	case i > 0:
		mail, more = mail[:i], true
	}
	b := atMost(importsAlone(batch{mail: mail, more: more, start: start, hands: c.first(handBatch)}), o.course.atMost)
	b.hands = c.take(len(b.hands))
	return b
}

// withoutTwins leaves out the mail that is in hand too: a twin of the call on
// another node, or late durability, has put it into the mailbox. It is run for the
// one who waits, also when that is not in this burst. What was taken over is run as
// mail, whose attempts count, unless it was this owner that made it durable.
func (o *owner) withoutTwins(c choice, mail []store.Mail) []store.Mail {
	return slices.DeleteFunc(slices.Clone(mail), func(m store.Mail) bool { return c.twin(&m, o.suspect(m)) })
}
