package lists

import (
	"context"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
)

// QueueItems lists queue items from cursor on; shard (the beginning of a hash)
// restricts them, "" lists all. A page may be shorter than its limit and have a next
// one.
func (s *Lists) QueueItems(ctx context.Context, shard, cursor string, limit int64) ([]store.QueueItem, db.PageEnd, error) {
	prefix := s.conn.Keys.Queues() + shard
	var items []store.QueueItem
	end, err := s.conn.Values(ctx, "list queue", prefix, cursor, limit, func(kv *mvccpb.KeyValue) error {
		item := store.QueueItem{Created: kv.CreateRevision, At: string(kv.Key)}
		var err error
		if item.Unreadable = db.DecodeWhole(kv.Value, &item); item.Unreadable != nil {
			err = db.Decode(kv.Value, &item) // what can be shown of it
		}
		if err != nil {
			at := string(kv.Key)
			item = store.QueueItem{ID: record.Decode(at[strings.LastIndexByte(at, '/')+1:]), Created: kv.CreateRevision, At: at, Unreadable: err}
		}
		items = append(items, item)
		return nil
	})
	return items, end, err
}
