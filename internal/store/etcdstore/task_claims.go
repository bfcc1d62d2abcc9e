package etcdstore

import (
	"context"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/claims"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/pkg/workflow"
)

func claimsOf(c *lookup.Conn) *claims.Claims {
	return claims.New(c.Conn, func(ctx context.Context, ids []string, do func(i int, r *store.Record, damage error)) (int, error) {
		return c.Records(ctx, ids, lookup.WithPlaces, 0, func(i int, r *store.Record, damage error) bool {
			do(i, r, damage)
			return false
		})
	})
}

// Claimed tells whether a task is claimed so.
func (s *Instances) Claimed(ctx context.Context, task string, c *workflow.TaskClaim) (bool, error) {
	is, err := claimsOf(s.conn).Of(ctx, task, c)
	return is != nil && is.Revision == c.Revision, err
}

// EndLeases frees the tasks of claims whose leases are over. It gives how many it freed.
func EndLeases(ctx context.Context, s *Upkeep, due []Due, now time.Time) (freed int, err error) {
	all := make([]claims.Lease, len(due))
	for i := range due {
		all[i] = claims.Lease{TaskLease: due[i].lease, Key: due[i].key, Created: due[i].created}
	}
	return claimsOf(s.conn).EndLeases(ctx, all, now)
}
