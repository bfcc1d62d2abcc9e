package upkeep

import (
	"cmp"
	"context"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
)

// balanceEvery is how often what was counted is put.
const balanceEvery = 10 * time.Second

// balanceFirst is when a node that has started looks for the first time whether it counts: people ask for the
// balance of a cluster that is new, and until somebody has counted there is none.
const balanceFirst = time.Second

// balancing counts what is accepted durably and what becomes of it.
type balancing struct{ worker }

// keepBalance counts on the node that is preferred for it. Another one goes on where the last
// put was: what two count at a time one of them puts.
func (b *balancing) keepBalance(ctx context.Context) error {
	mine := func() bool { return b.cfg.Session.PreferredNode("balance") == b.cfg.Session.NodeID() }
	first := min(balanceFirst, b.cfg.BalanceEvery)
	every := func() time.Duration {
		wait := cmp.Or(first, b.cfg.BalanceEvery)
		first = 0
		return wait
	}
	return b.pacedLoop(ctx, "balance", every, nil, func(ctx context.Context) (bool, error) {
		if !mine() {
			return false, nil
		}
		defer b.cfg.Metrics.SetBalanceDifference(0) // who goes on says it
		return false, b.cfg.Store.Reckon(ctx, etcdstore.Reckoning{
			Node: b.cfg.Session.NodeID(), Every: b.cfg.BalanceEvery, Now: b.cfg.Now, Mine: mine,
			Told: func(is *store.Balance) { b.cfg.Metrics.SetBalanceDifference(is.Difference) },
		})
	})
}
