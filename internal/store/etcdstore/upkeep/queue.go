package upkeep

import (
	"context"
	"slices"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// Queued is a queue item as its key tells it.
type Queued struct {
	Hash    string
	Created int64 // the key's create revision
	At      string
}

// Queued lists queue items from cursor on, as QueueItems does, keys only. Those behind
// gates are in no shard.
func (s *Upkeep) Queued(ctx context.Context, shard, cursor string, limit int64) ([]Queued, string, error) {
	kvs, next, err := s.conn.Page(ctx, "list queue", s.conn.Keys.Queues()+shard, cursor, limit, clientv3.WithKeysOnly())
	if err != nil {
		return nil, "", err
	}
	out := make([]Queued, len(kvs))
	for i, kv := range kvs {
		hash, _, _ := strings.Cut(strings.TrimPrefix(string(kv.Key), s.conn.Keys.Queues()), "/")
		out[i] = Queued{Hash: hash, Created: kv.CreateRevision, At: string(kv.Key)}
	}
	return out, next, nil
}

// QueueItem reads one; nil if it is gone, or not readable here.
func (s *Upkeep) QueueItem(ctx context.Context, q Queued) (*store.QueueItem, error) {
	resp, err := s.conn.Get(ctx, "read queue item", q.At)
	if err != nil || len(resp.Kvs) == 0 {
		return nil, err
	}
	for _, item := range s.conn.QueueItems(nil, resp.Kvs) {
		return &item, nil
	}
	return nil, nil
}

// ExpireQueueItem turns an item, which has waited for so long, into a dead letter and
// tells its reason; "": it was claimed, or cannot be read here, and stays.
//
// If: the item's create revision. Then: also, if the record of its caller's key is there, put which letter it became.
func (s *Upkeep) ExpireQueueItem(ctx context.Context, q Queued, waited time.Duration, at time.Time) (reason workflow.DeadReason, err error) {
	var ask db.Reads
	found, slice := ask.Value(q.At), ask.Add(clientv3.OpGet(record.SliceOf(q.At), clientv3.WithPrefix(), clientv3.WithLimit(2), clientv3.WithKeysOnly()))
	resp, err := s.conn.Read(ctx, "read queue item", ask.Ops...)
	if err != nil {
		return "", err
	}
	kv := found.One(resp)
	if kv == nil {
		return "", nil
	}
	var item store.QueueItem
	if err := db.DecodeWhole(kv.Value, &item); err != nil {
		s.conn.Left(kv.Key, err)
		return "", nil // with the next mark it is looked at again; as an error all of the queue would be
	}
	dead := expired(&item, waited, at)
	t := s.conn.Begin("expire queue item", db.CreatedAt(q.At, q.Created))
	t.Del(q.At)
	if item.Held == nil && len(slice.In(resp).Kvs) == 1 {
		s.conn.Unmark(t.Ops, record.SliceOf(q.At), resp.Header.Revision)
	}
	s.conn.PutDead(t.Ops, dead)
	if k := item.Key; k != nil && item.Held == nil { // its receipt tells, also when retention took the letter
		then := db.NewOps()
		s.conn.Answer(then, k, &store.Answer{BodyHash: k.BodyHash, Queued: item.ID, Slot: s.conn.Slot(&item.Stimulus), Dead: dead.ID})
		t.Nested([]clientv3.Cmp{db.Exists(s.conn.Keys.KeyRecord(k.Name))}, then, nil)
	}
	if ok, err := db.Applied(t.SubmitSmall(ctx)); err != nil || !ok {
		return "", err
	}
	return dead.Reason, nil
}

// Requeue turns a queue item into a send record again, because something that it
// matches appeared. The record is as old as the item: what waits behind a gate
// goes in the order of its arrival.
//
// If: the item's create revision.
func (s *Upkeep) Requeue(ctx context.Context, item *store.QueueItem) (bool, error) {
	return lookup.Requeue(ctx, s.conn.Conn, item)
}

// Awaited reports, for each hash, whether a trigger or a bookmark of it exists:
// the cheap question of the queue's sweep.
func (s *Upkeep) Awaited(ctx context.Context, hashes []string) (map[string]bool, error) {
	found := map[string]bool{}
	for len(hashes) > 0 {
		n := min(len(hashes), db.MaxLevel/2)
		var ask db.Reads
		triggers, bookmarks := make([]db.Read, n), make([]db.Read, n)
		for i, h := range hashes[:n] {
			triggers[i], bookmarks[i] = ask.Any(s.conn.Keys.Triggers(h)), ask.Any(s.conn.Keys.Bookmarks(h))
		}
		resp, err := s.conn.Read(ctx, "look whether queued stimuli are awaited", ask.Ops...)
		if err != nil {
			return nil, err
		}
		for i, h := range hashes[:n] {
			found[h] = triggers[i].One(resp) != nil || bookmarks[i].One(resp) != nil
		}
		hashes = hashes[n:]
	}
	return found, nil
}

// QueueShards are the shards of the queue: the first characters of hashes.
const QueueShards = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// SomeQueued tells which shards of the queue have items, in one request however many
// there are.
func (s *Upkeep) SomeQueued(ctx context.Context) (shards []string, err error) {
	var ask db.Reads
	for i := range QueueShards {
		ask.Any(s.conn.Keys.Queues() + QueueShards[i:i+1])
	}
	resp, err := s.conn.Read(ctx, "look for queued stimuli", ask.Ops...)
	if err != nil {
		return nil, err
	}
	for i := range QueueShards {
		if db.Read(i).One(resp) != nil {
			shards = append(shards, QueueShards[i:i+1])
		}
	}
	return shards, nil
}

const marksPage = 500

// DropMarks deletes the marks of slices that are empty; it looks at some from cursor
// on and returns where to go on, "" at the end. The transaction that takes the last
// item of a slice deletes its marks, as far as it knows; this is for the others, which
// cost each instance that comes to wait there a request.
//
// If, each nested: no mark was put since its slice was seen empty.
func (s *Upkeep) DropMarks(ctx context.Context, cursor string) (next string, err error) {
	kvs, next, err := s.conn.Page(ctx, "list marks of the queue", s.conn.Keys.Marks(), cursor, marksPage, clientv3.WithKeysOnly())
	if err != nil {
		return "", err
	}
	var marked []string // slices
	for _, kv := range kvs {
		key := s.conn.Keys.Queues() + strings.TrimPrefix(record.SliceOf(string(kv.Key)), s.conn.Keys.Marks())
		if n := len(marked); n == 0 || marked[n-1] != key {
			marked = append(marked, key)
		}
	}
	for chunk := range slices.Chunk(marked, MaxFire) {
		var ask db.Reads
		for _, key := range chunk {
			ask.Any(key)
		}
		resp, err := s.conn.Read(ctx, "look for empty slices of the queue", ask.Ops...)
		if err != nil {
			return "", err
		}
		t := s.conn.Begin("drop marks of the queue")
		for i, key := range chunk {
			if db.Read(i).One(resp) == nil {
				s.conn.Unmark(t.Ops, key, resp.Header.Revision)
			}
		}
		if len(t.Tail) == 0 {
			continue
		}
		if _, err := t.SubmitSmall(ctx); err != nil {
			return "", err
		}
	}
	return next, nil
}
