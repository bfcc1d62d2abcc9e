package refresh

import (
	"context"
	"log/slog"
	"time"

	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/metrics"
)

// DistributedReloader lets one node of the cluster at a time reload.
type DistributedReloader struct {
	Inner   Reloader         // does it; required
	Locks   *cluster.Locks   // required
	Log     *slog.Logger     // required
	Metrics *metrics.Metrics // nil: none
}

var _ Reloader = (*DistributedReloader)(nil)

// Reload tries the lock. If it is held the result is [AlreadyInProgress] with
// the holder, and no error.
func (d *DistributedReloader) Reload(ctx context.Context) (Result, error) {
	began := time.Now()
	worked := false
	var r Result
	held, err := hold(ctx, d.Locks, cluster.ReloadLock(), d.Log, func(ctx context.Context) (err error) {
		worked = true // and counts itself
		r, err = d.Inner.Reload(ctx)
		return err
	})
	switch {
	case held != nil:
		d.Metrics.Refresh(metrics.TargetReload, metrics.RefreshAlreadyInProgress, time.Since(began))
		d.Log.DebugContext(ctx, "reload is in progress elsewhere", "holder", held.Holder.NodeID, "lock", held.Name.String())
		return refused(held, nil), nil
	case err != nil && !worked:
		d.Metrics.Refresh(metrics.TargetReload, metrics.RefreshFailed, time.Since(began))
	}
	return r, err
}
