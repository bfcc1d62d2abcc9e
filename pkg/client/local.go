package client

import (
	"context"
	"fmt"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// Local is an instance on a node that is alone: ownership is the node's own
// owner, and the commit is guarded by the instance's revision.
type Local struct {
	n  *Node
	id string
}

var _ Client = Local{}

// Local makes the client of one instance.
func (n *Node) Local(id string) Local { return Local{n: n, id: id} }

// Do implements [Client].
func (l Local) Do(ctx context.Context, cmd workflow.Command) (Result, error) {
	return l.n.do(ctx, l.id, l.take, &cmd, false, nil)
}

// Resume implements [Client].
func (l Local) Resume(ctx context.Context, cmd workflow.Command, _ *store.BookmarkRef) (Result, error) {
	return l.Do(ctx, cmd)
}

// Begin implements [Client].
func (l Local) Begin(ctx context.Context, cmd workflow.Command) (Result, error) {
	return l.Do(ctx, cmd)
}

// Work implements [Client].
func (l Local) Work(ctx context.Context, recovered bool, placed func()) error {
	defer l.n.seen(l.id)
	_, err := l.n.do(ctx, l.id, l.take, nil, recovered, placed)
	return err
}

// Remove implements [Client].
func (l Local) Remove(ctx context.Context) error {
	lines, err := l.n.cfg.Store.Remove(ctx, nil, l.id, l.n.cfg.Env().Now())
	l.n.cfg.Wakeups.Lines(lines)
	return err
}

// Busy implements [Client]; nobody else is there.
func (l Local) Busy(context.Context) (bool, error) { return false, nil }

// take loads the instance; that this node has no other owner of it is the
// ownership.
func (l Local) take(ctx context.Context, a preload) (ownership, *store.Loaded, error) {
	loaded, err := a.reads(l.n.cfg.Store, l.id).Load(ctx)
	if err != nil {
		return nil, nil, unavailable(fmt.Sprintf("instance %s could not be loaded", l.id), err)
	}
	return alone{ctx: context.WithoutCancel(ctx)}, loaded, nil
}

// alone is the ownership of a node without others.
type alone struct {
	ctx context.Context // the handle's product: it lasts until the node stops the owner
}

func (a alone) Context() context.Context    { return a.ctx }
func (alone) Fence() *store.Fence           { return nil }
func (alone) Release(context.Context) error { return nil }
func (alone) Released()                     {}
