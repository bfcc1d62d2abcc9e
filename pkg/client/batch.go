package client

import (
	"cmp"
	"context"
	"slices"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// batch is what one burst works on.
type batch struct {
	mail  []store.Mail
	hands []*waiter
	more  bool // the mailbox holds more

	counted bool        // its one command was taken over, and its attempts count
	why     string      // its one command is set aside for this reason; "": it is run
	start   *store.Mail // of an instance that never ran, which rests
}

func (b *batch) empty() bool { return len(b.mail) == 0 && len(b.hands) == 0 }

// collect takes the commands in hand for the next burst. After a takeover one
// command goes at a time, so that a poisonous one harms no other.
func (o *owner) collect(mail []store.Mail, more bool) (work batch) {
	now := o.header()
	o.inbox.choose(func(c *choice) { work = o.chooseFrom(c, now, mail, more) })
	return work
}

// chooseFrom is collect, while the inbox does not change.
func (o *owner) chooseFrom(c *choice, now workflow.Instance, mail []store.Mail, more bool) batch {
	if !o.marksAny() { // what ran in quarantine is over
		o.n.quarantine.leave(o)
	}
	mail, start := o.awake(c, now, mail)
	if o.crowded {
		var never *store.Mail
		mail, never = o.whatEnds(c, now, mail)
		start, more = cmp.Or(start, never), true
	}
	mail = endsFirst(o.withoutTwins(c, mail))
	switch i := slices.IndexFunc(mail, o.suspect); {
	case i == 0:
		b := o.alone(mail[0])
		b.more, b.start = more || len(mail) > 1, start
		return b
	case i > 0:
		mail, more = mail[:i], true
	}
	b := atMost(importsAlone(batch{mail: mail, more: more, start: start, hands: c.first(handBatch)}), o.atMost)
	b.hands = c.take(len(b.hands))
	return b
}

// collectEnd is collect, and if nothing may run of as much mail as one look reads, what
// ends the instance is taken from behind that: it does not wait with it.
func (o *owner) collectEnd(ctx context.Context, mail []store.Mail, more bool) (batch, error) {
	work := o.collect(mail, more)
	if !work.empty() || !more || len(mail) == 0 {
		return work, nil
	}
	id, err := o.n.cfg.Store.Interrupted(ctx, o.id)
	if err != nil || id == "" || slices.ContainsFunc(mail, func(m store.Mail) bool { return m.Command.ID == id }) {
		return work, err
	}
	end, err := o.n.cfg.Store.Mail(ctx, o.id, id)
	if err != nil || end == nil {
		return work, err
	}
	return o.collect(append(slices.Clone(mail), *end), more), nil
}

// withoutTwins leaves out the mail that is in hand too: a twin of the call on
// another node, or late durability, has put it into the mailbox. It is run for the
// one who waits, also when that is not in this burst. What was taken over is run as
// mail, whose attempts count, unless it was this owner that made it durable.
func (o *owner) withoutTwins(c *choice, mail []store.Mail) []store.Mail {
	return slices.DeleteFunc(slices.Clone(mail), func(m store.Mail) bool { return c.twin(&m, o.suspect(m)) })
}

// atMost cuts a batch to its first n commands; all, if n is 0.
func atMost(b batch, n int) batch {
	if n == 0 || len(b.mail)+len(b.hands) <= n {
		return b
	}
	if len(b.mail) > n {
		return batch{mail: b.mail[:n], start: b.start, more: true}
	}
	b.hands = b.hands[:n-len(b.mail)]
	return b
}

// halve gives a burst back that is too large for a commit together. It is run
// again, with half of its commands, as is the rest of this owner: the ids of what
// it makes derive from its commands, so nothing of the first run stays. It is false
// if there is only one.
func (o *owner) halve(work *batch) bool {
	n := len(work.mail) + len(work.hands)
	if n < 2 {
		return false
	}
	o.atMost = n / 2
	o.inbox.giveBack(work.hands)
	work.hands = nil
	return true
}

// importsAlone cuts a batch so that an import has a burst of its own: it takes the place of
// all that the others of the burst have done, or leave to be done.
func importsAlone(b batch) batch {
	imports := func(c *workflow.Command) bool { return c.Kind == workflow.CommandImport }
	mail := slices.IndexFunc(b.mail, func(m store.Mail) bool { return imports(&m.Command) })
	if mail >= 0 {
		first := b.mail[:max(mail, 1)]
		return batch{mail: first, start: b.start, more: b.more || len(first) < len(b.mail)}
	}
	if hand := slices.IndexFunc(b.hands, func(w *waiter) bool { return imports(&w.cmd) }); hand >= 0 {
		if hand == 0 && len(b.mail) == 0 {
			hand = 1
		}
		b.hands = b.hands[:hand]
	}
	return b
}

// endsFirst puts what ends the instance in front of the rest of a burst that is to
// go on: it keeps its place as the oldest, however often it goes on.
func endsFirst(mail []store.Mail) []store.Mail {
	if len(mail) < 2 || mail[0].Command.ID != workflow.ContinueID {
		return mail
	}
	rank := func(m *store.Mail) int {
		if ends(m.Command.Kind) {
			return 0
		}
		return 1
	}
	mail = slices.Clone(mail)
	slices.SortStableFunc(mail, func(a, b store.Mail) int { return rank(&a) - rank(&b) })
	return mail
}

// handBatch bounds the commands in hand that one burst takes.
const handBatch = 100
