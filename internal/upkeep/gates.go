package upkeep

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/weft-run/weft/internal/intake"
	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/internal/tracing"
	"github.com/weft-run/weft/internal/upkeep/loop"
	"github.com/weft-run/weft/pkg/runtime"
	"github.com/weft-run/weft/pkg/workflow"
)

// gatekeeper starts what waits behind gates.
type gatekeeper struct{ worker }

// workGates starts what waits behind gates: the commit that frees one wakes the
// node that made it, and a sweep finds what a node left that has vanished in
// between. All that waits is looked at, so one node does it for all.
func (k *gatekeeper) workGates(ctx context.Context) error {
	swept := time.Time{}
	var vanished atomic.Bool
	gone := func() {
		vanished.Store(true)
		signal(k.cfg.Wakeups.gates)
	}
	return k.besideVanished(ctx, gone, func(ctx context.Context) error {
		return k.loop(ctx, "gates", queueLook, k.cfg.Wakeups.gates, func(ctx context.Context) (bool, error) {
			if k.intake.HoldsBack() || k.intake.Level() != intake.Roomy {
				return false, nil // those that were freed are kept
			}
			if vanished.Swap(false) || time.Since(swept) >= queueSweep {
				swept = time.Now()
				if err := k.sweepGates(ctx); err != nil {
					swept = time.Time{} // all of it again
					return false, err
				}
			}
			gates := k.cfg.Wakeups.takeFreed()
			err := loop.SideBySide(sendsAtOnce, len(gates), func(i int) error {
				err := k.startHeld(ctx, gates[i])
				if err != nil {
					k.cfg.Wakeups.keepFreed(gates[i])
				}
				return err
			})
			return false, err
		})
	})
}

// sweepGates finds every gate behind which starts wait and that nobody holds, on the
// node that is preferred for it.
func (k *gatekeeper) sweepGates(ctx context.Context) error {
	waiting := 0
	if k.cfg.Session.PreferredNode("gates") != k.cfg.Session.NodeID() {
		k.cfg.Metrics.SetGated(0)
		return nil
	}
	for cursor := ""; ; {
		freed, n, next, err := k.cfg.Store.FreedGates(ctx, cursor)
		if err != nil {
			return err
		}
		for _, g := range freed {
			k.cfg.Wakeups.Freed(g)
		}
		waiting += n
		if cursor = next; next == "" {
			k.cfg.Metrics.SetGated(waiting)
			return nil
		}
	}
}

// startHeld starts the oldest that waits behind a gate, unless it is held. The end of
// the instance that holds it then wakes the next.
func (k *gatekeeper) startHeld(ctx context.Context, g store.Gate) error {
	for {
		held, item, bad, err := k.cfg.Store.NextHeld(ctx, g)
		if bad != nil {
			k.cfg.Log.ErrorContext(ctx, "what waits behind a gate cannot be read; it is passed over", "error", bad)
		}
		if err != nil || held || item == nil {
			return err
		}
		started, more, err := k.startItem(ctx, item)
		if started != "" {
			k.cfg.Wakeups.Hint([]string{started}, false)
		}
		if err != nil || !more {
			return err
		}
	}
}

// startItem starts one; more: the gate is as it was.
func (k *gatekeeper) startItem(ctx context.Context, item *store.QueueItem) (started string, more bool, err error) {
	ctx, span := k.cfg.Tracer.Resolve(ctx, tracing.Origin{Trace: item.Trace, Sent: item.CreatedAt})
	defer span.End()
	instance := runtime.HeldStart(item, k.cfg.Now().UTC(), tracing.Traceparent(ctx))
	out, err := k.cfg.Store.StartHeld(ctx, item, instance)
	switch {
	case errors.Is(err, etcdstore.ErrTooLarge): // it would be, each time, in the way of those behind it
		return "", true, k.buryHeld(ctx, item, err)
	case err != nil:
		return "", false, err
	case out == etcdstore.HeldStarted:
		return instance.Header.ID, false, nil
	case out == etcdstore.HeldDone:
		return "", true, k.cfg.Store.DropHeld(ctx, item)
	}
	return "", out == etcdstore.HeldGone, nil
}

// buryHeld gives up on a start that waited, and fits no transaction.
func (k *gatekeeper) buryHeld(ctx context.Context, item *store.QueueItem, cause error) error {
	buried, err := k.cfg.Store.BuryHeld(ctx, item, cause.Error(), k.cfg.Now().UTC())
	if buried {
		k.cfg.Metrics.DeadLetter(workflow.DeadTooLarge)
	}
	return err
}
