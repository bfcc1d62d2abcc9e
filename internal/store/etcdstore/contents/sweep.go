package contents

import (
	"context"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
)

// sweepPage is how many pieces one step of a sweep looks at.
const sweepPage = 100

// Sweep deletes files of which there is no instance, and to which nobody has put anything behind a revision: an upload
// whose request was not accepted, or what came too late for an instance that went. It looks at some pieces behind a
// cursor, and tells of how many instances it deleted the files; next is "" at the end.
//
// If, for each: there is no such instance; nothing is in its mailbox; no piece of it is newer than the revision. All three can
// become true again: then a late copy deletes what may be deleted then. What refers to such a file is the
// commit that makes the instance, which compares the file.
func (s *Contents) Sweep(ctx context.Context, before int64, cursor string) (gone int, next string, err error) {
	k := Keys(s.conn)
	kvs, next, err := s.conn.Page(ctx, "look for files without an instance", k.Contents(), cursor, sweepPage, clientv3.WithKeysOnly())
	if err != nil {
		return 0, "", err
	}
	var ids []string
	var ask db.Reads
	for _, kv := range kvs {
		id, _, _ := strings.Cut(strings.TrimPrefix(string(kv.Key), k.Contents()), "/")
		if len(ids) > 0 && ids[len(ids)-1] == id {
			continue
		}
		ids = append(ids, id)
		ask.Key(s.conn.Keys.Instance(id))
	}
	if len(ids) == 0 {
		return 0, "", nil
	}
	resp, err := s.conn.Read(ctx, "look for the instances of files", ask.Ops...)
	if err != nil {
		return 0, "", err
	}
	for i, id := range ids {
		if db.Read(i).One(resp) != nil {
			continue
		}
		t := s.conn.Begin("delete files without an instance", db.Absent(s.conn.Keys.Instance(id)), db.NoneNewer(s.conn.Keys.Mailbox(id), 0), db.NoneNewer(k.ContentsOf(id), before))
		Delete(s.conn, t.Ops, id)
		done, err := db.Applied(t.SubmitSmall(ctx))
		if err != nil {
			return gone, "", err
		}
		if done {
			gone++
		}
	}
	return gone, next, nil
}
