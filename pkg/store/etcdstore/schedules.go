package etcdstore

import (
	"context"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/pkg/store"
)

// DueSchedules reads the occurrences of cron, timer and startAt triggers that
// are due at now, up to perShard from each shard, with the heads they depend on
// left to the caller.
func (s *Store) DueSchedules(ctx context.Context, now time.Time, perShard int64) ([]store.CronEntry, error) {
	reads := make([]clientv3.Op, timerShards)
	for i := range reads {
		prefix := s.keys.crons(i)
		reads[i] = clientv3.OpGet(prefix, clientv3.WithRange(prefix+millis(now)+"0"), clientv3.WithLimit(perShard))
	}
	resp, err := s.read(ctx, "read due schedules", reads...)
	if err != nil {
		return nil, err
	}
	var due []store.CronEntry
	for _, r := range resp.Responses {
		for _, kv := range r.GetResponseRange().Kvs {
			e, err := decodeCron(kv)
			if err != nil {
				return nil, err
			}
			due = append(due, *e)
		}
	}
	return due, nil
}

// FireSchedule replaces an occurrence by the next one (nil: there is none) and
// creates the instances that are due (none: the occurrence is outdated or
// skipped), in one transaction. False: another node was faster, or the
// definition moved.
//
// If: the occurrence's create revision; the head's mod revision as read (not
// when nothing starts); each instance and its start's record absent. Then:
// delete it, put the next, create the instances. A held gate drops its instance
// only.
func (s *Store) FireSchedule(ctx context.Context, due *store.CronEntry, head *store.DefinitionHead, next *store.CronEntry, starts []NewInstance) (bool, error) {
	o := newOps()
	cmps := []clientv3.Cmp{createdAt(due.Key, due.Created)}
	o.del(due.Key)
	if next != nil {
		o.put(s.cronKey(next), next)
	}
	if head != nil {
		cmps = append(cmps, modifiedAt(s.keys.head(due.DefinitionID), head.Modified))
	}
	spent := map[string]bool{}
	for i := range starts {
		n := &starts[i]
		if n.Gate != nil {
			// One gate admits one of these: a second put of its key would be refused
			// with everything else.
			key := s.keys.gateOf(*n.Gate)
			if spent[key] {
				continue
			}
			spent[key] = true
		}
		then := newOps()
		s.writeNew(then, n)
		o.nested(s.newGuard(n, true), then, nil)
	}
	then, err := o.renderBeside(cmps)
	if err != nil {
		return false, err
	}
	resp, err := s.txn(ctx, "fire schedule of "+due.DefinitionID, cmps, then, nil)
	return err == nil && resp.Succeeded, err
}

// ScheduleShard is the shard of a definition's occurrences.
func ScheduleShard(definition string) int { return timerShard(definition) }

// Schedules lists the occurrences to come, one for each schedule, soonest first
// within a shard.
func (s *Store) Schedules(ctx context.Context, cursor string, limit int64) ([]store.CronEntry, string, error) {
	kvs, next, err := s.page(ctx, "list schedules", s.keys.root+"cron/", cursor, limit)
	if err != nil {
		return nil, "", err
	}
	out := make([]store.CronEntry, len(kvs))
	for i, kv := range kvs {
		e, err := decodeCron(kv)
		if err != nil {
			return nil, "", err
		}
		out[i] = *e
	}
	return out, next, nil
}
