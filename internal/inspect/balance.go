package inspect

import (
	"context"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
)

// Balance is what was accepted durably and what became of it; see [store.Balance].
type Balance = store.Balance

// Balance reads the balance as it was counted last.
func (i *Inspector) Balance(ctx context.Context) (*Balance, error) {
	b, err := i.cfg.Reader.Balance(ctx)
	if err != nil {
		return nil, etcdstore.ReadFailed("balance", err)
	}
	if b == nil {
		return nil, &workflow.Error{Code: workflow.CodeUnavailable, RetryAfter: 2 * time.Second, Detail: "no node has counted the balance yet; one does so a second or two after the cluster was started for the first time"}
	}
	return b, nil
}
