package upkeep

import (
	"context"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/lookup"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/task"
)

// listPage is how many user tasks are looked at together.
const listPage = 500

// ListForPeople puts the user tasks that a program of before made into the lists of who may complete them, and tells how
// many of them instances have where the lists had fewer. Where all are listed it counts three ranges, and reads nothing.
//
// If, of each instance: its mod revision as read. Then: put the entries of its user tasks. A commit that burns one deletes
// them, so whichever comes first, none is left of what waits no more.
func ListForPeople(ctx context.Context, s *Upkeep) (listed int, err error) {
	k := s.conn.Keys
	free, taken := k.Tasks(task.UserName), k.Taken.Tasks(task.UserName)
	var ask db.Reads
	for _, list := range []string{k.People.All(), free, taken} {
		ask.Add(clientv3.OpGet(list, clientv3.WithPrefix(), clientv3.WithCountOnly()))
	}
	resp, err := s.conn.Read(ctx, "count user tasks", ask.Ops...)
	if err != nil {
		return 0, err
	}
	count := func(i int) int64 { return resp.Responses[i].GetResponseRange().Count }
	if count(0) >= count(1)+count(2) {
		return 0, nil
	}
	for _, list := range []string{free, taken} {
		for cursor := ""; ; {
			kvs, end, err := s.conn.PageAt(ctx, "list user tasks", list, cursor, listPage, 0, clientv3.WithKeysOnly())
			if err != nil {
				return listed, err
			}
			var ids []string
			for _, kv := range kvs {
				parts := strings.Split(string(kv.Key), "/")
				ids = append(ids, parts[max(0, len(parts)-2)])
			}
			n, err := listInstances(ctx, s, ids)
			if listed += n; err != nil {
				return listed, err
			}
			if cursor = end.Next; cursor == "" {
				break
			}
		}
	}
	return listed, nil
}

func listInstances(ctx context.Context, s *Upkeep, ids []string) (listed int, err error) {
	for len(ids) > 0 {
		var records []*store.Record
		n, err := s.conn.Records(ctx, ids, lookup.WithPlaces, 0, func(_ int, r *store.Record, _ error) bool {
			if r != nil && r.Unwritten == nil { // else its pages put them
				records = append(records, r)
			}
			return false
		})
		if err != nil {
			return listed, err
		}
		ids = ids[n:]
		for _, r := range records {
			n, err := listInstance(ctx, s, r)
			if listed += n; err != nil {
				return listed, err
			}
		}
	}
	return listed, nil
}

// listInstance puts the entries of one instance, as many as a page of its index has at a time.
func listInstance(ctx context.Context, s *Upkeep, r *store.Record) (listed int, err error) {
	var t *db.Txn
	send := func() error {
		if t == nil {
			return nil
		}
		_, err := db.Applied(t.Submit(ctx)) // one that moved has a commit of before, and is found again
		t = nil
		return err
	}
	for i := range r.Header.Bookmarks {
		b := &r.Header.Bookmarks[i]
		if b.ActivityType != workflow.TaskType || b.Name != task.UserName {
			continue
		}
		if t == nil {
			t = s.conn.Begin("list user tasks of "+r.Header.ID, db.ModifiedAt(s.conn.Keys.Instance(r.Header.ID), r.Modified))
			t.Ops = db.NewContent()
		}
		for _, key := range s.conn.Keys.People.Entries(b) {
			t.PutRaw(key, nil)
		}
		if listed++; len(t.Writes) >= s.conn.Width.PageOps {
			if err := send(); err != nil {
				return listed, err
			}
		}
	}
	return listed, send()
}
