package client

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// A cancel or a delete goes before all that was sent to the instance, be it in hand, in
// the mailbox, or beyond what one look reads of that. Behind it nothing of the instance
// runs: what was accepted before comes to what it would come to a moment later. What could
// bring the instance back, and is older, is refused no later than in the commit of the
// end, so that no owner finds it there and obeys.

// returns tells whether a command may bring back an instance that has ended.
func returns(k workflow.CommandKind) bool {
	return k == workflow.CommandImport || k == workflow.CommandRetry || k == workflow.CommandAlter
}

// maxOvertaken is how many commands one commit refuses since an end overtook them.
const maxOvertaken = 50

// collectAll is collect. Of a mailbox that holds more than one look reads, what ends the
// instance is taken from behind that, with what could bring it back.
func (o *owner) collectAll(ctx context.Context, mail []store.Mail, more bool) (batch, error) {
	if !more || len(mail) == 0 || o.base == nil {
		return o.collect(mail, more), nil
	}
	var behind []store.Mail
	if !o.endsAmong(mail) {
		id, err := o.n.cfg.Store.Interrupted(ctx, o.id)
		if err != nil || id == "" {
			return o.collect(mail, more), err
		}
		end, err := o.n.cfg.Store.Mail(ctx, o.id, id)
		if err != nil || end == nil {
			return o.collect(mail, more), err
		}
		behind = append(behind, *end)
	}
	back, err := o.n.cfg.Store.MailThat(ctx, o.id, func(c *workflow.Command) bool { return returns(c.Kind) })
	if err != nil {
		return batch{}, err
	}
	mail = slices.Clone(mail)
	for _, m := range append(behind, back...) {
		if !slices.ContainsFunc(mail, func(o store.Mail) bool { return o.Command.ID == m.Command.ID }) {
			mail = append(mail, m)
		}
	}
	slices.SortStableFunc(mail, func(a, b store.Mail) int { return cmp.Compare(a.Created, b.Created) })
	return o.collect(mail, more), nil
}

// endsAmong tells whether a command in hand or in the mail ends the instance.
func (o *owner) endsAmong(mail []store.Mail) (found bool) {
	o.inbox.choose(func(c choice) { found = o.endsIn(c, mail) })
	return found
}

func (o *owner) endsIn(c choice, mail []store.Mail) bool {
	return c.any(endsHand) || slices.ContainsFunc(mail, func(m store.Mail) bool { return o.seat.ends(&m.Command) })
}

func endsHand(w *waiter) bool { return ends(w.cmd.Kind) }

// ending is the batch of what ends the instance, in front of what is done with by that.
func (o *owner) ending(c choice, mail []store.Mail, more bool) batch {
	first := c.toFront(endsHand)
	all := mail
	over, mail := overtaken(c.first(first), mail)
	if len(over) > maxOvertaken { // before the end, so that it has room for them
		return batch{overtaken: over[:maxOvertaken], ending: true, more: true, start: startIn(all)}
	}
	slices.SortStableFunc(mail, func(a, b store.Mail) int { return o.seat.rank(&a.Command) - o.seat.rank(&b.Command) })
	b := batch{mail: mail, ending: true, overtaken: over}
	if i := slices.IndexFunc(mail, o.suspect); i >= 0 {
		if b.mail = mail[:i]; i == 0 && first == 0 {
			if b = o.alone(mail[0]); b.why == "" {
				b.ending, b.overtaken = true, over
			}
		}
	}
	// What never ran has a start, which may be in hand. Another one there comes too late, or
	// is for the next instance of this id: it comes behind the mail.
	starts := c.toFront(func(w *waiter) bool { return w.cmd.Kind == workflow.CommandStart })
	b.hands = c.first(min(c.toFront(endsHand)+starts, handBatch))
	b = atMost(b, o.course.atMost)
	b.more = b.more || more || len(b.mail)+len(over) < len(all)
	if startIn(b.mail) == nil {
		b.start = startIn(all)
	}
	b.hands = c.take(len(b.hands))
	return b
}

// overtaken parts the mail: over is what could bring the instance back, and is older than the
// last of what ends it; left is without that, and ends before what is newer.
func overtaken(hands []*waiter, mail []store.Mail) (over, left []store.Mail) {
	last := int64(0)
	for _, w := range hands {
		last = max(last, cmp.Or(w.created, math.MaxInt64)) // it came when the mail was there
	}
	for i := range mail {
		if ends(mail[i].Command.Kind) {
			last = max(last, mail[i].Created)
		}
	}
	for i := range mail {
		switch m := &mail[i]; {
		case !returns(m.Command.Kind):
			left = append(left, *m)
		case m.Created < last:
			over = append(over, *m)
		default:
			return over, left
		}
	}
	return over, left
}

func startIn(mail []store.Mail) *store.Mail {
	if i := slices.IndexFunc(mail, func(m store.Mail) bool { return m.Command.Kind == workflow.CommandStart }); i >= 0 {
		return &mail[i]
	}
	return nil
}

// rank is the place of a command where something ends the instance. What is left of such a command
// stays behind it: a delete that comes again has more to do than that.
func (s *seat) rank(c *workflow.Command) int {
	switch {
	case ends(c.Kind):
		return 0
	case s.ends(c):
		return 1
	}
	return 2
}
