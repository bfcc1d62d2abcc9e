package commits

import (
	"slices"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/internal/store/etcdstore/places"
	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/workflow"
)

// The first commit of an instance under an id that its node has just made needs
// no lock: nobody else can have the id before this commit shows it. One write
// makes the instance (docs/decisions/0004).
//
// If: the node's session lives, which is what its record is on; the instance is
// absent, and left no record of a delete; the definition's head is as planned.
// Then: what the burst did; if a stimulus is queued for a bookmark that it
// creates, also ~continue in its own mailbox, as there is no lock to keep.
//
// Where the burst goes on after it, its last operation takes the lock: if nothing is below
// the lock's name, put the lock key. That can become true again; it lies inside, so that
// it decides nothing but who goes on. The fence is the revision of the commit.
//
// The lease and the head's revision never come back, so these refusals are
// conclusive. That the instance is absent can become true again only by its
// deletion, which leaves a record for as long as those of [stimuli.Stimuli.Create].

// guardUnlocked are the outer compares.
func (s *Instances) guardUnlocked(c *store.Commit) []clientv3.Cmp {
	u, id := c.Unlocked, c.After.Header.ID
	if c.Before != nil {
		return s.guardResume(c)
	}
	cmps := []clientv3.Cmp{
		db.Leased(u.Key, u.Lease),
		db.Absent(s.conn.Keys.Instance(id)),
		db.Absent(s.conn.Keys.CommandRecord(id, record.DeletedRecord)),
	}
	if u.Head > 0 {
		cmps = append(cmps, db.ModifiedAt(s.conn.Keys.Head(u.Definition), u.Head))
	}
	return cmps
}

// MaxUnlocked is how many bookmarks a commit without a lock may create or move: beyond
// them the queue slices to compare would be too many.
const MaxUnlocked = record.MaxSlices / 3

// lookUnlocked is the operation that notices queued stimuli; false if there is
// none for this commit.
func (s *Instances) lookUnlocked(c *store.Commit, o *db.Ops) (clientv3.Op, bool) {
	h := &c.After.Header
	if c.Unlocked == nil || c.Unlocked.Lock != nil || h.Status != workflow.StatusRunning {
		return clientv3.Op{}, false
	}
	keys := s.slices(h, append(slices.Clone(c.Created), rekeyed(c)...))
	if len(keys) == 0 {
		return clientv3.Op{}, false
	}
	var cmps []clientv3.Cmp
	for _, key := range keys {
		cmps = append(cmps, db.NoneNewer(s.conn.Keys.MarksOf(key), 0))
	}
	key := s.conn.Keys.Mail(h.ID, workflow.ContinueID)
	raw, err := db.Encode(workflow.Command{ID: workflow.ContinueID, Kind: workflow.CommandContinue, CreatedAt: c.At})
	if err != nil {
		o.Fail(key, err)
	}
	o.Size += db.SizeOf(cmps) + len(key) + len(raw) + db.OpOverhead
	return clientv3.OpTxn(cmps, nil, []clientv3.Op{db.Put(key, raw)}), true
}

// takeLock is the operation that takes the lock for a burst that goes on. There is no mail
// yet, as nobody puts mail for an instance that is not there.
func (s *Instances) takeLock(k *store.LockKey, o *db.Ops) clientv3.Op {
	cmps := []clientv3.Cmp{db.NoneNewer(k.Prefix, 0)}
	o.Size += db.SizeOf(cmps) + len(k.Key) + len(k.Value) + db.OpOverhead
	return clientv3.OpTxn(cmps, []clientv3.Op{clientv3.OpPut(k.Key, k.Value, clientv3.WithLease(clientv3.LeaseID(k.Lease)))}, nil)
}

// lockTaken notes what became of that: the burst goes on under the lock, or the lock is
// another's, who finds ~continue in the mailbox.
func lockTaken(done *store.Committed, c *store.Commit, taken bool) {
	done.Released, done.Waits = !taken, !taken
	if taken {
		done.Locked = done.Modified
		done.Kept = &store.Kept{Revision: knownAfter(c, done.Modified)}
		if c.Continue == nil { // it takes a place
			done.Kept.Unread = places.WaitsElse(c)
			return
		}
		done.Kept.Mail = []store.Mail{{Command: *c.Continue, Created: done.Modified}}
	}
}

// classifyUnlocked tells why, after it was found that the commit is not applied.
func (e *evidence) classifyUnlocked(u *store.Unlocked) (metrics.CommitOutcome, error) {
	if kv := e.node.One(e.resp); kv == nil || kv.Lease != u.Lease {
		return metrics.CommitFenced, store.ErrFenced
	}
	if e.deleted.One(e.resp) != nil {
		// What was deleted only an earlier copy of this commit can have made, and the
		// journal that would prove it went with it. As a conflict it would be run again.
		return metrics.CommitFenced, store.ErrFenced
	}
	if kv := e.head.One(e.resp); u.Head > 0 && (kv == nil || kv.ModRevision != u.Head) {
		return metrics.CommitConflict, store.ErrStale
	}
	return metrics.CommitConflict, store.ErrConflict
}
