package inspect

import (
	"context"

	"github.com/weft-run/weft/internal/store/etcdstore"
)

// Lineage are an instance's ancestors and descendants, as they were at one revision.
type Lineage = etcdstore.Lineage

// Relative is one of them.
type Relative = etcdstore.Relative

// Lineage tells who started an instance, and whom it started: to a depth, and so many
// descendants at most.
func (i *Inspector) Lineage(ctx context.Context, id string, depth, most int) (*Lineage, error) {
	l, err := i.cfg.Reader.Lineage(ctx, id, depth, most)
	if err != nil {
		return nil, etcdstore.ReadFailed("lineage of instance "+id, err)
	}
	return l, unread(id, l != nil, nil)
}
