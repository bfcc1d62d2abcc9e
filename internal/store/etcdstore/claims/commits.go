package claims

import (
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// Completes deletes the entries of the lease and the limit of a task that is completed by its claim, as far as they lie
// where the claim put them, and gives the compare that the claim stands. Of a command that is durable it stood when that was put.
func Completes(s *record.Conn, o *db.Ops, done *store.Consumed) []clientv3.Cmp {
	claim, task := done.Command.Claim, done.Command.Bookmark
	o.Del(s.Keys.Taken.Lease(task, claim.Until))
	if !claim.DoneBy.IsZero() {
		o.Del(s.Keys.Taken.Limit(task, store.LimitDone, claim.DoneBy))
	}
	if done.Created > 0 {
		return nil
	}
	return []clientv3.Cmp{s.ClaimStands(task, claim)}
}

// Lost reads the claims by which commands complete tasks, and tells whether one of them has ended.
func Lost(s *record.Conn, commands []workflow.Command, reads *db.Reads) func(*pb.TxnResponse) bool {
	type claimed struct {
		read     db.Read
		revision int64
	}
	var all []claimed
	for i := range commands {
		if cmd := &commands[i]; cmd.Claim != nil {
			all = append(all, claimed{reads.Key(s.Keys.Taken.Task(record.Claimed(cmd.Bookmark, cmd.Claim))), cmd.Claim.Revision})
		}
	}
	return func(resp *pb.TxnResponse) bool {
		return slices.ContainsFunc(all, func(c claimed) bool {
			kv := c.read.One(resp)
			return kv == nil || kv.CreateRevision != c.revision
		})
	}
}
