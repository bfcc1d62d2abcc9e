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

// begun is the ownership of an instance that exists only here: its id was made a
// moment ago and nobody has seen it. Its first commit makes it durable and
// visible in one write, guarded by the node's session (store.Unlocked), and
// leaves it free. Where that is not enough, because the cause has to become
// durable before the burst ends, or the burst goes on after a commit, the lock is
// taken first: see [holding.lock].
type begun struct {
	standing *cluster.Membership
	lock     taker
}

func (b *begun) Context() context.Context    { return b.standing.Context() }
func (*begun) Fence() *store.Fence           { return nil }
func (*begun) Release(context.Context) error { return nil }
func (*begun) Released()                     {}

// begin takes an instance that exists only here.
func (d Distributed) begin(_ context.Context, a along) (ownership, *store.Loaded, error) {
	standing, err := d.locks.Membership()
	if err != nil {
		return nil, nil, unavailable(fmt.Sprintf("instance %s cannot be started", d.id), err)
	}
	return &begun{standing: standing, lock: d.take}, &store.Loaded{Head: a.head}, nil
}

// owner is how the instance is owned now.
func (h *holding) owner() ownership {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.own
}

// unlocked gives what guards the commit c of an instance that exists only here.
// It is nil if there is a lock, which there is when it returns if c needs one: a
// burst that goes on after its commit, or more bookmarks than one look compares.
// The caller has the right to write.
func (h *holding) unlocked(ctx context.Context, c *store.Commit, goOn bool) error {
	b, ok := h.owner().(*begun)
	if !ok {
		return nil
	}
	if goOn || c.Before != nil || c.Delete || len(c.Created) > etcdstore.MaxUnlocked {
		return h.relock(ctx, c)
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
func (h *holding) relock(ctx context.Context, c *store.Commit) error {
	if err := h.lock(ctx); err != nil {
		return err
	}
	c.Unlocked, c.Fence, c.SeenMail = nil, h.owner().Fence(), h.seen
	return nil
}

// lock takes the lock of an instance that was begun without. The caller has the
// right to write. Nobody contends: whoever could know the id learns it from us.
func (h *holding) lock(ctx context.Context) error {
	b, ok := h.owner().(*begun)
	if !ok {
		return nil
	}
	h.mu.Lock()
	a := along{}
	if len(h.active) > 0 {
		a = alongFor(&h.active[0].cmd)
	}
	h.mu.Unlock()
	own, loaded, err := b.lock(ctx, a)
	if err != nil {
		return fmt.Errorf("%w: %w", etcdstore.ErrUnknown, err)
	}
	if err := h.under(b, own, loaded, a); err != nil {
		if rerr := own.Release(ctx); rerr != nil {
			h.n.cfg.Log.WarnContext(ctx, "lock not released; its lease will free it", "instanceId", h.id, "error", rerr)
		}
		return err
	}
	return nil
}

// under goes on under a lock, unless it came too late.
func (h *holding) under(b *begun, own ownership, loaded *store.Loaded, a along) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	lock, ok := own.(owned)
	if h.over || !ok || !b.standing.SameEpoch(lock.Lock) || loaded.Record != nil {
		return fmt.Errorf("instance %s: what it was begun with is over: %w", h.id, store.ErrFenced)
	}
	if a.definition != "" && loaded.Head != a.head {
		for _, w := range h.active {
			w.finish(Result{}, moved(&w.cmd))
		}
		h.stop(errStale)
		return store.ErrStale
	}
	h.own, h.seen = own, loaded.Revision
	return nil
}

var errStale = errors.New("the definition was changed meanwhile")

// stale answers starts whose definition was published anew: they are to be
// planned again.
func (h *holding) stale(hands []*waiter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range hands {
		w.finish(Result{}, moved(&w.cmd))
	}
	h.active = nil
}

func moved(cmd *workflow.Command) error {
	id := ""
	if cmd.Start != nil {
		id = cmd.Start.DefinitionID
	}
	return workflow.Fail(workflow.CodeDefinitionMoved, "definition "+id+" was changed meanwhile")
}
