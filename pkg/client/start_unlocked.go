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
// leaves it free. Where that is not enough, because the cause has to become
// durable before the burst ends, or the burst goes on after a commit, the lock is
// taken first: see [owner.lock].
type unlockedStart struct {
	standing *cluster.Membership
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
	return &unlockedStart{standing: standing, lock: d.take}, &store.Loaded{Head: a.head}, nil
}

// owner is how the instance is owned now.
func (o *owner) ownership() ownership {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.own
}

// unlocked gives what guards the commit c of an instance that exists only here.
// It is nil if there is a lock, which there is when it returns if c needs one: a
// burst that goes on after its commit, or more bookmarks than one look compares.
// The caller has the right to write.
func (o *owner) unlocked(ctx context.Context, c *store.Commit, goOn bool) error {
	b, ok := o.ownership().(*unlockedStart)
	if !ok {
		return nil
	}
	if goOn || c.Before != nil || c.Delete || len(c.Created) > etcdstore.MaxUnlocked {
		return o.relock(ctx, c)
	}
	c.Unlocked = &store.Unlocked{Key: b.standing.Key, Lease: int64(b.standing.Lease)}
	for _, done := range c.Consumed {
		if st := done.Command.Start; st != nil && st.Head > 0 {
			c.Unlocked.Definition, c.Unlocked.Head = st.DefinitionID, st.Head
		}
	}
	return nil
}

// relock puts c under the lock.
func (o *owner) relock(ctx context.Context, c *store.Commit) error {
	if err := o.lock(ctx); err != nil {
		return err
	}
	c.Unlocked, c.Fence, c.SeenMail = nil, o.ownership().Fence(), o.seen
	return nil
}

// lock takes the lock of an instance that was begun without. The caller has the
// right to write. Nobody contends: whoever could know the id learns it from us.
func (o *owner) lock(ctx context.Context) error {
	b, ok := o.ownership().(*unlockedStart)
	if !ok {
		return nil
	}
	a := preloadFor(o.inbox.firstRunning())
	own, loaded, err := b.lock(ctx, a)
	if err != nil {
		return fmt.Errorf("%w: %w", etcdstore.ErrUnknown, err)
	}
	if err := o.under(b, own, loaded, a); err != nil {
		if rerr := own.Release(ctx); rerr != nil {
			o.n.cfg.Log.WarnContext(ctx, "lock not released; its lease will free it", "instanceId", o.id, "error", rerr)
		}
		return err
	}
	return nil
}

// under goes on under a lock, unless it came too late.
func (o *owner) under(b *unlockedStart, own ownership, loaded *store.Loaded, a preload) error {
	lock, ok := own.(owned)
	if !ok || !b.standing.SameEpoch(lock.Lock) || loaded.Record != nil {
		return fmt.Errorf("instance %s: what it was begun with is over: %w", o.id, store.ErrFenced)
	}
	if a.definition != "" && loaded.Head != a.head {
		o.stale()
		o.stop(errStale)
		return store.ErrStale
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over {
		return fmt.Errorf("instance %s was given up: %w", o.id, store.ErrFenced)
	}
	o.own, o.seen = own, loaded.Revision
	return nil
}

var errStale = errors.New("the definition was changed meanwhile")

// stale answers starts whose definition was published anew: they are to be
// planned again.
func (o *owner) stale() {
	o.inbox.answerRunning(func(w *waiter) (Result, error) { return Result{}, moved(&w.cmd) })
}

func moved(cmd *workflow.Command) error {
	id := ""
	if cmd.Start != nil {
		id = cmd.Start.DefinitionID
	}
	return workflow.Fail(workflow.CodeDefinitionMoved, "definition "+id+" was changed meanwhile")
}
