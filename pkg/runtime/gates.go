package runtime

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/pkg/workflow"
)

// workGates starts what waits behind gates: the commit that frees one wakes the
// node that made it, and a sweep finds what a node left that has vanished in
// between. All that waits is looked at, so one node does it for all.
func (r *Runtime) workGates(ctx context.Context) error {
	swept := time.Time{}
	var vanished atomic.Bool
	gone := func() {
		vanished.Store(true)
		signal(r.cfg.Work.gates)
	}
	return r.besideVanished(ctx, gone, func(ctx context.Context) error {
		return r.loop(ctx, "gates", queueLook, r.cfg.Work.gates, func(ctx context.Context) (bool, error) {
			if r.holdsBack() || r.space.get() != roomy {
				return false, nil // those that were freed are kept
			}
			if vanished.Swap(false) || time.Since(swept) >= queueSweep {
				swept = time.Now()
				if err := r.sweepGates(ctx); err != nil {
					swept = time.Time{} // all of it again
					return false, err
				}
			}
			gates := r.cfg.Work.takeFreed()
			err := sideBySide(sendsAtOnce, len(gates), func(i int) error {
				err := r.startHeld(ctx, gates[i])
				if err != nil {
					r.cfg.Work.keepFreed(gates[i])
				}
				return err
			})
			return false, err
		})
	})
}

// sweepGates finds every gate behind which starts wait and that nobody holds, on the
// node that is preferred for it.
func (r *Runtime) sweepGates(ctx context.Context) error {
	waiting := 0
	if r.cfg.Session.PreferredNode("gates") != r.cfg.Session.NodeID() {
		r.cfg.Metrics.SetGated(0)
		return nil
	}
	for cursor := ""; ; {
		freed, n, next, err := r.cfg.Upkeep.FreedGates(ctx, cursor)
		if err != nil {
			return err
		}
		for _, g := range freed {
			r.cfg.Work.Freed(g)
		}
		waiting += n
		if cursor = next; next == "" {
			r.cfg.Metrics.SetGated(waiting)
			return nil
		}
	}
}

// startHeld starts the oldest that waits behind a gate, unless it is held. Whoever
// holds it then wakes the next by its end.
func (r *Runtime) startHeld(ctx context.Context, g store.Gate) error {
	for {
		held, item, bad, err := r.cfg.Upkeep.NextHeld(ctx, g)
		if bad != nil {
			r.cfg.Log.ErrorContext(ctx, "what waits behind a gate cannot be read; it is passed over", "error", bad)
		}
		if err != nil || held || item == nil {
			return err
		}
		started, more, err := r.startItem(ctx, item)
		if started != "" {
			r.cfg.Work.Hint([]string{started}, false)
		}
		if err != nil || !more {
			return err
		}
	}
}

// startItem starts one; more: the gate is as it was.
func (r *Runtime) startItem(ctx context.Context, item *store.QueueItem) (started string, more bool, err error) {
	ctx, span := r.cfg.Tracer.Resolve(ctx, tracing.Origin{Trace: item.Trace, Sent: item.CreatedAt})
	defer span.End()
	p := triggerPlan(item.Held.Event, item.Held.Trigger, &item.Stimulus, r.cfg.Now().UTC())
	p.trigger, p.gate, p.cmd.Trace = nil, &item.Held.Gate, tracing.Traceparent(ctx)
	out, err := r.cfg.Upkeep.StartHeld(ctx, item, p.instance())
	switch {
	case errors.Is(err, etcdstore.ErrTooLarge): // it would be, each time, in the way of those behind it
		return "", true, r.buryHeld(ctx, item, err)
	case err != nil:
		return "", false, err
	case out == etcdstore.HeldStarted:
		return p.id, false, nil
	case out == etcdstore.HeldDone:
		return "", true, r.cfg.Upkeep.DropHeld(ctx, item)
	}
	return "", out == etcdstore.HeldGone, nil
}

// buryHeld gives up on a start that waited, and fits no transaction.
func (r *Runtime) buryHeld(ctx context.Context, item *store.QueueItem, cause error) error {
	buried, err := r.cfg.Upkeep.BuryHeld(ctx, item, cause.Error(), r.cfg.Now().UTC())
	if buried {
		r.cfg.Metrics.DeadLetter(workflow.DeadTooLarge)
	}
	return err
}
