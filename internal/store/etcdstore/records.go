package etcdstore

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
)

// attempt names one attempt to do something, which is sent again only as it is;
// a new attempt of the same thing has another name.
func attempt(id string, at time.Time) string { return id + "@" + strconv.FormatInt(at.UnixNano(), 10) }

// base is the one connection of a cluster's store with its keys: it writes and reads
// the records that more than one part has to know.
type base struct {
	*db.Conn
	keys keys

	elapsed atomic.Int64 // milliseconds; how old the cluster is, as far as this node knows; see [Upkeep.Age]
}

// conn is base with what is known of instances that wait at many places, and of what is
// looked at often.
type conn struct {
	*base
	partsKnown func(form int) bool // see [Config.PartsKnown]
	width      Width

	waiting, queued, sending, boxes *follower // of bookmarks, slices of the queue, send records, mailboxes
}

// void is what a transaction's Else does so that its refusal is conclusive
// although a compare can become true again: it leaves a record that the
// transaction compares as absent, unless the refusal came from its own earlier
// success, which applied shows.
func (s *base) void(record string, applied ...string) clientv3.Op {
	var cmps []clientv3.Cmp
	for _, key := range applied {
		cmps = append(cmps, db.Absent(key))
	}
	return clientv3.OpTxn(cmps, s.putVoid(record), nil)
}

// putVoid writes the record.
func (s *base) putVoid(record string) []clientv3.Op {
	o := db.NewOps()
	o.PutRaw(record, []byte(`{"outcome":"void"}`))
	o.PutRaw(s.keys.expiry(s.elapsed.Load(), record), nil)
	return o.List()
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
			reads[i] = clientv3.OpGet(s.keys.instance(id), clientv3.WithRev(revision))
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
