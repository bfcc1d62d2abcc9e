package fsck

import (
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/workflow"
)

// people: each user task that waits is in the lists of who may complete it, and nothing else is.
func (c fsckClaims) people() {
	f, left := c.f, c.left
	stands := map[string]bool{}
	for _, id := range f.ids {
		r := f.records[id]
		for i := range r.Header.Bookmarks {
			b := &r.Header.Bookmarks[i]
			if b.ActivityType != workflow.TaskType {
				continue
			}
			for _, key := range f.s.conn.Keys.People.Entries(b) {
				name := f.below(key)
				if stands[name] = true; !f.has(key) && !left[name] {
					f.repair(f.report("user-task-missing", key, "not all who may complete user task %s find it", b.ID), "puts it", f.s.conn.Keys.Instance(id), key).PutRaw(key, nil)
				}
			}
		}
	}
	f.under("user-task/", func(name string, _ *mvccpb.KeyValue, parts []string) {
		if id := parts[max(0, len(parts)-2)]; !stands[name] && !left[name] && !f.lostWith(id) {
			f.drop(f.report("user-task-outdated", name, "no instance waits for it"), name, f.s.conn.Keys.Instance(id))
		}
	})
}

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
