package refresh

import (
	"context"
	"log/slog"
	"time"

	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/metrics"
)

// DistributedRefresher lets one node of the cluster at a time do the same
// refresh.
type DistributedRefresher struct {
	Inner   Refresher        // does it; required
	Locks   *cluster.Locks   // required
	Log     *slog.Logger     // required
	Metrics *metrics.Metrics // nil: none
}

var _ Refresher = (*DistributedRefresher)(nil)

// Refresh tries the lock of exactly this set of definitions. If it is held the
// result is [AlreadyInProgress] with the holder, and no error.
func (d *DistributedRefresher) Refresh(ctx context.Context, ids []string) (Result, error) {
	ids = distinct(ids)
	began := time.Now()
	worked := false
	var r Result
	held, err := hold(ctx, d.Locks, cluster.RefreshLock(ids), d.Log, func(ctx context.Context) (err error) {
		worked = true // and counts itself
		r, err = d.Inner.Refresh(ctx, ids)
		return err
	})
	switch {
	case held != nil:
		d.Metrics.Refresh(metrics.TargetRefresh, metrics.RefreshAlreadyInProgress, time.Since(began))
		d.Log.DebugContext(ctx, "refresh is in progress elsewhere", "holder", held.Holder.NodeID, "lock", held.Name.String())
		return refused(held, ids), nil
	case err != nil && !worked:
		d.Metrics.Refresh(metrics.TargetRefresh, metrics.RefreshFailed, time.Since(began))
	}
	return r, err
}
