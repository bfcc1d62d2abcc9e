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
	for i := range starts {
		n := &starts[i]
		then := newOps()
		s.writeNew(then, n)
		o.nested(s.newGuard(n), then, nil)
	}
	then, err := o.render()
	if err != nil {
		return false, err
	}
	resp, err := s.txn(ctx, "fire schedule of "+due.DefinitionID, cmps, then, nil)
	return err == nil && resp.Succeeded, err
}

// BurySend turns a send record into a dead letter.
//
// If: the record's mod revision.
func (s *Store) BurySend(ctx context.Context, send *store.Send, dead store.DeadLetter) (bool, error) {
	o := newOps()
	o.del(s.keys.send(send.ID))
	o.put(s.keys.dead(dead.ID), dead)
	then, err := o.render()
	if err != nil {
		return false, err
	}
	resp, err := s.txn(ctx, "bury stimulus", []clientv3.Cmp{modifiedAt(s.keys.send(send.ID), send.Modified)}, then, nil)
	return err == nil && resp.Succeeded, err
}

// Standing leaves out the targets that are gone: bookmarks that were burned,
// triggers that were replaced.
func (s *Store) Standing(ctx context.Context, targets []store.Target) ([]store.Target, error) {
	reads := make([]clientv3.Op, len(targets))
	for i, t := range targets {
		if b := t.Bookmark; b != nil {
			reads[i] = clientv3.OpGet(s.keys.bookmark(b.Hash, b.CorrelationID, b.ID), clientv3.WithKeysOnly())
		} else {
			reads[i] = clientv3.OpGet(s.keys.trigger(t.Trigger.Hash, t.Trigger.DefinitionID, t.Trigger.ActivityID), clientv3.WithKeysOnly())
		}
	}
	resp, err := s.read(ctx, "check targets", reads...)
	if err != nil {
		return nil, err
	}
	var out []store.Target
	for i, t := range targets {
		kvs := resp.Responses[i].GetResponseRange().Kvs
		if len(kvs) > 0 && (t.Bookmark != nil && (t.Bookmark.Created == 0 || kvs[0].CreateRevision == t.Bookmark.Created) ||
			t.Trigger != nil && kvs[0].ModRevision == t.Trigger.Modified) {
			out = append(out, t)
		}
	}
	return out, nil
}

// Requeue turns a queue item into a send record again, because something that it
// matches appeared.
//
// If: the item's create revision.
func (s *Store) Requeue(ctx context.Context, item *store.QueueItem, at time.Time) (bool, error) {
	o := newOps()
	s.deleteQueueItem(o, item)
	o.put(s.keys.send(item.ID), store.Send{ID: item.ID, Stimulus: item.Stimulus, Key: item.Key, CreatedAt: at})
	then, err := o.render()
	if err != nil {
		return false, err
	}
	resp, err := s.txn(ctx, "requeue stimulus", []clientv3.Cmp{createdAt(item.At, item.Created)}, then, nil)
	return err == nil && resp.Succeeded, err
}

// Awaited reports, for each hash, whether a trigger or a bookmark of it exists:
// the cheap question of the queue's sweep.
func (s *Store) Awaited(ctx context.Context, hashes []string) (map[string]bool, error) {
	found := map[string]bool{}
	for len(hashes) > 0 {
		n := min(len(hashes), maxLevel/2)
		var reads []clientv3.Op
		for _, h := range hashes[:n] {
			for _, prefix := range []string{s.keys.triggers(h), s.keys.bookmarks(h)} {
				reads = append(reads, clientv3.OpGet(prefix, clientv3.WithPrefix(), clientv3.WithLimit(1), clientv3.WithKeysOnly()))
			}
		}
		resp, err := s.read(ctx, "look whether queued stimuli are awaited", reads...)
		if err != nil {
			return nil, err
		}
		for i, h := range hashes[:n] {
			found[h] = len(resp.Responses[2*i].GetResponseRange().Kvs)+len(resp.Responses[2*i+1].GetResponseRange().Kvs) > 0
		}
		hashes = hashes[n:]
	}
	return found, nil
}

// QueueShards are the shards of the queue: the first characters of hashes.
const QueueShards = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// ScheduleShard is the shard of a definition's occurrences.
func ScheduleShard(definition string) int { return timerShard(definition) }
