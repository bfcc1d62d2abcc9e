package upkeep

import (
	"context"
	"sync/atomic"
	"time"
)

const sendsEvery = time.Second // while there are send records

// resolveSends works off send records: those that this node's commits left, and
// by sweep those that others left.
func (r *Upkeep) resolveSends(ctx context.Context) error {
	cursor, some := "", false
	every := func() time.Duration {
		if some {
			return sendsEvery
		}
		return r.rest(sendsEvery)
	}
	return r.pacedLoop(ctx, "send records", every, r.cfg.Wakeups.sends, func(ctx context.Context) (bool, error) {
		some = true // until a look says otherwise
		if r.intake.HoldsBack() {
			return false, nil
		}
		sends, next, err := r.cfg.Store.Sends(ctx, cursor, 100)
		if err != nil {
			return false, err
		}
		some = cursor != "" || len(sends) > 0
		cursor = next
		var again atomic.Bool
		err = sideBySide(sendsAtOnce, len(sends), func(i int) error {
			more, err := r.cfg.Runtime.Resolve(ctx, &sends[i])
			if more {
				again.Store(true)
			}
			return err
		})
		return next != "" || again.Load() && err == nil, err
	})
}
