package client

import (
	"context"
	"fmt"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/workflow"
)

// unlockedResume is the ownership of an instance that nobody works, for commands in hand that
// resume it (docs/decisions/0006). Others may work it at the same time: of commits that
// were made from one state one is applied. The lock is taken before anything that two may
// not do: see [owner.lock].
type unlockedResume struct {
	standing *cluster.Membership
	prefix   string // below which the claimants of the lock have their keys
	lock     acquireFunc
}

func (b *unlockedResume) Context() context.Context    { return b.standing.Context() }
func (*unlockedResume) Fence() *store.Fence           { return nil }
func (*unlockedResume) Release(context.Context) error { return nil }
func (*unlockedResume) Released()                     {}

// resumeUnlocked takes an instance that nobody works, and whose mailbox is empty, without
// its lock; any other as [Distributed.take] does. What this node committed last, and
// nobody since as far as the bookmark that was found tells, is not looked at: the commit
// compares all that a look would see but mail, of which it does not have to know.
func (d Distributed) resumeUnlocked(ctx context.Context, a preload, found *store.BookmarkRef) (ownership, *store.Loaded, error) {
	standing, err := d.locks.Membership()
	if err != nil {
		return d.take(ctx, a)
	}
	own := &unlockedResume{standing: standing, prefix: d.locks.Prefix(cluster.InstanceLock(d.id)), lock: d.take}
	if fresh(a.known, found) && !d.n.contended.lately(d.id) {
		return own, &store.Loaded{Record: a.known}, nil
	}
	loaded, err := d.n.cfg.Store.Loading(d.id, a.key, a.definition, a.known).WithLock(own.prefix).Load(ctx)
	if err != nil || loaded.Locked || loaded.Record == nil || loaded.Record.Unwritten != nil || len(loaded.Mail) > 0 {
		return d.take(ctx, a) // which tries again, and knows who has it
	}
	return own, loaded, nil
}

// fresh tells whether an instance was as it is known when a bookmark of it was found: it was
// read then, or it waits there only, since the commit that is known. One that waits in
// several places may have gone on at another one.
func fresh(known *store.Record, found *store.BookmarkRef) bool {
	switch {
	case known == nil || found == nil:
		return false
	case found.Moved > 0:
		return found.Moved == known.Modified
	}
	waits := known.Header.Bookmarks
	return found.Created == known.Modified && len(waits) == 1 && waits[0].ID == found.ID
}

// free tells whether the instance is worked without its lock, beside others.
func (o *owner) free() bool {
	_, free := o.own.(*unlockedResume)
	return free
}

// onlyResumes tells whether all commands are in hand and resume the instance.
func (b *batch) onlyResumes() bool {
	for _, w := range b.hands {
		if w.cmd.Kind != workflow.CommandResume {
			return false
		}
	}
	return len(b.mail) == 0
}

// errMoved: the lock is there now, and the instance is not as it was when it was worked
// without. What was done is to be done again.
var errMoved = fmt.Errorf("the instance moved before its lock was taken: %w", store.ErrConflict)

// errMailed: nobody had looked into the mailbox, and it is not empty. What is older comes first.
var errMailed = fmt.Errorf("there was mail before its lock was taken: %w", store.ErrConflict)

// lockResume takes the lock for a burst that began without. If another has it, [ErrBusy], nothing
// was sent, and the commands belong into the mailbox. If the instance was looked at, its mailbox
// was empty then, which is up to where it is known still; if not, what lies there goes first.
func (o *owner) lockResume(ctx context.Context, b *unlockedResume) error {
	p := preloadFor(o.inbox.firstRunning())
	p.known = o.base
	lock, loaded, err := b.lock(ctx, p)
	if err != nil {
		return err
	}
	if own, ok := lock.(owned); !ok || !b.standing.SameEpoch(own.Lock) {
		o.giveUp(ctx, lock)
		return fmt.Errorf("instance %s: what it was loaded with is over: %w", o.id, store.ErrFenced)
	}
	o.own = lock
	o.n.cfg.Metrics.UnlockedResume(metrics.ResumeLocked)
	if loaded.Record == nil || o.base == nil || loaded.Record.Modified != o.base.Modified {
		o.base = loaded.Record
		return errMoved
	}
	switch {
	case len(loaded.Mail) == 0:
		o.seen = loaded.Revision
	case o.seen == 0:
		o.n.contended.note(o.id) // what lies there may stay: the next one looks first
		return errMailed
	}
	return nil
}

// barrier is before an activity that may have an effect outside: two nodes do not run that at
// the same time. It is called by the burst, which has nothing of the owner.
func (x *burst) barrier(ctx context.Context) error {
	if x.passed {
		return nil
	}
	answer := make(chan error, 1)
	x.handle.desk.ask(func(o *owner) { answer <- o.lockFor(ctx) })
	select {
	case err := <-answer:
		x.passed = err == nil
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// lockFor takes the lock for the burst of this context. One that was dropped by who was
// served before goes no further, also if the lock is there: its state is of the past.
func (o *owner) lockFor(burst context.Context) error {
	if burst.Err() != nil {
		return context.Cause(burst)
	}
	return o.lock(tracing.Within(o.ctx, o.traced))
}
