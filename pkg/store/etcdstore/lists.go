package etcdstore

import (
	"context"
	"strconv"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/pkg/store"
	"github.com/weft-run/weft/pkg/workflow"
)

// InstanceFilter restricts [Store.Instances]; zero fields do not.
type InstanceFilter struct {
	Status                      workflow.Status
	DefinitionID, CorrelationID string
}

// Instances reads a page of headers through the narrowest index. Index entries
// are hints: what they name is read, and left out if it no longer fits.
func (s *Store) Instances(ctx context.Context, f InstanceFilter, cursor string, limit int64) ([]workflow.Instance, string, error) {
	prefix := s.keys.root + "index/"
	switch {
	case f.CorrelationID != "":
		prefix = s.keys.correlation(f.CorrelationID)
	case f.Status != "" && f.DefinitionID != "":
		prefix = s.keys.index(f.Status, f.DefinitionID)
	case f.Status != "":
		prefix += string(f.Status) + "/"
	case f.DefinitionID != "" && f.Status == "":
		return s.bothStatuses(ctx, f, cursor, limit)
	}
	kvs, next, err := s.page(ctx, "list instances", prefix, cursor, limit, clientv3.WithKeysOnly())
	if err != nil {
		return nil, "", err
	}
	var out []workflow.Instance
	for len(kvs) > 0 {
		n := min(len(kvs), maxLevel)
		reads := make([]clientv3.Op, n)
		for i, kv := range kvs[:n] {
			key := string(kv.Key)
			reads[i] = clientv3.OpGet(s.keys.instance(key[strings.LastIndexByte(key, '/')+1:]))
		}
		kvs = kvs[n:]
		resp, err := s.read(ctx, "read instances", reads...)
		if err != nil {
			return nil, "", err
		}
		for _, r := range resp.Responses {
			for _, kv := range r.GetResponseRange().Kvs {
				rec, err := decodeRecord(kv)
				if err != nil {
					return nil, "", err
				}
				if h := rec.Header; f.fits(&h) {
					out = append(out, h)
				}
			}
		}
	}
	return out, next, nil
}

func (f InstanceFilter) fits(h *workflow.Instance) bool {
	return (f.Status == "" || f.Status == h.Status) && (f.DefinitionID == "" || f.DefinitionID == h.DefinitionID) &&
		(f.CorrelationID == "" || f.CorrelationID == h.CorrelationID)
}

// bothStatuses lists the running instances of a definition, then the finished
// ones; the cursor says which list it is in.
func (s *Store) bothStatuses(ctx context.Context, f InstanceFilter, cursor string, limit int64) ([]workflow.Instance, string, error) {
	f.Status = workflow.StatusRunning
	rest, finished := strings.CutPrefix(cursor, "Finished:")
	if finished {
		f.Status = workflow.StatusFinished
	} else {
		rest = strings.TrimPrefix(cursor, "Running:")
	}
	out, next, err := s.Instances(ctx, f, rest, limit)
	switch {
	case err != nil:
		return nil, "", err
	case next != "":
		return out, string(f.Status) + ":" + next, nil
	case finished:
		return out, "", nil
	}
	return out, "Finished:", nil
}

// DeadLetters lists dead letters.
func (s *Store) DeadLetters(ctx context.Context, cursor string, limit int64) ([]store.DeadLetter, string, error) {
	kvs, next, err := s.page(ctx, "list dead letters", s.keys.deads(), cursor, limit)
	if err != nil {
		return nil, "", err
	}
	out := make([]store.DeadLetter, len(kvs))
	for i, kv := range kvs {
		out[i].Created = kv.CreateRevision
		if err := Decode(kv.Value, &out[i]); err != nil {
			return nil, "", err
		}
	}
	return out, next, nil
}

// DeadLetter reads one; nil if there is none.
func (s *Store) DeadLetter(ctx context.Context, id string) (*store.DeadLetter, error) {
	resp, err := s.get(ctx, "read dead letter", s.keys.dead(id))
	if err != nil || len(resp.Kvs) == 0 {
		return nil, err
	}
	d := &store.DeadLetter{Created: resp.Kvs[0].CreateRevision}
	return d, Decode(resp.Kvs[0].Value, d)
}

