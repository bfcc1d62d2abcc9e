package etcdstore

import (
	"context"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/cut"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
)

// Whole reads the parts of a record that its owner read without them. [store.ErrConflict]: the instance has moved.
func Whole(ctx context.Context, s *Instances, r *store.Record) (*store.Record, error) {
	if !r.Apart {
		return r, nil
	}
	full, err := lookup.PartsOf(s.conn).Join(ctx, &mvccpb.KeyValue{Key: []byte(s.conn.Keys.Instance(r.Header.ID)), Value: r.Text, ModRevision: r.Modified}, db.DecodeWhole)
	if lookup.IsMoved(err) {
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

// Ending reads of such a record what its end needs: its input and output, and its state piece by piece. An error of the
// code not-runnable-here: another program wrote what this one does not know.
func Ending(ctx context.Context, s *Instances, r *store.Record) (*store.Record, *store.ListReader, error) {
	parts, e := lookup.PartsOf(s.conn), *r
	if err := lookup.ReadInOut(ctx, parts, &e, db.DecodeWhole); err != nil {
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
