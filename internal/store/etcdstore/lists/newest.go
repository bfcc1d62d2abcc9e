package lists

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// Keys of the queue begin with the hash of what is sent, and those of dead letters with ids that are
// often made of a caller's key: neither is an order of time. Who asks what nearly met an instance means
// what came lately. So where there is more than is looked at, the keys tell which those are.

// MostNewestKeys is among how many keys the newest are looked for: a bound of what etcd reads for it.
const MostNewestKeys = 5000

// NewestDeadLetters reads the dead letters that were put last: limit of them at most, as long as a page
// holds them. Of more than 5,000 it looks at these only.
func (s *Lists) NewestDeadLetters(ctx context.Context, limit int64) ([]store.DeadLetter, error) {
	all, end, err := s.DeadLetters(ctx, "", limit)
	if err != nil || end.Next == "" {
		return all, err
	}
	var out []store.DeadLetter
	err = s.newest(ctx, "list dead letters", s.conn.Keys.Deads(), limit, func(kv *mvccpb.KeyValue) {
		if d, err := record.DecodeDead(kv, db.Decode); err == nil {
			out = append(out, d)
		}
	})
	return out, err
}

// NewestQueueItems is Reader.NewestDeadLetters for the queue, without what waits behind gates.
func (s *Lists) NewestQueueItems(ctx context.Context, limit int64) ([]store.QueueItem, error) {
	all, end, err := s.QueueItems(ctx, "", "", limit)
	if err != nil || end.Next == "" {
		return all, err
	}
	var out []store.QueueItem
	err = s.newest(ctx, "list queue", s.conn.Keys.Queues(), limit, func(kv *mvccpb.KeyValue) {
		item := store.QueueItem{Created: kv.CreateRevision, At: string(kv.Key)}
		if db.DecodeWhole(kv.Value, &item) == nil {
			out = append(out, item)
		}
	})
	return out, err
}

// newest reads the values of a range that were put last, and gives each to do.
func (s *Lists) newest(ctx context.Context, what, prefix string, limit int64, do func(*mvccpb.KeyValue)) error {
	// In one page: etcd counts the rest of the range for each.
	kvs, end, err := s.conn.PageAt(ctx, what, prefix, "", MostNewestKeys, 0, clientv3.WithKeysOnly())
	if err != nil {
		return err
	}
	revision := end.Revision
	keys := slices.DeleteFunc(kvs, func(kv *mvccpb.KeyValue) bool { return strings.HasPrefix(string(kv.Key), s.conn.Keys.GatedQueues()) })
	slices.SortFunc(keys, func(a, b *mvccpb.KeyValue) int { return cmp.Compare(b.CreateRevision, a.CreateRevision) })
	var b db.Budget
	for keys = keys[:min(int64(len(keys)), limit)]; len(keys) > 0; {
		chunk := keys[:min(len(keys), b.Chunk())]
		keys = keys[len(chunk):]
		var ask db.Reads
		for _, kv := range chunk {
			ask.Add(clientv3.OpGet(string(kv.Key), clientv3.WithRev(revision)))
		}
		resp, err := s.conn.Read(ctx, what, ask.Ops...)
		if err != nil {
			return err
		}
		for i := range chunk {
			kv := db.Read(i).One(resp)
			if kv == nil {
				continue
			}
			if !b.Takes(kv.Value) {
				return nil
			}
			do(kv)
		}
	}
	return nil
}

// Whereabouts tells where stimuli are that met nothing when they were sent. One that is neither in the queue
// nor a dead letter was taken since, or deleted.
func (s *Lists) Whereabouts(ctx context.Context, sent []store.SentStimulus) ([]store.Whereabouts, error) {
	out := make([]store.Whereabouts, len(sent))
	for from := 0; from < len(sent); from += db.MaxLevel / 2 {
		chunk := sent[from:min(len(sent), from+db.MaxLevel/2)]
		var ask db.Reads
		for i := range chunk {
			hash, err := workflow.Hash(chunk[i].Stimulus.ActivityType, chunk[i].Stimulus.Payload)
			if err != nil {
				return nil, err
			}
			ask.Add(clientv3.OpGet(s.conn.Keys.QueueSlice(hash, record.SliceFor(&chunk[i].Stimulus))+record.Encode(chunk[i].ID), clientv3.WithKeysOnly()))
			ask.Add(clientv3.OpGet(s.conn.Keys.Dead(chunk[i].ID+"@"), clientv3.WithPrefix(), clientv3.WithLimit(1), clientv3.WithKeysOnly()))
		}
		resp, err := s.conn.Read(ctx, "look for what was sent", ask.Ops...)
		if err != nil {
			return nil, err
		}
		for i := range chunk {
			out[from+i].Queued = db.Read(2*i).One(resp) != nil
			if kv := db.Read(2*i + 1).One(resp); kv != nil {
				out[from+i].Letter = record.Decode(strings.TrimPrefix(string(kv.Key), s.conn.Keys.Deads()))
			}
		}
	}
	return out, nil
}

// Gates reads who holds activation gates, at a revision; "" where nobody does.
func (s *Lists) Gates(ctx context.Context, gates []store.Gate, revision int64) ([]string, error) {
	out := make([]string, 0, len(gates))
	for chunk := range slices.Chunk(gates, db.MaxLevel) {
		var ask db.Reads
		for _, g := range chunk {
			ask.Add(clientv3.OpGet(s.conn.Keys.GateOf(g), clientv3.WithRev(revision)))
		}
		resp, err := s.conn.Read(ctx, "look at gates", ask.Ops...)
		if err != nil {
			return nil, err
		}
		for i := range chunk {
			holder := ""
			if kv := db.Read(i).One(resp); kv != nil {
				holder = string(kv.Value)
			}
			out = append(out, holder)
		}
	}
	return out, nil
}
