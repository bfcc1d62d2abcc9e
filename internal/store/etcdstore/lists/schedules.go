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

// Schedules lists the occurrences to come, one for each schedule, the soonest first: at a revision, of which etcd may know nothing any more
// ([db.ErrCompacted]), or at the present one (0).
func (s *Lists) Schedules(ctx context.Context, cursor string, limit, revision int64) ([]store.CronEntry, db.PageEnd, error) {
	kvs, end, err := s.soonest(ctx, "list schedules", s.conn.Keys.Crons, cursor, limit, revision)
	if err != nil {
		return nil, db.PageEnd{}, err
	}
	out := make([]store.CronEntry, len(kvs))
	for i, kv := range kvs {
		out[i] = *record.CronAt(kv)
		if err := db.Decode(kv.Value, &out[i]); err != nil {
			parts := strings.Split(out[i].Key, "/")
			out[i] = *record.CronAt(kv)
			out[i].Damaged, out[i].Due = err.Error(), record.FromMillis(parts[len(parts)-3])
			out[i].DefinitionID, out[i].ActivityID = parts[len(parts)-2], record.Decode(parts[len(parts)-1])
		}
	}
	return out, end, nil
}

// Timers lists timers to come, the soonest first.
func (s *Lists) Timers(ctx context.Context, cursor string, limit int64) ([]record.Due, db.PageEnd, error) {
	kvs, end, err := s.soonest(ctx, "list timers", s.conn.Keys.Timers, cursor, limit, 0)
	if err != nil {
		return nil, db.PageEnd{}, err
	}
	var out []record.Due
	for _, kv := range kvs {
		d := record.Due{Key: string(kv.Key), Created: kv.CreateRevision}
		if err := db.Decode(kv.Value, &d.Entry); err != nil {
			parts := strings.Split(d.Key, "/")
			bookmark := record.Decode(parts[len(parts)-1])
			instance, _ := workflow.SplitBookmarkID(bookmark)
			d.Entry = record.TimerEntry{Instance: instance, Bookmark: bookmark, Due: record.FromMillis(parts[len(parts)-2])}
			d.Damaged = err.Error()
		}
		d.At = d.Entry.Due
		out = append(out, d)
	}
	return out, end, nil
}

// soonest reads a page of what is due, of all shards, in the order of its time and then of its
// name, at a revision (0: the present one). It reads the beginning of each shard behind the
// cursor, and gives what surely stands before all that it has not read: a page may be shorter
// than its limit, and is not empty before the end.
func (s *Lists) soonest(ctx context.Context, what string, shard func(int) string, cursor string, limit, revision int64) ([]*mvccpb.KeyValue, db.PageEnd, error) {
	ask := db.Reads{Ops: make([]clientv3.Op, record.TimerShards)}
	for i := range ask.Ops {
		ask.Ops[i] = clientv3.OpGet(db.PageFrom(shard(i), cursor), clientv3.WithRange(clientv3.GetPrefixRangeEnd(shard(i))), clientv3.WithLimit(max(4, limit/4)), clientv3.WithRev(revision))
	}
	resp, err := s.conn.Read(ctx, what, ask.Ops...)
	if err != nil {
		return nil, db.PageEnd{}, err
	}
	end := db.PageEnd{Revision: cmp.Or(revision, resp.Header.Revision)}
	place := map[*mvccpb.KeyValue]string{} // behind its shard
	var all []*mvccpb.KeyValue
	sure := "" // what stands behind it may have others before it; "": nothing has
	for i := range ask.Ops {
		r := db.Read(i).In(resp)
		for _, kv := range r.Kvs {
			place[kv] = strings.TrimPrefix(string(kv.Key), shard(i))
		}
		if all = append(all, r.Kvs...); r.More && len(r.Kvs) > 0 {
			if last := place[r.Kvs[len(r.Kvs)-1]]; sure == "" || last < sure {
				sure = last
			}
		}
	}
	slices.SortFunc(all, func(a, b *mvccpb.KeyValue) int { return strings.Compare(place[a], place[b]) })
	n := len(all)
	if sure != "" {
		n = slices.IndexFunc(all, func(kv *mvccpb.KeyValue) bool { return place[kv] == sure }) + 1
	}
	if n = min(n, int(limit)); n < len(all) || sure != "" {
		end.Next = place[all[n-1]]
	}
	return all[:n], end, nil
}
