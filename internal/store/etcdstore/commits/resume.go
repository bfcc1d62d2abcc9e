package commits

import (
	"context"
	"fmt"
	"slices"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/store"
	"github.com/weft-run/weft/internal/store/etcdstore/claims"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/db"
	"github.com/weft-run/weft/internal/store/etcdstore/internal/record"
	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/workflow"
)

// A commit that resumes an instance which nobody works needs no lock: of two that were
// made from one state, one is refused (docs/decisions/0006).
//
// If: the node's session lives; the instance as loaded; nobody has the lock; this commit
// is not void. Then: as any commit; it consumes no mail.
//
// The session's lease and the instance's revision never come back. That somebody has the
// lock does: a copy of what was refused for it could come when the lock is free again.
// So a refusal is settled before anything follows from it ([Instances.settle]).

// mayBeUnlocked tells whether a commit has the lock, or needs none.
func mayBeUnlocked(c *store.Commit) bool {
	u := c.Unlocked
	if u == nil || c.Before == nil {
		return true
	}
	mail := slices.ContainsFunc(c.Consumed, func(done store.Consumed) bool { return done.Created > 0 })
	return u.Prefix != "" && u.Lock == nil && !mail && !c.Delete && c.Continue == nil
}

// Waits is how many bookmarks a commit makes wait where stimuli may be queued for them.
func Waits(c *store.Commit) int { return len(c.Created) + len(rekeyed(c)) }

// guardResume are the outer compares. Who has the lock is compared of all keys below its
// name: one that waits for it has it next.
func (s *Instances) guardResume(c *store.Commit) []clientv3.Cmp {
	u := c.Unlocked
	return []clientv3.Cmp{
		db.Leased(u.Key, u.Lease),
		db.ModifiedAt(s.conn.Keys.Instance(c.After.Header.ID), c.Before.Modified),
		db.NoneNewer(u.Prefix, 0),
		db.Absent(s.voidCommit(c)),
	}
}

// voidCommit is the record that says that a commit will not be applied.
func (s *Instances) voidCommit(c *store.Commit) string {
	return s.conn.Keys.CommandRecord(c.After.Header.ID, "~commit@"+c.ID)
}

// settle makes the refusal of a commit that resumes without the lock last, and says why
// it was refused.
//
// If: the instance as loaded. Then: the commit is void. Else: nothing. Both read what
// tells the outcome. If the commit was applied before, the instance has moved, and no
// record is put. If not, the record is there before anybody is told anything.
func (s *Instances) settle(ctx context.Context, c *store.Commit) (*store.Committed, metrics.CommitOutcome, error) {
	id := c.After.Header.ID
	var e evidence
	e.entry, e.instance, e.node = e.Value(s.conn.Keys.Journal(id, c.After.Seq)), e.Key(s.conn.Keys.Instance(id)), e.Value(c.Unlocked.Key)
	e.deleted = e.Value(s.conn.Keys.CommandRecord(id, record.DeletedRecord))
	var keys []db.Read
	for _, done := range c.Consumed {
		if k := done.Command.Key; k != nil && done.Answer != nil {
			keys = append(keys, e.Count(s.conn.Keys.KeyRecord(k.Name)))
		}
	}
	commands := make([]workflow.Command, len(c.Consumed))
	for i := range c.Consumed {
		commands[i] = c.Consumed[i].Command
	}
	lost := claims.Lost(s.conn.Conn, commands, &e.Reads)
	void := slices.Concat(e.Ops, s.conn.PutVoid(s.voidCommit(c)))
	resp, err := s.conn.Txn(ctx, "settle the commit of instance "+id, []clientv3.Cmp{db.ModifiedAt(s.conn.Keys.Instance(id), c.Before.Modified)}, void, e.Ops)
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w", db.ErrUnknown, err)
	}
	e.resp = resp
	if done, err := e.proof(c); err != nil || done != nil {
		return done, metrics.CommitResolved, err
	}
	used := slices.ContainsFunc(keys, func(r db.Read) bool { return r.Found(resp) })
	outcome, err := e.classifyResume(c, used || lost(resp))
	return nil, outcome, err
}

// classifyResume tells why, after it was found that the commit is not applied, as far as
// the journal tells.
func (e *evidence) classifyResume(c *store.Commit, keyUsed bool) (metrics.CommitOutcome, error) {
	if kv := e.node.One(e.resp); kv == nil || kv.Lease != c.Unlocked.Lease {
		return metrics.CommitFenced, store.ErrFenced
	}
	if e.moved(c) {
		// The proof goes with the instance, or with the oldest entries of its journal; and another one of this id has a
		// journal of its own. That no copy had no answer is none: a client may have sent it twice on its own.
		kv := e.instance.One(e.resp)
		if kv == nil || kv.CreateRevision > c.Before.Modified || e.entry.One(e.resp) == nil {
			from, err := record.DeletedFrom(e.deleted.One(e.resp))
			if err != nil {
				return "", err
			}
			if from != c.Before.Modified {
				return metrics.CommitFenced, store.ErrFenced
			}
		}
		return metrics.CommitConflict, store.ErrConflict
	}
	if keyUsed {
		return metrics.CommitConflict, store.ErrConflict
	}
	return metrics.CommitHeld, store.ErrHeld
}
