package record

import (
	"fmt"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/pkg/workflow"
)

// QueueItems appends the items that this program can read; others it leaves.
func (s *Conn) QueueItems(items []store.QueueItem, kvs []*mvccpb.KeyValue) []store.QueueItem {
	for _, kv := range kvs {
		item := store.QueueItem{Created: kv.CreateRevision, At: string(kv.Key)}
		if err := db.DecodeWhole(kv.Value, &item); err != nil {
			s.Left(kv.Key, err)
			continue
		}
		items = append(items, item)
	}
	return items
}

// QueueKey is where an item lies: behind its gate, or in the slice of its address
// if it has one, else of its correlation.
func (s *Conn) QueueKey(item *store.QueueItem) string {
	if item.Held != nil {
		return s.Keys.GatedQueue(item.Held.Gate) + fmt.Sprintf("%019d", max(0, item.CreatedAt.UnixNano())) + "-" + Encode(item.ID)
	}
	return s.Keys.QueueSlice(item.Hash, SliceFor(&item.Stimulus)) + Encode(item.ID)
}

// SliceFor is the slice of the queue that a stimulus waits in.
func SliceFor(st *workflow.Stimulus) string {
	if st.InstanceID != "" {
		return Addressed(st.InstanceID)
	}
	return Slice(st.CorrelationID)
}

// Slot is where in the queue a stimulus waits, if it meets nothing: as a receipt knows it.
func (s *Conn) Slot(st *workflow.Stimulus) string {
	hash, err := workflow.Hash(st.ActivityType, st.Payload)
	if err != nil {
		return "" // one that is sent has one
	}
	return hash + "/" + SliceFor(st)
}

// PutQueueItem puts an item and, as a bookmark may come that it is for, a mark of its
// slice: with every item, since it is the marks' revision that tells whether the slice
// was empty when somebody looked.
func (s *Conn) PutQueueItem(o *db.Ops, item store.QueueItem) {
	key := s.QueueKey(&item)
	o.Put(key, item)
	if item.Held == nil {
		o.PutRaw(s.Keys.Mark(SliceOf(key), item.ID), nil)
	}
}

// SliceOf is the slice of the queue that an item's key lies in.
func SliceOf(key string) string { return key[:strings.LastIndexByte(key, '/')+1] }

// Unmark deletes the marks of a slice that was empty at a revision, or would be
// without what the transaction takes: unless something was put there since. That
// compare can become true again when another has deleted the marks; then there is
// nothing to delete.
func (s *Conn) Unmark(o *db.Ops, slice string, revision int64) {
	marks, then := s.Keys.MarksOf(slice), db.NewOps()
	then.Tail = append(then.Tail, clientv3.OpDelete(marks, clientv3.WithPrefix()))
	o.Nested([]clientv3.Cmp{db.NoneWrittenAfter(marks, revision)}, then, nil)
}
