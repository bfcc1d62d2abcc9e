package fsck

import (
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
)

// fsckClaims: what a worker has waits, and its lease is found when it is over. A lease without its claim is no fault: who
// completes a task leaves it where a heartbeat moved it, and its end takes it away.
type fsckClaims struct {
	f            *fsck
	stands, left map[string]bool // tasks that wait, and those whose keys are being written, by key below the root
}

func (c fsckClaims) check() {
	f := c.f
	const many = 500
	ends := map[string]bool{} // the ids of claims whose leases end
	f.values("task-lease/", many, func(name string, kv *mvccpb.KeyValue, _ []string) {
		var l store.TaskLease
		if f.decode(name, kv, &l) == nil {
			ends[l.Claim] = true
		}
	})
	f.values("task-taken/", many, func(name string, kv *mvccpb.KeyValue, parts []string) {
		id := parts[max(0, len(parts)-2)]
		if !c.stands[name] {
			if !c.left[name] && !f.lostWith(id) {
				f.drop(f.report("claim-outdated", name, "no instance waits for the task"), name, f.s.conn.Keys.Instance(id))
			}
			return
		}
		var is store.TaskClaim
		if f.decode(name, kv, &is) != nil || f.foreign[name] || ends[is.ID] {
			return
		}
		b, _ := record.TaskOf(strings.TrimPrefix(name, "task-taken/"))
		key := f.s.conn.Keys.Taken.Lease(b.ID, is.Until)
		f.repair(f.report("claim-without-end", name, "worker %q has task %s, and nothing ends its lease", is.Worker, b.ID), "puts it", string(kv.Key), key).
			Put(key, store.TaskLease{Task: b.ID, Name: b.Name, Created: b.CreatedAt, Claim: is.ID})
	})
}
