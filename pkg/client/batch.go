package client

import (
	"slices"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// batch is what one burst works on.
type batch struct {
	mail  []store.Mail
	hands []*waiter
	more  bool // the mailbox holds more
	stale bool // nothing is chosen: what ends the instance came to hand since the mailbox was read

	ending    bool         // what ends the instance is in front, in hand or else in the mail: nothing else of it runs
	overtaken []store.Mail // is refused: what ends the instance came behind it, and goes before it

	counted bool        // its one command was taken over, and its attempts count
	why     string      // its one command is set aside for this reason; "": it is run
	start   *store.Mail // of an instance that never ran, which rests
}

func (b *batch) size() int { return len(b.mail) + len(b.hands) }

func (b *batch) empty() bool { return b.size()+len(b.overtaken) == 0 }

// front is how many of those in hand go before the mail: those that end the instance.
func (b *batch) front() int {
	if i := slices.IndexFunc(b.hands, func(w *waiter) bool { return !b.ending || !endsHand(w) }); i >= 0 {
		return i
	}
	return len(b.hands)
}

// atMost cuts a batch to its first n commands; all, if n is 0.
func atMost(b batch, n int) batch {
	if n == 0 || b.size() <= n {
		return b
	}
	if b.ending {
		mail := min(len(b.mail), n-min(b.front(), n))
		b.hands, b.mail, b.more = b.hands[:n-mail], b.mail[:mail], true
		return b
	}
	if len(b.mail) > n {
		return batch{mail: b.mail[:n], start: b.start, more: true}
	}
	b.hands = b.hands[:n-len(b.mail)]
	return b
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

// handBatch bounds the commands in hand that one burst takes.
const handBatch = 100
