package etcdstore

import (
	"context"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/pkg/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// Due is a timer whose time has come.
type Due struct {
	At    time.Time
	Shard int

	kind    timerKind
	key     string
	created int64
	entry   timerEntry
}

// IsQueueExpiry reports whether the timer ends a queue item's wait.
func (d Due) IsQueueExpiry() bool { return d.kind == timerQueue }

// Instance is the instance whose bookmark the timer resumes; "" for others.
func (d Due) Instance() string { return d.entry.Instance }

// TimerShards is how many shards [Store.DueTimers] has.
const TimerShards = timerShards

// DueTimers reads the timers that are due at now, up to perShard from each
// shard, in one request.
func (s *Store) DueTimers(ctx context.Context, now time.Time, perShard int64) ([]Due, error) {
	reads := make([]clientv3.Op, timerShards)
	for i := range reads {
		prefix := s.keys.timers(i)
		reads[i] = clientv3.OpGet(prefix, clientv3.WithRange(prefix+millis(now)+"0"), clientv3.WithLimit(perShard))
	}
	resp, err := s.read(ctx, "read due timers", reads...)
	if err != nil {
		return nil, err
	}
	var due []Due
	for i, r := range resp.Responses {
		for _, kv := range r.GetResponseRange().Kvs {
			d := Due{Shard: i, key: string(kv.Key), created: kv.CreateRevision}
			if err := Decode(kv.Value, &d.entry); err != nil {
				return nil, err
			}
			parts := strings.Split(strings.TrimPrefix(d.key, s.keys.timers(i)), "/")
			d.At, d.kind = d.entry.Due, timerKind(parts[1])
			due = append(due, d)
		}
	}
	return due, nil
}

// MaxFire is how many timers one call of [Store.FireTimers] takes.
const MaxFire = 40

// FireTimers turns due bookmark timers into commands in their instances'
// mailboxes, in one transaction; it returns the instances that got one. Each
// timer is guarded on its own.
//
// If: the timer's create revision. Then: delete it, put the command, whose id
// derives from the bookmark.
func (s *Store) FireTimers(ctx context.Context, due []Due, now time.Time) ([]string, error) {
	ops := make([]clientv3.Op, len(due))
	for i, d := range due {
		o := newOps()
		o.del(d.key)
		cmd := workflow.Command{ID: "timer-" + workflow.DeriveID(d.entry.Bookmark), Kind: workflow.CommandResume, CreatedAt: now, Bookmark: d.entry.Bookmark,
			Timer: true}
		o.put(s.keys.mail(d.entry.Instance, cmd.ID), cmd)
		then, err := o.render()
		if err != nil {
			return nil, err
		}
		ops[i] = clientv3.OpTxn([]clientv3.Cmp{createdAt(d.key, d.created), exists(s.keys.instance(d.entry.Instance))}, then, nil)
	}
	resp, err := s.txn(ctx, "fire timers", nil, ops, nil)
	if err != nil {
		return nil, err
	}
	var fired []string
	for i, r := range resp.Responses {
		if r.GetResponseTxn().Succeeded {
			fired = append(fired, due[i].entry.Instance)
		}
	}
	return fired, nil
}

// Timers lists timers to come, soonest first within a shard.
func (s *Store) Timers(ctx context.Context, cursor string, limit int64) ([]Due, string, error) {
	kvs, next, err := s.page(ctx, "list timers", s.keys.root+"timer/", cursor, limit)
	if err != nil {
		return nil, "", err
	}
	var out []Due
	for _, kv := range kvs {
		d := Due{key: string(kv.Key), created: kv.CreateRevision}
		if err := Decode(kv.Value, &d.entry); err != nil {
			return nil, "", err
		}
		parts := strings.Split(strings.TrimPrefix(d.key, s.keys.root+"timer/"), "/")
		d.At, d.kind = d.entry.Due, timerKind(parts[2])
		out = append(out, d)
	}
	return out, next, nil
}

// Bookmark is the id of the bookmark that the timer resumes; "" for others.
func (d Due) Bookmark() string { return d.entry.Bookmark }

// Sends lists send records, oldest keys first.
func (s *Store) Sends(ctx context.Context, cursor string, limit int64) ([]store.Send, string, error) {
	kvs, next, err := s.page(ctx, "list send records", s.keys.sends(), cursor, limit)
	if err != nil {
		return nil, "", err
	}
	out := make([]store.Send, len(kvs))
	for i, kv := range kvs {
		out[i].Created, out[i].Modified = kv.CreateRevision, kv.ModRevision
		if err := Decode(kv.Value, &out[i]); err != nil {
			return nil, "", err
		}
	}
	return out, next, nil
}

// PutSend accepts a stimulus as a send record.
//
// If: no record of its id or of the caller's key.
func (s *Store) PutSend(ctx context.Context, send store.Send) (bool, error) {
	o := newOps()
	o.put(s.keys.send(send.ID), send)
	rec := s.keys.commandRecord("~send", send.ID)
	s.record(o, rec, store.Effect{Outcome: "accepted"}, send.CreatedAt.Add(recordTTL))
	cmps := []clientv3.Cmp{absent(rec)}
	then, err := o.render()
	if err != nil {
		return false, err
	}
	resp, err := s.txn(ctx, "accept stimulus", cmps, then, nil)
	return err == nil && resp.Succeeded, err
}

// LookAgain looks up a send record's stimulus; what is found is delivered, or
// queued, in a transaction that compares the record.
func (s *Store) LookAgain(ctx context.Context, send *store.Send, hash string) (*Look, error) {
	l, err := s.Look(ctx, send.Stimulus, hash, "")
	if err != nil {
		return nil, err
	}
	l.send = send
	return l, nil
}
