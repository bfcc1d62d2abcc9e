package definitions

import (
	"context"
	"fmt"
	"slices"
	"strings"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/pkg/workflow"
)

// reindex adds the operations that replace every trigger, route and cron key of
// the definition by those of idx, under a new generation.
func (s *Definitions) reindex(c *change, idx *store.DefinitionIndex) error {
	if err := withinLimits(idx); err != nil {
		return err
	}
	c.head.Generation++
	var now store.IndexedKeys
	s.indexTriggers(c, idx.Triggers, &now)
	s.indexRoutes(c, idx.Routes, &now)
	s.indexSchedules(c, idx.Schedules, &now)
	key := s.conn.Keys.Indexed(c.head.ID)
	if len(now.Triggers) == 0 && len(now.Routes) == 0 && !now.Crons {
		c.ops.Del(key)
	} else {
		c.ops.Put(key, now)
	}
	return nil
}

func withinLimits(idx *store.DefinitionIndex) error {
	for _, l := range []struct {
		what      string
		have, max int
	}{
		{"triggers", len(idx.Triggers), store.MaxTriggers},
		{"timer and cron triggers", len(idx.Schedules), store.MaxSchedules},
		{"routes", len(idx.Routes), store.MaxRoutes},
	} {
		if l.have > l.max {
			return fmt.Errorf("%w: the definition has %d %s, at most %d are allowed", db.ErrTooLarge, l.have, l.what, l.max)
		}
	}
	return nil
}

func (s *Definitions) indexTriggers(c *change, triggers []store.TriggerEntry, now *store.IndexedKeys) {
	h := &c.head
	for _, t := range c.before.Indexed.Triggers {
		c.ops.Del(s.conn.Keys.Trigger(t.Hash, h.ID, t.ActivityID))
	}
	for _, t := range triggers {
		t.DefinitionID, t.Version, t.Activation = h.ID, h.Published, h.Activation
		c.ops.Put(s.conn.Keys.Trigger(t.Hash, h.ID, t.ActivityID), t) // replaces the delete: one operation a key
		now.Triggers = append(now.Triggers, store.TriggerKey{Hash: t.Hash, ActivityID: t.ActivityID})
	}
}

// indexRoutes puts the routes. One that was mine when the head was read is mine
// as long as the head stands; another one must be free, which can become true
// again and so is a guard.
func (s *Definitions) indexRoutes(c *change, routes []store.RouteEntry, now *store.IndexedKeys) {
	h := &c.head
	for _, r := range c.before.Indexed.Routes {
		c.ops.Del(s.conn.Keys.Route(r.Method, r.Template))
	}
	var fresh []claim
	for _, r := range routes {
		r.DefinitionID, r.Version, r.Activation = h.ID, h.Published, h.Activation
		at := store.RouteKey{Method: r.Method, Template: workflow.RoutePattern(r.Template)}
		key := s.conn.Keys.Route(at.Method, at.Template)
		c.ops.Put(key, r)
		c.ops.PutRaw(s.conn.Keys.Shape(r.Method, r.Template), nil)
		now.Routes = append(now.Routes, at)
		if slices.Contains(c.before.Indexed.Routes, at) {
			continue
		}
		c.guards = append(c.guards, db.Absent(key))
		fresh = append(fresh, claim{r, c.reads.Value(key)})
	}
	if len(fresh) > 0 {
		c.refused = func(inner *pb.TxnResponse) error { return routesTaken(h.ID, fresh, inner) }
	}
}

// claim is a route that has to be free, and the read of whose it is.
type claim struct {
	store.RouteEntry
	owner db.Read
}

