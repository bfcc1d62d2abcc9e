package upkeep

import (
	"context"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
)

// Head reads the head of a definition that is due, as [definitions.Definitions.Head] does.
func (s *Upkeep) Head(ctx context.Context, id string) (*store.DefinitionHead, error) {
	return s.conn.Head(ctx, id)
}

// FireSchedule replaces an occurrence by the next one (nil: there is none) and
// creates the instances that are due (none: the occurrence is outdated, or the
// catch-up policy leaves it out), in one transaction. False: another node was faster, or the
// definition moved.
//
// If: the occurrence's create revision, and the head's mod revision as read; of an
// outdated occurrence, which has no head, its mod revision: a publication that keeps
// the occurrence puts the same key again, and what it put is not outdated; each
// instance and its start's record absent. Then: delete it, put the next, create the
// instances.
//
// They all have the same gate or none. A gate admits the first of them, or none if
// it is held; how many it kept out is told, and said in the next occurrence.
func (s *Upkeep) FireSchedule(ctx context.Context, due *store.CronEntry, head *store.DefinitionHead, next *store.CronEntry, starts []lookup.NewInstance) (fired bool, gated int, err error) {
	t := s.conn.Begin("fire schedule of "+due.DefinitionID, db.CreatedAt(due.Key, due.Created))
	t.Del(due.Key)
	if head != nil {
		t.When(db.ModifiedAt(s.conn.Keys.Head(due.DefinitionID), head.Modified))
	} else {
		t.When(db.ModifiedAt(due.Key, due.Modified))
	}
	behind := len(starts) > 0 && starts[0].Gate != nil
	if behind {
		then, otherwise := db.NewOps(), db.NewOps()
		s.conn.WriteNew(then, &starts[0])
		s.putNext(then, next, starts[1:])
		s.putNext(otherwise, next, starts)
		t.Nested(starts[0].Guard(s.conn, true), then, otherwise)
	} else {
		s.putNext(t.Ops, next, nil)
		for i := range starts {
			then := db.NewOps()
			s.conn.WriteNew(then, &starts[i])
			t.Nested(starts[i].Guard(s.conn, true), then, nil)
		}
	}
	resp, err := t.Submit(ctx)
	if err != nil || !resp.Succeeded {
		return false, 0, err
	}
	if !behind {
		return true, 0, nil
	}
	gated = len(starts)
	if db.LastOf.Nested(resp).Succeeded {
		gated--
	}
	return true, gated, nil
}

// putNext puts the occurrence that follows, nil if none does, which says what the
// gate has kept out.
func (s *Upkeep) putNext(o *db.Ops, next *store.CronEntry, gated []lookup.NewInstance) {
	if next == nil {
		return
	}
	e := *next
	if n := len(gated); n > 0 {
		e.Gated += int64(n)
		e.GatedAt = gated[n-1].Header.CreatedAt
	}
	o.Put(s.conn.CronKey(&e), e)
}

// ScheduleShard is the shard of a definition's occurrences.
func ScheduleShard(definition string) int { return record.TimerShard(definition) }
