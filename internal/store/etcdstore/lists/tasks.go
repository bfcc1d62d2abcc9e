package lists

import (
	"cmp"
	"context"
	"errors"
	"slices"
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
	Bookmark   workflow.Bookmark   // of a damaged instance only what the key says
	Claim      *store.TaskClaim    // of the worker that has it; nil: it is free
	Past       store.TaskPast      // of a free one
	Revision   int64               // of a free one: since when it is
	Beside     []workflow.Bookmark // of a user task: where else its activity waits
	Damaged    string              // why the instance's record cannot be read; "": it can
}

// Tasks lists the tasks of one name, or of all ("") name by name, the oldest first.
// A page may be shorter than its limit and have a next one.
func (s *Lists) Tasks(ctx context.Context, name, cursor string, limit int64) ([]Task, db.PageEnd, error) {
	for {
		tasks, end, err := s.tasks(ctx, name, cursor, limit)
		if !errors.Is(err, rpctypes.ErrCompacted) { // between two reads of the page
			return tasks, end, err
		}
	}
}

func (s *Lists) tasks(ctx context.Context, name, cursor string, limit int64) ([]Task, db.PageEnd, error) {
	kvs, end, err := s.TaskKeys(ctx, name, cursor, limit)
	if err != nil {
		return nil, db.PageEnd{}, err
	}
	if kvs, end, err = s.besideTaken(ctx, name, cursor, limit, kvs, end); err != nil {
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
			end.Next = s.taskPlace(name, kvs[i-1])
			return out, end, nil
		}
		t := Task{InstanceID: instance, Bookmark: entry, Damaged: damaged[instance]}
		b, ok := found[entry.ID]
		if t.Damaged == "" {
			t.Bookmark = b
		}
		if ok || t.Damaged != "" {
			s.whoHas(&t, kvs[i])
			out = append(out, t)
		}
	}
	return out, end, nil
}

// besideTaken adds to a page of free tasks those that are taken, at the same revision, in the order of both.
func (s *Lists) besideTaken(ctx context.Context, name, cursor string, limit int64, free []*mvccpb.KeyValue, end db.PageEnd) ([]*mvccpb.KeyValue, db.PageEnd, error) {
	taken, more, err := s.conn.PageAt(ctx, "list tasks", s.conn.Keys.Taken.Tasks(name), cursor, limit, end.Revision)
	if err != nil || len(taken) == 0 {
		return free, end, err
	}
	all := slices.Concat(free, taken)
	slices.SortFunc(all, func(a, b *mvccpb.KeyValue) int { return strings.Compare(s.taskPlace(name, a), s.taskPlace(name, b)) })
	// What stands behind the last of a part that goes on may have others before it.
	n, goesOn := min(len(all), int(limit)), false
	for _, next := range []string{end.Next, more.Next} {
		if next == "" {
			continue
		}
		goesOn = true
		n = min(n, slices.IndexFunc(all, func(kv *mvccpb.KeyValue) bool { return s.taskPlace(name, kv) == next })+1)
	}
	if end.Next = ""; goesOn || n < len(all) {
		end.Next = s.taskPlace(name, all[n-1])
	}
	return all[:n], end, nil
}

// taskPlace is where a task stands in the list of those of a name, free or taken.
func (s *Lists) taskPlace(name string, kv *mvccpb.KeyValue) string {
	if place, ok := strings.CutPrefix(string(kv.Key), s.conn.Keys.Taken.Tasks(name)); ok {
		return place
	}
	return strings.TrimPrefix(string(kv.Key), s.conn.Keys.Tasks(name))
}

// mostStates is of how many tasks one look tells who has them.
const mostStates = 40

// TaskStates tells of the first 40 tasks among bookmarks who has each, or how it went before, by the ids of their
// bookmarks. One that is neither free nor taken has ended, and its instance is about to be told; it is left out.
func (s *Lists) TaskStates(ctx context.Context, bookmarks []workflow.Bookmark) (map[string]Task, error) {
	var ask db.Reads
	var tasks []*workflow.Bookmark
	for i := range bookmarks {
		if b := &bookmarks[i]; b.ActivityType == workflow.TaskType && len(tasks) < mostStates {
			tasks = append(tasks, b)
			ask.Value(s.conn.Keys.Taken.Task(b))
			ask.Value(s.conn.Keys.Task(b))
		}
	}
	if len(tasks) == 0 {
		return nil, nil
	}
	resp, err := s.conn.Read(ctx, "read who has tasks", ask.Ops...)
	if err != nil {
		return nil, err
	}
	states := map[string]Task{}
	for i, b := range tasks {
		for _, kv := range []*mvccpb.KeyValue{db.Read(2 * i).One(resp), db.Read(2*i + 1).One(resp)} {
			if kv != nil {
				t := Task{Bookmark: *b}
				s.whoHas(&t, kv)
				states[b.ID] = t
				break
			}
		}
	}
	return states, nil
}

// whoHas tells of a task who has it, as far as its entry can be read.
func (s *Lists) whoHas(t *Task, kv *mvccpb.KeyValue) {
	if !strings.HasPrefix(string(kv.Key), s.conn.Keys.Taken.Tasks("")) {
		if len(kv.Value) > 0 && db.Decode(kv.Value, &t.Past) != nil {
			t.Past = store.TaskPast{}
		}
		t.Revision = kv.CreateRevision
		return
	}
	t.Claim = &store.TaskClaim{Revision: kv.CreateRevision, Modified: kv.ModRevision}
	if err := db.Decode(kv.Value, t.Claim); err != nil {
		t.Claim.Text = "this claim cannot be read: " + err.Error()
	}
}

// manyTasks is how many keys etcd may count for a page of the tasks of one name. Where it counted
// more, the pages that follow are read in windows of time.
const manyTasks = 1000

// TaskKeys reads the keys of a page. Workers ask for the first page of their name again and again,
// and etcd counts all of a range for its first keys. So where many wait, a node remembers up to
// where the last first page went, reads up to there, and goes on in windows, each longer than the one
// before. A wrong memory leaves nothing out. Of all names together it reads one range.
func (s *Lists) TaskKeys(ctx context.Context, name, cursor string, limit int64) (kvs []*mvccpb.KeyValue, end db.PageEnd, err error) {
	prefix := s.conn.Keys.Tasks(name)
	list, from, last := []string{prefix}, db.PageFrom(prefix, cursor), clientv3.GetPrefixRangeEnd(prefix)
	read := func(to string) (*clientv3.GetResponse, error) {
		resp, err := s.conn.Get(ctx, "list tasks", from, clientv3.WithRange(to), clientv3.WithLimit(limit-int64(len(kvs))), clientv3.WithRev(end.Revision))
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

// RememberTasks takes note of the millisecond up to which the first page of a list of many tasks goes.
func (s *Lists) RememberTasks(list string, to int64) { s.tasksTo.are([]string{list}, to) }
