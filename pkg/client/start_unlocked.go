package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/workflow"
)

// unlockedStart is the ownership of an instance that exists only here: its id was made a
// moment ago and nobody has seen it. Its first commit makes it durable and
// visible in one write, guarded by the node's session (store.Unlocked), and
// leaves it free, or takes the lock if the burst goes on after it. Where that is not
// enough, because the cause has to become durable before the burst ends, the lock is
// taken first: see [owner.lock].
type unlockedStart struct {
	standing *cluster.Membership
	reserve  func() (*cluster.Reservation, bool)
	lock     acquireFunc
}

func (b *unlockedStart) Context() context.Context    { return b.standing.Context() }
func (*unlockedStart) Fence() *store.Fence           { return nil }
func (*unlockedStart) Release(context.Context) error { return nil }
func (*unlockedStart) Released()                     {}

// startUnlocked takes an instance that exists only here.
func (d Distributed) startUnlocked(_ context.Context, a preload) (ownership, *store.Loaded, error) {
	standing, err := d.locks.Membership()
	if err != nil {
		return nil, nil, unavailable(fmt.Sprintf("instance %s cannot be started", d.id), err)
	}
	own := &unlockedStart{standing: standing, lock: d.take}
	own.reserve = func() (*cluster.Reservation, bool) { return d.locks.Reserve(standing, cluster.InstanceLock(d.id)) }
	return own, &store.Loaded{Head: a.head}, nil
}

// unlocked gives the commit c what guards it without a lock, with the reservation of the
// lock if the burst goes on after the first one of an instance that exists only here. It
// gives nothing if there is a lock, which there is when it returns if c needs one before: it
// makes more bookmarks wait than one look compares, or this node has not got rid of an
// earlier key of the lock yet.
func (o *owner) unlocked(ctx context.Context, c *store.Commit) (*cluster.Reservation, error) {
	goesOn := c.Continue != nil || o.n.cfg.Store.TakesPlace(c)
	tooMuch := c.Delete || !goesOn && etcdstore.Waits(c) > etcdstore.MaxUnlocked
	if b, ok := o.own.(*unlockedResume); ok {
		if tooMuch || goesOn {
			return nil, o.relock(ctx, c)
		}
		c.Unlocked = &store.Unlocked{Key: b.standing.Key, Lease: int64(b.standing.Lease), Prefix: b.prefix}
		return nil, nil
	}
	b, ok := o.own.(*unlockedStart)
	if !ok {
		return nil, nil
	}
	if c.Before != nil || tooMuch {
		return nil, o.relock(ctx, c)
	}
	var reserved *cluster.Reservation
	if goesOn {
		if reserved, ok = b.reserve(); !ok {
			return nil, o.relock(ctx, c)
		}
	}
	c.Unlocked = &store.Unlocked{Key: b.standing.Key, Lease: int64(b.standing.Lease)}
	if reserved != nil {
		c.Unlocked.Lock = &store.LockKey{Key: reserved.Key, Prefix: reserved.Prefix, Value: reserved.Value, Lease: int64(reserved.Lease)}
	}
	for _, done := range c.Consumed {
		if st := done.Command.Start; st != nil && st.Head > 0 {
			c.Unlocked.Definition, c.Unlocked.Head = st.DefinitionID, st.Head
		}
	}
	return reserved, nil
}

// lockTaken goes on under the lock that the commit took. Where it took none, who has it
// finds the rest of the burst in the mailbox.
func (o *owner) lockTaken(ctx context.Context, reserved *cluster.Reservation, res *store.Committed, err error) {
	if err != nil || res.Locked == 0 {
		reserved.Abandon(!errors.Is(err, etcdstore.ErrTooLarge))
		return
	}
	lock, err := reserved.Taken(ctx, res.Locked)
	if err != nil { // the session has ended, and the lock with it
		res.Released, res.Waits, res.Kept = true, true, nil
		return
	}
	o.own = owned{lock}
}

// relock puts c under the lock.
func (o *owner) relock(ctx context.Context, c *store.Commit) error {
	err := o.lock(ctx)
	if errors.Is(err, store.ErrStale) {
		o.stop(errStale)
	}
	if err != nil {
		return err
	}
	c.Unlocked, c.Fence, c.SeenMail = nil, o.own.Fence(), o.seen
	return nil
}

// lock takes the lock of an instance that is worked without, unless there is one.
func (o *owner) lock(ctx context.Context) error {
	switch b := o.own.(type) {
	case *unlockedStart:
		return o.lockStart(ctx, b)
	case *unlockedResume:
		return o.lockResume(ctx, b)
	}
	return nil
}

// lockStart is lock for an instance that exists only here. No other node contends: it could
// know the id only from us.
func (o *owner) lockStart(ctx context.Context, b *unlockedStart) error {
	p := preloadFor(o.inbox.firstRunning())
	lock, loaded, err := b.lock(ctx, p)
	if err != nil {
		return fmt.Errorf("%w: %w", etcdstore.ErrUnknown, err)
	}
	if err := o.mayLock(b, lock, loaded, p); err != nil {
		o.giveUp(ctx, lock)
		return err
	}
	o.own, o.seen = lock, loaded.Revision // there was no mail
	return nil
}

// giveUp releases a lock that came too late.
func (o *owner) giveUp(ctx context.Context, lock ownership) {
	if err := lock.Release(ctx); err != nil {
		o.n.cfg.Log.WarnContext(ctx, "lock not released; its lease will free it", "instanceId", o.id, "error", err)
	}
}

// mayLock tells whether the burst may go on under a lock, which came too late if the
// session is another by now, or the definition has another version.
func (h *handle) mayLock(b *unlockedStart, own ownership, loaded *store.Loaded, p preload) error {
	lock, ok := own.(owned)
	if !ok || !b.standing.SameEpoch(lock.Lock) || loaded.Record != nil {
		return fmt.Errorf("instance %s: what it was started with is over: %w", h.id, store.ErrFenced)
	}
	if p.definition != "" && loaded.Head != p.head {
		h.stale()
		return store.ErrStale
	}
	return nil
}

var errStale = errors.New("the definition was changed at the same time")

// stale answers starts whose definition has another version by now: they are to be
// planned again.
func (h *handle) stale() {
	h.inbox.answerRunning(func(w *waiter) (Result, error) { return Result{}, moved(&w.cmd) })
}

func moved(cmd *workflow.Command) error {
	id := ""
	if cmd.Start != nil {
		id = cmd.Start.DefinitionID
	}
	return workflow.Fail(workflow.CodeDefinitionMoved, "definition "+id+" was changed at the same time")
}
