package inspect

import (
	"context"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/workflow"
)

// Receipts are the requests that came with one Idempotency-Key, all as they were at one revision.
type Receipts struct {
	Of       []Receipt
	More     bool // there are others
	Revision int64
}

// Receipt is what became of one of them.
type Receipt struct {
	store.Receipt
	KeptUntil time.Time // about when it is forgotten, by this node's clock
}

// Receipts tells what became of the requests that came with a caller's Idempotency-Key. Error:
// [workflow.CodeReceiptNotFound].
func (i *Inspector) Receipts(ctx context.Context, key string) (Receipts, error) {
	read, err := i.cfg.Reader.Receipts(ctx, key)
	if err != nil {
		return Receipts{}, etcdstore.ReadFailed("receipts", err)
	}
	if len(read.Of) == 0 {
		return Receipts{}, workflow.Fail(workflow.CodeReceiptNotFound, "nothing is known of this Idempotency-Key: no request came with it, or it was refused and nothing was done; or it came longer ago than keys are kept; or a node still works on it and has accepted nothing")
	}
	out := Receipts{More: read.More, Revision: read.Revision}
	age, now := i.cfg.Age(), i.cfg.Now().UTC()
	for _, r := range read.Of {
		out.Of = append(out.Of, Receipt{r, now.Add(max(0, read.Kept-age.Of(r.Modified)))})
	}
	return out, nil
}
