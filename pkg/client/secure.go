package client

import (
	"context"
	"errors"
	"slices"

	"github.com/weft-run/weft/internal/store/etcdstore"
)

// A command in hand has the time when its request came, and what it calls is told that time. Should the node
// die, the request comes again: of one that has an Idempotency-Key the calls have the same keys then, and with the
// time of the second request they would say something else. So such a command is in the mailbox, with its
// time, before anything that was told the time goes outside. Without a key each request is another command.

// repeats tells whether what is in hand may come again as the same command.
func (b *batch) repeats() bool {
	return slices.ContainsFunc(b.hands, func(w *waiter) bool { return w.cmd.Key != nil })
}

// secure is the burst's [engine.Env].Secure. It is called by the burst, which has nothing of the owner.
func (x *burst) secure(ctx context.Context) error {
	answer := make(chan error, 1)
	x.handle.desk.ask(func(o *owner) { answer <- secureKeyed(o) })
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// secureKeyed makes the commands of the burst durable that have a key. What cannot be kept goes on as it was.
func secureKeyed(o *owner) error {
	for _, w := range o.inbox.keyedRunning() {
		if err := o.persist(w).err; err != nil && !errors.Is(err, errNoInstance) && !errors.Is(err, etcdstore.ErrTooLarge) {
			return err
		}
	}
	return nil
}

// keyedRunning are the commands of the burst under way that have a key.
func (in *inbox) keyedRunning() []*waiter {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(in.running), func(w *waiter) bool { return w.cmd.Key == nil })
}
