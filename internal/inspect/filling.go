package inspect

import (
	"context"

	"github.com/weft-run/weft/internal/store/etcdstore"
)

type (
	// Filling is what fills etcd; see [etcdstore.Filling].
	Filling = etcdstore.Filling
	// Share is a part of it.
	Share = etcdstore.Share
)

// Filling looks what fills etcd, within the usual bounds of such a look.
func (i *Inspector) Filling(ctx context.Context) (*Filling, error) {
	f, err := i.cfg.Reader.Filling(ctx, etcdstore.FillingBounds{})
	if err != nil {
		return nil, etcdstore.ReadFailed("what fills etcd", err)
	}
	return f, nil
}
