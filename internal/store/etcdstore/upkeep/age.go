package upkeep

import (
	"context"
	"slices"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
)

// Age reads how old the cluster is; it has no marks if nobody ever wrote that.
//
// Marks of another etcd say nothing of the revisions of this one, which a restore
// or a copy has begun again: then what is there counts as new. Two that were set up
// with the same names have the same id; but all marks are revisions of this key.
func (s *Upkeep) Age(ctx context.Context) (*store.Age, error) { return s.conn.Age(ctx) }

// AdvanceAge lets the cluster be older than a by what has passed since a was
// read or written. False: another node did that, or an earlier copy of this; or it is
// foreign: it would lose what this program does not know. Then what is there lives longer.
//
// If: the mod revision as read, so that no time counts twice. A copy that comes
// late says less than has passed.
func (s *Upkeep) AdvanceAge(ctx context.Context, a *store.Age, passed time.Duration) (*store.Age, bool, error) {
	if a.Foreign {
		return nil, false, nil
	}
	next := &store.Age{Elapsed: (a.Elapsed + max(passed, time.Millisecond)).Truncate(time.Millisecond), Etcd: a.Etcd, Marks: slices.Clone(a.Marks)}
	next.Thin()
	var modified int64
	if n := len(a.Marks); n > 0 {
		modified = a.Marks[n-1].Revision
	}
	stored := record.StoredAge{Etcd: record.EtcdID(a.Etcd), Elapsed: next.Elapsed.Milliseconds()}
	for _, m := range next.Marks {
		stored.Marks = append(stored.Marks, [2]int64{m.Revision, m.Elapsed.Milliseconds()})
	}
	raw, err := db.Encode(stored)
	if err != nil {
		return nil, false, err
	}
	resp, err := s.conn.Txn(ctx, "advance age", []clientv3.Cmp{db.ModifiedAt(s.conn.Keys.Age(), modified)}, []clientv3.Op{db.Put(s.conn.Keys.Age(), raw)}, nil)
	if err != nil || !resp.Succeeded || resp.Header.ClusterId != a.Etcd {
		return nil, false, err
	}
	next.Marks = append(next.Marks, store.AgeMark{Revision: resp.Header.Revision, Elapsed: next.Elapsed})
	s.conn.KnowAge(next)
	return next, true, nil
}
