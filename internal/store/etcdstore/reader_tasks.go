package etcdstore

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// Task is a bookmark at which an instance waits for an outside worker.
type Task struct {
	InstanceID string
	Bookmark   workflow.Bookmark // of a damaged instance only what the key says
	Damaged    string            // why the instance's record cannot be read; "": it can
}

// Tasks lists the tasks of one name, or of all ("") name by name, the oldest first.
// A page may be shorter than its limit and have a next one.
func (s *listReader) Tasks(ctx context.Context, name, cursor string, limit int64) ([]Task, db.PageEnd, error) {
	for {
		tasks, end, err := s.tasks(ctx, name, cursor, limit)
		if !errors.Is(err, rpctypes.ErrCompacted) { // between two reads of the page
			return tasks, end, err
		}
	}
}

func (s *listReader) tasks(ctx context.Context, name, cursor string, limit int64) ([]Task, db.PageEnd, error) {
	prefix := s.conn.Keys.Tasks(name)
	kvs, end, err := s.taskKeys(ctx, name, cursor, limit)
	if err != nil {
		return nil, db.PageEnd{}, err
	}
	var ids []string // of their instances, each once
	place := map[string]int{}
	bookmarks := make([]workflow.Bookmark, len(kvs))
	for i, kv := range kvs {
		parts := strings.Split(string(kv.Key), "/")
		id := parts[len(parts)-2]
		bookmarks[i] = workflow.Bookmark{ID: workflow.BookmarkID(id, record.Decode(parts[len(parts)-1])), ActivityType: workflow.TaskType,
			Name: record.Decode(parts[len(parts)-4]), CreatedAt: record.FromMillis(parts[len(parts)-3])}
		if _, known := place[id]; !known {
			place[id] = len(ids)
			ids = append(ids, id)
		}
	}
	found, damaged := map[string]workflow.Bookmark{}, map[string]string{}
	n, err := s.conn.Records(ctx, ids, lookup.WithPlaces, end.Revision, func(i int, r *store.Record, damage error) bool {
		if damage != nil {
			damaged[ids[i]] = damage.Error()
		}
		if r != nil {
			for _, b := range r.Header.Bookmarks {
				if b.ActivityType == workflow.TaskType && (name == "" || b.Name == name) {
					found[b.ID] = b
				}
			}
		}
		return false
	})
	if err != nil {
		return nil, db.PageEnd{}, err
	}
	var out []Task
	for i, entry := range bookmarks {
		instance, _ := workflow.SplitBookmarkID(entry.ID)
		if place[instance] >= n { // the page is full
			end.Next = strings.TrimPrefix(string(kvs[i-1].Key), prefix)
			return out, end, nil
		}
		if why := damaged[instance]; why != "" {
			out = append(out, Task{InstanceID: instance, Bookmark: entry, Damaged: why})
		} else if b, ok := found[entry.ID]; ok {
			out = append(out, Task{InstanceID: instance, Bookmark: b})
		}
	}
	return out, end, nil
}

// manyTasks is how many keys etcd may count for a page of the tasks of one name. Where it counted
// more, the pages that follow are read in windows of time.
const manyTasks = 1000

// taskKeys reads the keys of a page. Workers ask for the first page of their name again and again,
// and etcd counts all of a range for its first keys. So where many wait, a node remembers up to
// where the last first page went, reads up to there, and goes on in windows, each longer than the one
// before. A wrong memory leaves nothing out. Of all names together it reads one range.
func (s *listReader) taskKeys(ctx context.Context, name, cursor string, limit int64) (kvs []*mvccpb.KeyValue, end db.PageEnd, err error) {
	prefix := s.conn.Keys.Tasks(name)
	list, from, last := []string{prefix}, db.PageFrom(prefix, cursor), clientv3.GetPrefixRangeEnd(prefix)
	read := func(to string) (*clientv3.GetResponse, error) {
		resp, err := s.conn.Get(ctx, "list tasks", from, clientv3.WithRange(to), clientv3.WithLimit(limit-int64(len(kvs))), clientv3.WithRev(end.Revision), clientv3.WithKeysOnly())
		if err != nil {
			return nil, err
		}
		kvs, end.Revision, from = append(kvs, resp.Kvs...), cmp.Or(end.Revision, resp.Header.Revision), max(from, to)
		return resp, nil
	}
	ends := func(more, many bool) {
		var to int64
		if len(kvs) > 0 {
			at := strings.TrimPrefix(string(kvs[len(kvs)-1].Key), prefix)
			if to = madeAt(at); more {
				end.Next = at
			}
		}
		switch {
		case cursor != "" || name == "":
		case many:
			s.tasksTo.are(list, to)
		case s.tasksTo.of(list) > 0:
			s.tasksTo.are(list, 0)
		}
	}
	if at := s.tasksTo.of(list); at > 0 {
		if cursor != "" {
			at = madeAt(cursor)
		}
		for wide := int64(firstEra); at+wide < time.Now().UnixMilli(); wide *= widerEras {
			at += wide
			if _, err := read(prefix + eraPart(at) + "0"); err != nil { // 0 comes after /
				return nil, db.PageEnd{}, err
			}
			if int64(len(kvs)) == limit {
				ends(true, true)
				return kvs, end, nil
			}
		}
	}
	resp, err := read(last)
	if err != nil {
		return nil, db.PageEnd{}, err
	}
	ends(resp.More, resp.Count > manyTasks)
	return kvs, end, nil
}
