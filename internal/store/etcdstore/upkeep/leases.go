package upkeep

import (
	"context"
	"time"

	"github.com/weft-run/weft/internal/store/etcdstore/claims"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
)

// EndLeases ends the claims whose leases are over: their tasks are free, or their instances are told that an attempt failed.
func (s *Upkeep) EndLeases(ctx context.Context, due []record.Due, now time.Time) (claims.Ended, error) {
	all := make([]claims.Lease, len(due))
	for i := range due {
		all[i] = claims.Lease{TaskLease: due[i].Lease, Key: due[i].Key, Created: due[i].Created}
	}
	return s.conn.WorkerClaims().EndLeases(ctx, all, now)
}
