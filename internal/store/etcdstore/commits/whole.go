package commits

import (
	"context"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
)

// Whole reads the parts of a record that its owner read without them. [store.ErrConflict]: the instance has moved.
func Whole(ctx context.Context, s *Instances, r *store.Record) (*store.Record, error) {
	return lookup.Whole(ctx, s.conn, r)
}

// Ending reads of such a record what its end needs: its input and output, and its state piece by piece. An error of the
// code not-runnable-here: another program wrote what this one does not know.
func Ending(ctx context.Context, s *Instances, r *store.Record) (*store.Record, *store.ListReader, error) {
	return lookup.Ending(ctx, s.conn, r)
}
