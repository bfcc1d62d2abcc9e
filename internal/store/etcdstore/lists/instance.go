package lists

import (
	"context"
	"errors"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/store/etcdstore/lists/merged"
)

// Lists reads instances, and lists what there is.
type Lists struct {
	conn    *lookup.Conn
	known   knownLists // of instances
	began   beginnings // of those lists
	tasksTo beginnings // of names of which many tasks wait: the millisecond up to which the first page went

	forPeopleTo merged.Reaches // of lists of many user tasks
}

// New is the lists over a connection.
func New(c *lookup.Conn) *Lists { return &Lists{conn: c} }

// Instance reads one record; nil if there is none.
func (s *Lists) Instance(ctx context.Context, id string) (*store.Record, error) {
	return s.instance(ctx, id, func(kv *mvccpb.KeyValue) (*store.Record, error) {
		return lookup.PartsOf(s.conn).Join(ctx, kv, db.Decode)
	})
}

// Header reads one record for a caller that needs no more of it than its header: of a large instance only the parts of
// that are read. It has no state then. nil: there is none.
func (s *Lists) Header(ctx context.Context, id string) (*store.Record, error) {
	return s.instance(ctx, id, func(kv *mvccpb.KeyValue) (*store.Record, error) { return lookup.HeadersOf(s.conn).Read(ctx, kv, false) })
}

// Brief is Header for a caller that needs no more than the first of the places where the instance waits at thousands: the
// header says at how many more.
func (s *Lists) Brief(ctx context.Context, id string) (*store.Record, error) {
	return s.instance(ctx, id, func(kv *mvccpb.KeyValue) (*store.Record, error) { return lookup.HeadersOf(s.conn).Read(ctx, kv, true) })
}

// instance reads the record of an instance by decode, and once more where it moved while it was read.
func (s *Lists) instance(ctx context.Context, id string, decode func(*mvccpb.KeyValue) (*store.Record, error)) (*store.Record, error) {
	return lookup.Again(func() (*store.Record, error) {
		resp, err := s.conn.Get(ctx, "read instance "+id, s.conn.Keys.Instance(id))
		if err != nil || len(resp.Kvs) == 0 {
			return nil, err
		}
		return decode(resp.Kvs[0])
	})
}

// Sight is an instance as it was at one revision.
type Sight struct {
	Record   *store.Record // nil: there was none, or it cannot be read
	Damage   error         // why it cannot be read
	Modified int64         // its key's mod revision; 0: there was none
	Revision int64         // at which this was so
}

// SeeInstance reads one record as it is now.
func (s *Lists) SeeInstance(ctx context.Context, id string) (Sight, error) {
	return lookup.Again(func() (Sight, error) {
		resp, err := s.conn.Get(ctx, "read instance "+id, s.conn.Keys.Instance(id))
		if err != nil {
			return Sight{}, err
		}
		seen := Sight{Revision: resp.Header.Revision}
		if len(resp.Kvs) > 0 {
			seen.Modified = resp.Kvs[0].ModRevision
			seen.Record, seen.Damage = lookup.PartsOf(s.conn).Join(ctx, resp.Kvs[0], db.Decode)
			if lookup.IsMoved(seen.Damage) {
				return seen, seen.Damage
			}
		}
		return seen, nil
	})
}

// HadInstance tells whether there was a record at a revision. known is false when etcd
// has forgotten that, by a compaction.
func (s *Lists) HadInstance(ctx context.Context, id string, revision int64) (had, known bool, err error) {
	resp, err := s.conn.Get(ctx, "read instance "+id, s.conn.Keys.Instance(id), clientv3.WithRev(revision), clientv3.WithCountOnly())
	if errors.Is(err, rpctypes.ErrCompacted) {
		return false, false, nil
	}
	if err != nil {
		return false, false, err
	}
	return resp.Count > 0, true, nil
}

// Revision asks etcd at which revision it is, and which etcd it is: one that was restored
// from a backup is another one, however far ahead its revisions are.
func (s *Lists) Revision(ctx context.Context) (at int64, etcd uint64, err error) {
	return s.conn.RevisionNow(ctx)
}

// DeadLetters lists dead letters. A page may be shorter than its limit and have a
// next one.
func (s *Lists) DeadLetters(ctx context.Context, cursor string, limit int64) ([]store.DeadLetter, db.PageEnd, error) {
	var out []store.DeadLetter
	end, err := s.conn.Values(ctx, "list dead letters", s.conn.Keys.Deads(), cursor, limit, func(kv *mvccpb.KeyValue) error {
		d, err := record.DecodeDead(kv, db.Decode)
		if err != nil {
			d = store.DeadLetter{ID: record.Decode(strings.TrimPrefix(string(kv.Key), s.conn.Keys.Deads())), Created: kv.CreateRevision, Damaged: err.Error()}
		}
		out = append(out, d)
		return nil
	})
	return out, end, err
}

// WatchInstance gives a hint when an instance was written, until ctx ends or the
// watch breaks; then the channel closes.
func (s *Lists) WatchInstance(ctx context.Context, id string) <-chan struct{} {
	return s.conn.Hints(ctx, s.conn.Keys.Instance(id), clientv3.WithFilterDelete())
}

// FollowInstance is Reader.WatchInstance that also gives a hint when the instance
// was removed.
func (s *Lists) FollowInstance(ctx context.Context, id string) <-chan struct{} {
	return s.conn.Hints(ctx, s.conn.Keys.Instance(id))
}
