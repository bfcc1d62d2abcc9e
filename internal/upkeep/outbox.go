package upkeep

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/weft-run/weft/internal/upkeep/loop"
)

// outbox works off send records.
type outbox struct{ worker }

const sendsEvery = time.Second // while there are send records

// resolveSends works off send records: those that this node's commits left, and
// by sweep those that others left.
func (o *outbox) resolveSends(ctx context.Context) error {
	cursor, some := "", false
	every := func() time.Duration {
		if some {
			return sendsEvery
		}
		return o.rest(sendsEvery)
	}
	return o.pacedLoop(ctx, "send records", every, o.cfg.Wakeups.sends, func(ctx context.Context) (bool, error) {
		some = true // until a look says otherwise
		if o.intake.HoldsBack() {
			return false, nil
		}
		sends, next, err := o.cfg.Store.Sends(ctx, cursor, 100)
		if err != nil {
			return false, err
		}
		some = cursor != "" || len(sends) > 0
		cursor = next
		var again atomic.Bool
		err = loop.SideBySide(sendsAtOnce, len(sends), func(i int) error {
			more, err := o.cfg.Runtime.Outbox.Resolve(ctx, &sends[i])
			if more {
				again.Store(true)
			}
			return err
		})
		return next != "" || again.Load() && err == nil, err
	})
}