// routesTaken says which routes are whose.
func routesTaken(id string, routes []claim, resp *pb.TxnResponse) error {
	var taken workflow.Problems
	for _, r := range routes {
		kv := r.owner.One(resp)
		if kv == nil {
			continue
		}
		var owner store.RouteEntry
		if err := db.Decode(kv.Value, &owner); err != nil {
			return err
		}
		if owner.DefinitionID == id {
			continue
		}
		taken = append(taken, workflow.Problem{Code: string(workflow.CodeRouteTaken),
			Detail: fmt.Sprintf("%s %s belongs to definition %s (activity %s); choose another path, or retract that definition",
				r.Method, r.Template, owner.DefinitionID, owner.ActivityID)})
	}
	if len(taken) == 0 {
		return store.ErrHeadMoved // it was freed, or lost its owner: read again
	}
	details := make([]string, len(taken))
	for i, p := range taken {
		details[i] = p.Detail
	}
	return &workflow.Error{Code: workflow.CodeRouteTaken, Detail: strings.Join(details, "; "), Problems: taken}
}

// CheckRoutes tells whether the routes are free or belong to id; if not the
// error is a *[workflow.Error] with code route-taken. Publishing checks again.
func (s *Definitions) CheckRoutes(ctx context.Context, id string, routes []store.RouteEntry) error {
	if len(routes) == 0 {
		return nil
	}
	var ask db.Reads
	var claims []claim
	for _, r := range routes {
		claims = append(claims, claim{r, ask.Value(s.conn.Keys.Route(r.Method, workflow.RoutePattern(r.Template)))})
	}
	resp, err := s.conn.Read(ctx, "check routes of "+id, ask.Ops...)
	if err != nil {
		return err
	}
	if err := routesTaken(id, claims, resp); workflow.CodeOf(err) != "" {
		return err
	}
	return nil
}

// indexSchedules puts the cron keys. A schedule that was there before keeps the
// occurrence that it waits for, so that publishing loses none; every other old
// key goes. Keys that appear between the read and this write have an old
// generation and do not fire.
func (s *Definitions) indexSchedules(c *change, schedules []store.CronEntry, now *store.IndexedKeys) {
	h := &c.head
	now.Crons = len(schedules) > 0
	written := map[string]bool{} // etcd takes no two operations on one key
	for _, e := range schedules {
		e.DefinitionID, e.Version, e.Generation, e.Activation = h.ID, h.Published, h.Generation, h.Activation
		next := s.conn.CronKey(&e)
		if !e.Due.IsZero() {
			written[next] = true
		}
		old := pendingOf(c.before, &e)
		switch {
		case old != nil && old.Key != next:
			written[old.Key] = true
			s.keepOccurrence(c, e, old)
		case !e.Due.IsZero():
			c.ops.Put(next, e)
		}
	}
	for _, old := range c.before.Crons {
		if !written[old.Key] {
			c.ops.Del(old.Key)
		}
	}
}

// pendingOf finds the occurrence that the schedule of e waits for.
func pendingOf(st *store.DefinitionState, e *store.CronEntry) *store.CronEntry {
	i := slices.IndexFunc(st.Crons, func(old store.CronEntry) bool {
		return old.Generation == st.Head.Generation && old.SameSchedule(e)
	})
	if i < 0 {
		return nil
	}
	return &st.Crons[i]
}

// keepOccurrence leaves the occurrence where it is, unless it fired since it was
// read: then the schedule goes on with its next one. If that lies before what fired,
// it was skipped, and may not come back: what fired is put again then, which starts
// nothing twice, and the schedule goes on from there.
func (s *Definitions) keepOccurrence(c *change, e store.CronEntry, old *store.CronEntry) {
	then, otherwise := db.NewOps(), db.NewOps()
	if !e.Due.IsZero() {
		first := e
		if old.Due.After(first.Due) {
			first.Due = old.Due
		}
		otherwise.Put(s.conn.CronKey(&first), first)
	}
	if at := s.conn.CronKey(&e); slices.ContainsFunc(c.before.Crons, func(o store.CronEntry) bool { return o.Key == at }) {
		then.Del(at) // an outdated key
	}
	e.Due, e.Gated, e.GatedAt = old.Due, old.Gated, old.GatedAt
	then.Put(old.Key, e)
	c.ops.Nested([]clientv3.Cmp{db.CreatedAt(old.Key, old.Created)}, then, otherwise)
}
