package upkeep

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/pkg/cluster"
)

// control follows what stops work: the pause flag, and cancels.
type control struct{ worker }

// watchControl follows the pause flag and the interrupt keys by watch, and by a
// slow look behind it.
func (c *control) watchControl(ctx context.Context) error {
	for ctx.Err() == nil {
		c.followControl(ctx)
		pace.Pause(ctx, pace.Jitter(time.Second)) // the watch broke: make a new one
	}
	return nil
}

// followControl returns when ctx ends or the watch breaks.
func (c *control) followControl(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	names := c.cfg.Store.WatchControl(ctx)
	sweep := time.NewTimer(0)
	defer sweep.Stop()
	for {
		select {
		case id, ok := <-names:
			switch {
			case !ok:
				return
			case id == "":
				c.readControl(ctx)
			default:
				c.cfg.Node.Interrupt(id)
			}
		case <-sweep.C:
			c.readControl(ctx)
			sweep.Reset(pace.Jitter(controlSweep))
		}
	}
}

const controlSweep = 5 * time.Second // behind the watch

// readControl looks at the pause flag and at the interrupt keys.
func (c *control) readControl(ctx context.Context) {
	now, err := c.cfg.Store.Control(ctx)
	if err != nil {
		return // the next look tells
	}
	c.showPause(ctx, now.Paused, now.PauseRevision)
	for _, id := range now.Cancelled {
		c.cfg.Node.Interrupt(id)
	}
}

// showPause takes the flag over and shows it, with how far the catalogue is, in the
// node's record. So a node that starts writes it a second time at once, by which the
// others soon know its clock.
func (c *control) showPause(ctx context.Context, paused bool, set int64) {
	c.intake.SetPaused(paused)
	revision := c.cfg.Catalog.Revision()
	if own := c.ownRecord(); own != nil && own.PauseRevision == set && own.CatalogRevision == revision {
		return
	}
	err := c.cfg.Session.UpdateNode(ctx, func(n *cluster.Node) { n.Paused, n.PauseRevision, n.CatalogRevision = paused, set, revision })
	if err != nil && ctx.Err() == nil {
		c.cfg.Log.DebugContext(ctx, "node record not up to date yet", "error", err)
	}
}

// ownRecord is this node's record as the members show it; nil if they do not.
func (c *control) ownRecord() *cluster.Node {
	for _, n := range c.cfg.Session.Members() {
		if n.ID == c.cfg.Session.NodeID() {
			return &n
		}
	}
	return nil
}

// both runs two loops and waits for both.
func both(ctx context.Context, a, b func(context.Context) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return a(ctx) })
	g.Go(func() error { return b(ctx) })
	return g.Wait()
}