// TakeDeadLetter deletes a dead letter and, for a replay, puts its stimulus into
// a send record in the same transaction. False: it is gone.
//
// If: its create revision.
func (s *Store) TakeDeadLetter(ctx context.Context, d *store.DeadLetter, replay *store.Send) (bool, error) {
	o := newOps()
	o.del(s.keys.dead(d.ID))
	if replay != nil {
		o.put(s.keys.send(replay.ID), replay)
	}
	then, err := o.render()
	if err != nil {
		return false, err
	}
	resp, err := s.txn(ctx, "take dead letter", []clientv3.Cmp{createdAt(s.keys.dead(d.ID), d.Created)}, then, nil)
	return err == nil && resp.Succeeded, err
}

// ExpireRecords deletes up to limit idempotency records that expired before now,
// with their index entries, and tells how many. Deleting one twice is harmless.
func (s *Store) ExpireRecords(ctx context.Context, now time.Time, limit int64) (int, error) {
	prefix := s.keys.expiries()
	end := prefix + leftPad(now.Unix()/60)
	resp, err := s.get(ctx, "read expired records", prefix, clientv3.WithRange(end), clientv3.WithLimit(limit), clientv3.WithKeysOnly())
	if err != nil || len(resp.Kvs) == 0 {
		return 0, err
	}
	o := newOps()
	for _, kv := range resp.Kvs {
		key := string(kv.Key)
		o.del(key)
		o.del(s.keys.root + decode(key[strings.LastIndexByte(key, '/')+1:]))
	}
	then, err := o.render()
	if err != nil {
		return 0, err
	}
	_, err = s.txn(ctx, "delete expired records", nil, then, nil)
	return len(resp.Kvs), err
}

func leftPad(n int64) string {
	s := strconv.FormatInt(n, 10)
	return strings.Repeat("0", max(0, 10-len(s))) + s
}

// Paused tells whether the cluster is paused.
func (s *Store) Paused(ctx context.Context) (bool, error) {
	resp, err := s.get(ctx, "read pause", s.keys.pause(), clientv3.WithCountOnly())
	return err == nil && resp.Count > 0, err
}

// SetPaused pauses the cluster or lets it go on.
func (s *Store) SetPaused(ctx context.Context, paused bool) error {
	op := clientv3.OpDelete(s.keys.pause())
	if paused {
		op = clientv3.OpPut(s.keys.pause(), "true")
	}
	_, err := s.txn(ctx, "set pause", nil, []clientv3.Op{op}, nil)
	return err
}

// WatchControl watches the interrupt keys and the pause flag until ctx ends or
// the watch breaks; then the channel closes. Cancelled instances are named;
// "" means that the pause flag may have changed.
func (s *Store) WatchControl(ctx context.Context) <-chan string {
	out := make(chan string)
	ctx = clientv3.WithRequireLeader(ctx)
	cancels := s.client.Watch(ctx, s.keys.cancels(), clientv3.WithPrefix(), clientv3.WithFilterDelete())
	pause := s.client.Watch(ctx, s.keys.pause())
	go func() {
		defer close(out)
		for {
			var names []string
			select {
			case resp, ok := <-cancels:
				if !ok || resp.Err() != nil {
					return
				}
				for _, ev := range resp.Events {
					names = append(names, strings.TrimPrefix(string(ev.Kv.Key), s.keys.cancels()))
				}
			case resp, ok := <-pause:
				if !ok || resp.Err() != nil {
					return
				}
				names = []string{""}
			}
			for _, n := range names {
				select {
				case out <- n:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	return out
}

// Cancelled lists the instances that have an interrupt key.
func (s *Store) Cancelled(ctx context.Context) ([]string, error) {
	resp, err := s.get(ctx, "list interrupts", s.keys.cancels(), clientv3.WithPrefix(), clientv3.WithKeysOnly(), clientv3.WithLimit(1000))
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(resp.Kvs))
	for i, kv := range resp.Kvs {
		ids[i] = strings.TrimPrefix(string(kv.Key), s.keys.cancels())
	}
	return ids, nil
}

// Routes reads the routes of one method.
func (s *Store) Routes(ctx context.Context, method string) ([]store.RouteEntry, error) {
	resp, err := s.get(ctx, "read routes", s.keys.routes()+method+"/", clientv3.WithPrefix())
	if err != nil {
		return nil, err
	}
	out := make([]store.RouteEntry, len(resp.Kvs))
	for i, kv := range resp.Kvs {
		out[i].Modified = kv.ModRevision
		if err := Decode(kv.Value, &out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}
