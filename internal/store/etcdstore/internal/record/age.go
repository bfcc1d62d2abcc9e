package record

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
)

// StoredAge is the value of meta/age. Its own mod revision and Elapsed are the
// newest mark.
type StoredAge struct {
	Etcd    string     `json:"etcd"`    // the id of the etcd cluster whose revisions these are
	Elapsed int64      `json:"elapsed"` // milliseconds
	Marks   [][2]int64 `json:"marks,omitempty"`
}

// StoredAs is what errors call it.
func (StoredAge) StoredAs() string { return "etcdstore.storedAge" }

// Age reads how old the cluster is; without marks if nobody ever wrote that.
func (s *Conn) Age(ctx context.Context) (*store.Age, error) {
	resp, err := s.Get(ctx, "read age", s.Keys.Age())
	if err != nil {
		return nil, err
	}
	if len(resp.Kvs) == 0 {
		return &store.Age{Etcd: resp.Header.ClusterId}, nil
	}
	var stored StoredAge
	foreign := false
	if err := db.DecodeWhole(resp.Kvs[0].Value, &stored); err != nil {
		s.Left(resp.Kvs[0].Key, err)
		if foreign = !errors.Is(err, db.ErrDamaged); !foreign {
			stored = StoredAge{} // as if it had been lost: what is there counts as new
		} else if err := db.Decode(resp.Kvs[0].Value, &stored); err != nil {
			return nil, err
		}
	}
	a := &store.Age{Elapsed: time.Duration(stored.Elapsed) * time.Millisecond, Etcd: resp.Header.ClusterId, Foreign: foreign}
	if stored.Etcd == EtcdID(a.Etcd) && !slices.ContainsFunc(stored.Marks, func(m [2]int64) bool {
		return m[0] < resp.Kvs[0].CreateRevision || m[0] >= resp.Kvs[0].ModRevision
	}) {
		for _, m := range stored.Marks {
			a.Marks = append(a.Marks, store.AgeMark{Revision: m[0], Elapsed: time.Duration(m[1]) * time.Millisecond})
		}
	}
	a.Marks = append(a.Marks, store.AgeMark{Revision: resp.Kvs[0].ModRevision, Elapsed: a.Elapsed})
	s.KnowAge(a)
	return a, nil
}

// EtcdID is the id of an etcd cluster as a text.
func EtcdID(id uint64) string { return strconv.FormatUint(id, 16) }

// KnowAge remembers how old the cluster is, for what is written from now on.
func (s *Conn) KnowAge(a *store.Age) {
	for now := int64(a.Elapsed / time.Millisecond); ; {
		before := s.Elapsed.Load()
		if before >= now || s.Elapsed.CompareAndSwap(before, now) {
			return
		}
	}
}
