package lookup

import (
	"context"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/claims"
)

// WorkerClaims are the claims of workers, which look at the instances that wait.
func (s *Conn) WorkerClaims() *claims.Claims {
	return claims.New(s.Conn, func(ctx context.Context, ids []string, do func(i int, r *store.Record, damage error)) (int, error) {
		return s.Records(ctx, ids, WithPlaces, 0, func(i int, r *store.Record, damage error) bool {
			do(i, r, damage)
			return false
		})
	})
}
