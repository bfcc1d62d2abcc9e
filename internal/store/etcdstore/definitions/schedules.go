package definitions

import (
	"context"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
)

// SkipSchedule replaces an occurrence of st by the one that follows it, and starts nothing. It is
// a change of the definition, so that it and a publication refuse each other: a publication puts
// again the occurrences that it read, and one that was dropped in between would come back.
//
// Errors: [store.ErrHeadMoved] (read again; also if the occurrence has fired), or one that wraps
// [db.ErrUnknown].
func (s *Definitions) SkipSchedule(ctx context.Context, st *store.DefinitionState, due, next *store.CronEntry, at time.Time) (*store.DefinitionHead, error) {
	c := s.newChange("skip an occurrence of", st, at)
	c.stands = []clientv3.Cmp{db.CreatedAt(due.Key, due.Created)}
	c.ops.Del(due.Key)
	c.ops.Put(s.conn.CronKey(next), *next)
	return s.apply(ctx, c)
}
