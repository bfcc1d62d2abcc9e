package etcdstore

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
)

// storedAge is the value of meta/age. Its own mod revision and Elapsed are the
// newest mark.
type storedAge struct {
	Etcd    string     `json:"etcd"`    // the id of the etcd cluster whose revisions these are
	Elapsed int64      `json:"elapsed"` // milliseconds
	Marks   [][2]int64 `json:"marks,omitempty"`
}

// Age reads how old the cluster is; it has no marks if nobody ever wrote that.
//
// Marks of another etcd say nothing of the revisions of this one, which a restore
// or a copy has begun again: then what is there counts as new. Two that were set up
// with the same names have the same id; but all marks are revisions of this key.
func (s *Upkeep) Age(ctx context.Context) (*store.Age, error) { return s.conn.age(ctx) }

// Age is [Upkeep.Age], for what the catalog lets go because it is old.
func (s *Definitions) Age(ctx context.Context) (*store.Age, error) { return s.conn.age(ctx) }

func (s *conn) age(ctx context.Context) (*store.Age, error) {
	resp, err := s.Get(ctx, "read age", s.Keys.Age())
	if err != nil {
		return nil, err
	}
	if len(resp.Kvs) == 0 {
		return &store.Age{Etcd: resp.Header.ClusterId}, nil
	}
	var stored storedAge
	foreign := false
	if err := db.DecodeWhole(resp.Kvs[0].Value, &stored); err != nil {
		s.Left(resp.Kvs[0].Key, err)
		if foreign = !errors.Is(err, db.ErrDamaged); !foreign {
			stored = storedAge{} // as if it had been lost: what is there counts as new
		} else if err := db.Decode(resp.Kvs[0].Value, &stored); err != nil {
			return nil, err
		}
	}
	a := &store.Age{Elapsed: time.Duration(stored.Elapsed) * time.Millisecond, Etcd: resp.Header.ClusterId, Foreign: foreign}
	if stored.Etcd == etcdID(a.Etcd) && !slices.ContainsFunc(stored.Marks, func(m [2]int64) bool {
		return m[0] < resp.Kvs[0].CreateRevision || m[0] >= resp.Kvs[0].ModRevision
	}) {
		for _, m := range stored.Marks {
			a.Marks = append(a.Marks, store.AgeMark{Revision: m[0], Elapsed: time.Duration(m[1]) * time.Millisecond})
		}
	}
	a.Marks = append(a.Marks, store.AgeMark{Revision: resp.Kvs[0].ModRevision, Elapsed: a.Elapsed})
	s.knowAge(a)
	return a, nil
}

func etcdID(id uint64) string { return strconv.FormatUint(id, 16) }

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
	stored := storedAge{Etcd: etcdID(a.Etcd), Elapsed: next.Elapsed.Milliseconds()}
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
	s.conn.knowAge(next)
	return next, true, nil
}

// Elapsed is how old the cluster is, as far as this node knows; 0: it does not.
func (s *Instances) Elapsed() time.Duration {
	return time.Duration(s.conn.Elapsed.Load()) * time.Millisecond
}

// knowAge remembers how old the cluster is, for what is written from now on.
func (s *conn) knowAge(a *store.Age) {
	for now := int64(a.Elapsed / time.Millisecond); ; {
		before := s.Elapsed.Load()
		if before >= now || s.Elapsed.CompareAndSwap(before, now) {
			return
		}
	}
}
