package lookup

import (
	"cmp"
	"context"
	"errors"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// Conn is base with what is known of instances that wait at many places, and of what is
// looked at often.
type Conn struct {
	*record.Conn
	PartsKnown func(form int) bool // see Config.PartsKnown
	Archived   Archived            // see Config.Archived; nil: there is no archive
	Width      Width

	Waiting, Queue, Sending, Boxes *Follower // of bookmarks, slices of the queue, send records, mailboxes
}

// Archived gives an instance that has ended and is in the archive; nil: there is none of this id.
type Archived func(ctx context.Context, id string) (*workflow.Instance, error)

// New is what is known beside a connection. Without partsKnown all nodes read all forms.
func New(of *record.Conn, width Width, partsKnown func(form int) bool) *Conn {
	c := &Conn{Conn: of, PartsKnown: partsKnown, Width: width.WithDefaults()}
	if c.PartsKnown == nil {
		c.PartsKnown = func(int) bool { return true }
	}
	c.Waiting, c.Queue = newFollower(c, c.Keys.Root+"bookmark/", false), newFollower(c, c.Keys.Queues(), true)
	c.Sending, c.Boxes = newFollower(c, c.Keys.Sends(), true), newFollower(c, c.Keys.Mailboxes(), true)
	return c
}

// Reading is how much of instances is read.
type Reading int

// What of an instance is read.
const (
	AsListed   Reading = iota // what their records say alone
	WithPlaces                // and all the places where they wait
	InWhole                   // and its input, output and state
)

// Records reads so much of instances by their ids, at a revision (0: each chunk at the present one), as
// long as a page holds them, and gives each to do, nil if it is not there or damaged, which is
// said then. It returns how many of ids it has looked at: all, unless do said that it was
// enough, or the page is full.
func (s *Conn) Records(ctx context.Context, ids []string, much Reading, revision int64, do func(i int, r *store.Record, damage error) (enough bool)) (int, error) {
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
				rec, damage = record.DecodeRecord(kvs[0])
				size, apart := db.PlainSize(kvs[0].Value), damage == nil && (much == InWhole && len(rec.Parts) > 0 || much == WithPlaces && rec.Header.MoreWaits > 0)
				if apart {
					size = record.SizeWithParts(kvs[0].Value, rec)
				}
				if !b.Has(size) {
					return at, nil
				}
				if apart {
					if rec, damage = PartsOf(s).JoinAt(ctx, kvs[0], resp.Header.Revision, db.Decode); damage != nil && !errors.Is(damage, db.ErrDamaged) {
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

// Width says what of instances that wait at many places is written otherwise than of others. Tests turn it down.
type Width struct {
	Ops     int // keys of the index that one transaction changes at most (default 2,500)
	PageOps int // operations of a page of the index, about: what comes in between, of this instance's neighbours, waits for it (default 2,000)
	Places  int // at more than so many the record says where it waits in parts (default 5,000)
	Stays   int // and goes on to, at less than half as many, while the state has more bytes than these (default 1 MiB)
	Part    int // bytes of such a part, at least; on average it has four times as many (default 16 KiB)
	Ahead   int // bytes of new parts, above which they are written before their commit (default 1 MiB)
	Listed  int // the first places, which stay in the record (default 100)
}

// WithDefaults is w with what is not set.
func (w Width) WithDefaults() Width {
	return Width{cmp.Or(w.Ops, db.MaxOps), cmp.Or(w.PageOps, 2000), cmp.Or(w.Places, 5000), cmp.Or(w.Stays, 1<<20), cmp.Or(w.Part, 16<<10), cmp.Or(w.Ahead, 1<<20), cmp.Or(w.Listed, 100)}
}
