package client

import (
	"context"
	"errors"
	"time"

	"github.com/weft-run/weft/internal/store"
)

// leaving is the state in which there is nothing to do, as far as is known: the lock
// is released if the mailbox holds nothing new.
type leaving choosing

func (s leaving) next(o *owner) state {
	switch o.own.(type) {
	case *unlockedStart:
		return releasing{} // nothing was written, so nobody can have sent it anything
	case *unlockedResume:
		return releasing{} // nothing to release, and nobody is refused the lock
	}
	o.inbox.looks()
	f := o.own.Fence()
	if f == nil { // nothing to compare and delete: look, then let go
		l, err := o.n.cfg.Store.Load(o.ctx, o.id, "", "")
		if err != nil || !o.anyAwake(l.Mail) {
			return releasing{err: err}
		}
		return s.back(l.Mail)
	}
	kept, waits, err := o.n.cfg.Store.Release(o.ctx, *f, o.id, o.seen)
	switch {
	case errors.Is(err, store.ErrFenced):
		return releasing{err: err}
	case err != nil:
		return releasing{} // through the handle, which knows how to clean up
	case kept == nil:
		o.own.Released()
		o.inbox.shut()
		return releasing{more: waits}
	}
	o.seen = kept.Revision
	if !o.anyAwake(kept.Mail) {
		// Behind what rests may lie more than one look reads, so that the lock would never
		// be free of new mail: a sweep looks again.
		return releasing{}
	}
	s.more = s.more || kept.More
	return s.back(kept.Mail)
}

// back goes on with mail that came after all.
func (s leaving) back(mail []store.Mail) state {
	return choosing{mail: mail, more: s.more, round: s.round + 1}
}

// anyAwake tells whether there is mail to work.
func (o *owner) anyAwake(mail []store.Mail) bool {
	now := o.header()
	o.inbox.choose(func(c choice) { mail, _ = o.awake(c, now, mail) })
	return len(mail) > 0
}

// yielding is the state after the last round: others may want the lock. What is left
// is in the mailbox, or goes back to its waiter.
type yielding struct{}

func (yielding) next(o *owner) state {
	if o.course.unmatched { // the next owner would not know
		hd := o.header()
		if _, err := o.lookQueue(o.ctx, &hd); err != nil {
			return releasing{err: err}
		}
	}
	return releasing{more: true}
}

// releasing is the last state. It gives everything back: the lock, the waiters that
// were not served, the places.
type releasing struct {
	err  error // why it ends before its time; nil: it does not
	more bool  // there is work left
}

func (s releasing) next(o *owner) state {
	n := o.n
	if o.seat.place != nil {
		defer n.slots.Leave(*o.seat.place)
	}
	defer n.quarantine.Leave(o.handle)
	o.endsLong()
	n.warm.Put(o.id, o.live)
	n.forget(o.handle)
	o.undrop()
	o.stop(nil)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(o.ctx), releaseTimeout)
	defer cancel()
	o.takeBackMark(ctx, o.mark) // before others have the instance
	err := s.err
	if errors.Is(err, store.ErrFenced) {
		o.own.Released() // there is nothing to delete
	} else {
		// With the key goes what a commit of unknown outcome was to be proved by.
		if rerr := o.own.Release(ctx); rerr != nil {
			// The work is done; the lease frees the lock at the latest.
			n.cfg.Log.Warn("lock not released; its lease will free it", "instanceId", o.id, "error", rerr)
		}
	}
	if err == nil {
		err = errLeft
	}
	o.close(o.base, err)
	if s.more || o.inbox.unseen() {
		n.cfg.Wakeups.Hint([]string{o.id}, false)
	}
	return nil
}

const releaseTimeout = 5 * time.Second
