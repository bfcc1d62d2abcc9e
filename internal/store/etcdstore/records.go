package etcdstore

import (
	"context"
	"errors"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
)

// conn is base with what is known of instances that wait at many places, and of what is
// looked at often.
type conn struct {
	*record.Conn
	partsKnown func(form int) bool // see [Config.PartsKnown]
	width      Width

	waiting, queued, sending, boxes *follower // of bookmarks, slices of the queue, send records, mailboxes
}

// reading is how much of instances is read.
type reading int

const (
	asListed   reading = iota // what their records say alone
	withPlaces                // and all the places where they wait
	inWhole
)

// records reads so much of instances by their ids, at a revision (0: each chunk at the present one), as
// long as a page holds them, and gives each to do, nil if it is not there or damaged, which is
// said then. It returns how many of ids it has looked at: all, unless do said that it was
// enough, or the page is full.
func (s *conn) records(ctx context.Context, ids []string, much reading, revision int64, do func(i int, r *store.Record, damage error) (enough bool)) (int, error) {
	var b db.Budget
	for at := 0; at < len(ids); {
		chunk := ids[at:min(len(ids), at+b.Chunk())]
		reads := make([]clientv3.Op, len(chunk))
		for i, id := range chunk {
			reads[i] = clientv3.OpGet(s.Keys.Instance(id), clientv3.WithRev(revision))
		}
		resp, err := s.Read(ctx, "read instances", reads...)
		if err != nil {
			return at, err
		}
		for _, r := range resp.Responses {
			var rec *store.Record
			var damage error
			if kvs := r.GetResponseRange().Kvs; len(kvs) > 0 {
				rec, damage = decodeRecord(kvs[0])
				size, apart := db.PlainSize(kvs[0].Value), damage == nil && (much == inWhole && len(rec.Parts) > 0 || much == withPlaces && rec.Header.MoreWaits > 0)
				if apart {
					size = sizeWithParts(kvs[0].Value, rec)
				}
				if !b.Has(size) {
					return at, nil
				}
				if apart {
					if rec, damage = partsOf(s).joinAt(ctx, kvs[0], resp.Header.Revision, db.Decode); damage != nil && !errors.Is(damage, db.ErrDamaged) {
						return at - 1, damage
					}
				}
				if damage != nil {
					rec = nil
				}
			}
			if at++; do(at-1, rec, damage) {
				return at, nil
			}
		}
	}
	return len(ids), nil
}
