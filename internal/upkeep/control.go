package upkeep

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/pkg/cluster"
)

// watchControl follows the pause flag and the interrupt keys by watch, and by a
// slow look behind it.
func (r *Upkeep) watchControl(ctx context.Context) error {
	for ctx.Err() == nil {
		r.followControl(ctx)
		pace.Pause(ctx, pace.Jitter(time.Second)) // the watch broke: make a new one
	}
	return nil
}

// followControl returns when ctx ends or the watch breaks.
func (r *Upkeep) followControl(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	names := r.cfg.Store.WatchControl(ctx)
	sweep := time.NewTimer(0)
	defer sweep.Stop()
	for {
		select {
		case id, ok := <-names:
			switch {
			case !ok:
				return
			case id == "":
				r.readControl(ctx)
			default:
				r.cfg.Node.Interrupt(id)
			}
		case <-sweep.C:
			r.readControl(ctx)
			sweep.Reset(pace.Jitter(controlSweep))
		}
	}
}

const controlSweep = 5 * time.Second // behind the watch

// readControl looks at the pause flag and at the interrupt keys.
func (r *Upkeep) readControl(ctx context.Context) {
	c, err := r.cfg.Store.Control(ctx)
	if err != nil {
		return // the next look tells
	}
	r.showPause(ctx, c.Paused, c.PauseRevision)
	for _, id := range c.Cancelled {
		r.cfg.Node.Interrupt(id)
	}
}

// showPause takes the flag over and shows it, with how far the catalogue is, in the
// node's record. So a node that starts writes it a second time at once, by which the
// others soon know its clock.
func (r *Upkeep) showPause(ctx context.Context, paused bool, set int64) {
	r.intake.SetPaused(paused)
	revision := r.cfg.Catalog.Revision()
	if own := r.ownRecord(); own != nil && own.PauseRevision == set && own.CatalogRevision == revision {
		return
	}
	err := r.cfg.Session.UpdateNode(ctx, func(n *cluster.Node) { n.Paused, n.PauseRevision, n.CatalogRevision = paused, set, revision })
	if err != nil && ctx.Err() == nil {
		r.cfg.Log.DebugContext(ctx, "node record not up to date yet", "error", err)
	}
}

// ownRecord is this node's record as the members show it; nil if they do not.
func (r *Upkeep) ownRecord() *cluster.Node {
	for _, n := range r.cfg.Session.Members() {
		if n.ID == r.cfg.Session.NodeID() {
			return &n
		}
	}
	return nil
}

// both runs two loops and waits for both.
func (r *Upkeep) both(ctx context.Context, a, b func(context.Context) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return a(ctx) })
	g.Go(func() error { return b(ctx) })
	return g.Wait()
}
