package lookup

import (
	"context"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/cut"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
)

// Whole is [commits.Whole] over a connection.
func Whole(ctx context.Context, s *Conn, r *store.Record) (*store.Record, error) {
	if !r.Apart {
		return r, nil
	}
	full, err := PartsOf(s).Join(ctx, &mvccpb.KeyValue{Key: []byte(s.Keys.Instance(r.Header.ID)), Value: r.Text, ModRevision: r.Modified}, db.DecodeWhole)
	if IsMoved(err) {
		return nil, fmt.Errorf("read instance %s: %w", r.Header.ID, store.ErrConflict)
	}
	if err != nil {
		return nil, err
	}
	if r.Unwritten == nil {
		full.Unwritten = nil // it was written since
	}
	return full, nil
}

// Ending is [commits.Ending] over a connection.
func Ending(ctx context.Context, s *Conn, r *store.Record) (*store.Record, *store.ListReader, error) {
	parts, e := PartsOf(s), *r
	if err := ReadInOut(ctx, parts, &e, db.DecodeWhole); err != nil {
		return nil, nil, err
	}
	for _, err := range parts.PlacesIn(ctx, r.Header.ID, cut.Find(r.Text, r.Parts, "header", "bookmarks"), nil, db.DecodeWhole) {
		if err != nil {
			return nil, nil, err
		}
	}
	state := cut.Find(r.Text, r.Parts, "state", "")
	if state == nil {
		return nil, nil, fmt.Errorf("%w: instance %s has no state", db.ErrDamaged, r.Header.ID)
	}
	return &e, parts.Reader(ctx, r.Header.ID, state), nil
}
