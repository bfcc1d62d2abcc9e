package runtime

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/workflow"
)

// pauseFlag says why this node takes up no work.
type pauseFlag struct {
	paused   atomic.Bool // the cluster is paused
	draining atomic.Bool // this node is going
}

// suspended reports whether workers must not take up anything.
func (r *Runtime) suspended() bool { return r.paused.paused.Load() || r.paused.draining.Load() }

// accepting gives the error for a caller who brings work to a node that takes
// none, or none of this kind.
func (r *Runtime) accepting(w want) error {
	switch {
	case r.paused.draining.Load():
		return &workflow.Error{Code: workflow.CodeDraining, Detail: "this node is draining; send the request to another", RetryAfter: time.Second}
	case r.paused.paused.Load():
		return &workflow.Error{Code: workflow.CodePaused, Detail: "the cluster is paused; POST /api/v1/unpause lets it go on", RetryAfter: 5 * time.Second}
	}
	if w == starts {
		if err := r.keepsUp(); err != nil {
			return err
		}
	}
	return r.room(w)
}

// keepsUp is the error for a caller who starts something while the session's
// lease is renewed late. This node, its way to etcd or etcd itself has too much to
// do, and with the session everything that runs here would be lost. What exists
// goes on.
func (r *Runtime) keepsUp() error {
	since, late := r.cfg.Session.Overdue()
	if !late {
		return nil
	}
	r.cfg.Metrics.Shed(metrics.ShedStart, metrics.ShedSession)
	return &workflow.Error{Code: workflow.CodeBusy, RetryAfter: 2 * time.Second,
		Detail: fmt.Sprintf("this node could not renew its session with etcd for %v, and takes no starts until it has; send the request to another", since.Round(100*time.Millisecond))}
}

// Drain makes this node take up no more work; what runs goes on.
func (r *Runtime) Drain() { r.paused.draining.Store(true) }

// Pause stops the whole cluster from taking up work, and answers when every
// node record shows it. What runs goes on to its next wait.
func (r *Runtime) Pause(ctx context.Context) error { return r.setPaused(ctx, true) }

// Unpause lets the cluster go on, and answers when every node record shows it.
func (r *Runtime) Unpause(ctx context.Context) error { return r.setPaused(ctx, false) }

func (r *Runtime) setPaused(ctx context.Context, paused bool) error {
	var revision int64
	err := r.settle(ctx, func() (err error) {
		revision, err = r.cfg.Stimuli.SetPaused(ctx, paused)
		return err
	})
	if err != nil {
		return readFailed("pause flag", err)
	}
	changed, cancel := r.cfg.Session.MembersChanged()
	defer cancel()
	for {
		if everyNode(r.cfg.Session.Members(), revision) {
			return nil
		}
		select {
		case <-ctx.Done():
			return &workflow.Error{Code: workflow.CodeBusy, Detail: "it is set, and not every node shows it yet", RetryAfter: time.Second}
		case <-changed:
		case <-time.After(500 * time.Millisecond): // the watch is a hint
		}
	}
}

// everyNode reports whether all nodes have seen the flag of this revision.
func everyNode(nodes []cluster.Node, revision int64) bool {
	for _, n := range nodes {
		if n.PauseRevision < revision {
			return false
		}
	}
	return true
}

// watchControl follows the pause flag and the interrupt keys by watch, and by a
// slow look behind it.
func (r *Runtime) watchControl(ctx context.Context) error {
	for ctx.Err() == nil {
		r.followControl(ctx)
		pace.Pause(ctx, pace.Jitter(time.Second)) // the watch broke: make a new one
	}
	return nil
}

// followControl returns when ctx ends or the watch breaks.
func (r *Runtime) followControl(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	names := r.cfg.Upkeep.WatchControl(ctx)
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
			sweep.Reset(pace.Jitter(5 * time.Second))
		}
	}
}

// readControl looks at the pause flag and at the interrupt keys.
func (r *Runtime) readControl(ctx context.Context) {
	r.readPause(ctx)
	if ids, err := r.cfg.Upkeep.Cancelled(ctx); err == nil {
		for _, id := range ids {
			r.cfg.Node.Interrupt(id)
		}
	}
}

// readPause takes the flag from etcd and shows it, with how far the catalogue
// is, in the node's record.
func (r *Runtime) readPause(ctx context.Context) {
	paused, set, err := r.cfg.Upkeep.Paused(ctx)
	if err != nil {
		return // the next look tells
	}
	r.paused.paused.Store(paused)
	revision := r.cfg.Catalog.Revision()
	if own := r.ownRecord(); own != nil && own.PauseRevision == set && own.CatalogRevision == revision {
		return
	}
	err = r.cfg.Session.UpdateNode(ctx, func(n *cluster.Node) { n.Paused, n.PauseRevision, n.CatalogRevision = paused, set, revision })
	if err != nil && ctx.Err() == nil {
		r.cfg.Log.DebugContext(ctx, "node record not up to date yet", "error", err)
	}
}

// ownRecord is this node's record as the members show it; nil if they do not.
func (r *Runtime) ownRecord() *cluster.Node {
	for _, n := range r.cfg.Session.Members() {
		if n.ID == r.cfg.Session.NodeID() {
			return &n
		}
	}
	return nil
}

// both runs two loops and waits for both.
func (r *Runtime) both(ctx context.Context, a, b func(context.Context) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return a(ctx) })
	g.Go(func() error { return b(ctx) })
	return g.Wait()
}
